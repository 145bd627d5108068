// The interface between the session and a backend.
// A backend takes pictures through the five stages (ingest, adaptive quantisation, reconstruct, code, pack)
// and returns access units in the order of the pictures. The session knows neither threads nor blocks; the
// stages know neither time nor containers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/picture_params.h"
#include "cu264/encoder.h"
#include "cu264/frame.h"
#include "cu264/packet.h"
#include "encoder/adaptive_quantisation/qp_offsets.h"
#include "encoder/frame_holder.h"
#include "encoder/notifier.h"
#include "encoder/packet_memory.h"
#include "encoder/written.h"
#include "entropy/cavlc/entropy_kernel.h"
#include "protect/encode_cipher.h"
#include "protect/mark_planner.h"

namespace cu264::encoder {

// The parameters that all pictures of a backend share, fixed when it opens. Those that may differ between
// pictures are in core::PictureParams.
struct StageParams {
  int width = 0;  // of the input frames
  int height = 0;
  int coded_width = 0;  // of the decoded picture: width and height rounded up to even
  int coded_height = 0;
  int mb_width = 0;
  int mb_height = 0;
  Preset preset = Preset::balanced;
  bool transform_8x8_mode = false;
  ScalingLists scaling_lists;
  std::optional<AqParams> aq;  // not set: every macroblock has the picture's QP; raised_rows need it set
  std::optional<canny::Params> edge_detector;  // of AqMode::edges
  bool edge_maps = false;                      // its maps are handed out
  int slices = 1;
  bool cabac = false;  // the slices are coded with CABAC instead of CAVLC
  bool reconstruction = false;
  int threads = 0;
  int batch = 0;  // as Config::batch
  bool device_output = false;
  EntropyCoder entropy = EntropyCoder::production;  // of the cuda backend, as `packing`
  Packing packing = Packing::production;
  const entropy::EntropyKernel* entropy_kernel = nullptr;  // instead of what `entropy` names
  std::optional<PixelFormat> input_format;
  int matrix_coefficients = 2;  // for the conversion of RGB
  bool full_range = false;
  std::shared_ptr<const protect::MarkPlanner> marks;    // null: no watermark
  std::shared_ptr<const protect::EncodeCipher> cipher;  // null: nothing is encrypted
  // PictureParams::stream is below this. A cipher has one keystream for each picture index, so it serves one
  // stream.
  int streams = 1;
  bool controls_rate = false;  // pictures come to a ControlledBackend
  bool codes_again = false;    // it may have them coded again, because they have a limit or a buffer
  int lookahead = 0;           // pictures that it holds while they wait for others of their stream
  // Bytes to which filler data usually bring an access unit; 0: there are none.
  std::size_t packet_room = 0;
  // Bytes that backends may leave free in front of the slices (CodedAccessUnit::front); 0: none.
  std::size_t front_room = 0;
  // Backends take the memory of the slices from it.
  std::shared_ptr<PacketMemory> packet_memory = std::make_shared<PacketMemory>();
  bool sleeps = false;  // whether a thread that waits for a single picture sleeps, which takes longer to wake
};

// The parameters for a Config that validate() has accepted.
StageParams stage_params(const Config& config);

// The parameters of picture `index` in a session of one stream.
core::PictureParams picture_params(const Config& config, std::uint64_t index);

// Backends call these when they open and for each picture. Both throw Error(invalid_argument).
void check_streams(const StageParams& params);
void check_picture(const core::PictureParams& picture, const StageParams& params);

// PictureStats::mean_qp.
double mean_qp(const core::PictureParams& picture, int mb_height);

// Backends leave so much room behind the slices, and that for filler data (StageParams::packet_room), so that
// what is added to them takes no new memory.
inline constexpr std::size_t kRoomForMessages = 256;

// The result of the stage `pack` for one picture.
struct CodedAccessUnit {
  std::vector<std::uint8_t> slices;  // NAL units of type 5 in Annex B form
  std::size_t front = 0;             // bytes at their beginning that are free for what precedes them
  DeviceBytes device_slices;         // instead of `slices`, with StageParams::device_output
  std::vector<std::uint8_t> reconstruction;
  std::vector<std::uint8_t> edges;  // with StageParams::edge_maps
  PictureStats stats;
  std::vector<std::uint8_t> hrd_messages;  // an SEI NAL unit that comes before all others, or nothing
  bool dropped = false;                    // there are no slices: the picture is left out
};

class ControlledBackend;

class Backend {
 public:
  virtual ~Backend() = default;

  // The number of pictures that may be submitted before the oldest must be collected.
  virtual int capacity() const = 0;
  // Copies or converts what it needs of a frame in host memory before it returns. The caller has checked the
  // frame against the parameters. Pictures of a stream are submitted in the order of their index; one with
  // the index 0 begins the stream anew. `written` is for frames in device memory, which are read behind
  // it; null: behind the work that Frame::stream has now. The caller is then the thread that sends the frame.
  virtual void submit(const Frame& frame, const core::PictureParams& picture, Written written = nullptr) = 0;
  // No further picture will come soon: the backend starts a batch that is not full. Further pictures may be
  // submitted when all have been collected.
  virtual void flush() = 0;
  // True if collect() would not wait.
  virtual bool ready() const = 0;
  // True if ready() will become true without another call. Starts what was flushed and could not start yet.
  virtual bool working() = 0;
  // Makes the backend signal `notifier` whenever ready() may have become true.
  virtual void notify(std::shared_ptr<Notifier> notifier) = 0;
  // Waits for the oldest picture that was submitted and not yet collected, and returns it. Rethrows an error
  // that occurred in it.
  virtual CodedAccessUnit collect() = 0;
  // Changes what the backend was opened with. All pictures have been collected. Returns false, and has
  // changed nothing, if that takes more memory than the backend has, or if another one is as good.
  virtual bool restart(const StageParams& params, int batch) = 0;
};

std::unique_ptr<Backend> open_cpu_backend(const StageParams& params);

// The backend that Config asks for, and the reason for the choice. A build without CUDA has only the CPU
// backend.
struct OpenedBackend {
  std::unique_ptr<Backend> backend;
  std::string name;
  std::string reason;
  int batch = 1;
  ControlledBackend* controlled = nullptr;  // `backend`, if StageParams::controls_rate
};
OpenedBackend open_backend(const Config& config, const StageParams& params);

// Makes a backend, all of whose pictures have been collected, ready for pictures of another size or another
// preset. It keeps its memory where that suffices. If this throws, there may be no backend any more.
void restart_backend(const Config& config, const StageParams& params, OpenedBackend& opened);

// Backends for a StreamGroup (lane.h): which kind of them, and one of them with what belongs to it.
inline constexpr int kNoDevice = -1;  // the cpu backend's
struct LaneChoice {
  std::string name;
  std::string reason;
  std::vector<int> devices;  // of the cuda backend
};
LaneChoice choose_lanes(BackendChoice backend, const std::vector<int>& devices);

struct LaneBackend {
  std::unique_ptr<Backend> backend;
  std::unique_ptr<FrameHolder> holder;
  int device = kNoDevice;
  int batch = 1;                            // pictures with the backend at once
  bool batches = false;                     // whether they begin together
  std::size_t streams = 1;                  // the most streams
  ControlledBackend* controlled = nullptr;  // as in OpenedBackend
};
// `shared`: for many streams. A device's best batch is divided by `side_by_side`.
LaneBackend open_lane(const LaneChoice& choice, StageParams params, int device, bool shared,
                      int side_by_side);

}  // namespace cu264::encoder
