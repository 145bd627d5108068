// What is known about a stream when it begins and holds for all its pictures. A pipeline and its backend are
// opened with it. What may differ between pictures is in core::PictureParams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/picture_params.h"
#include "cu264/encoder.h"
#include "cu264/frame.h"
#include "encoder/adaptive_quantisation/qp_offsets.h"
#include "encoder/packet_memory.h"
#include "entropy/cavlc/entropy_kernel.h"
#include "protect/encode_cipher.h"
#include "protect/mark_planner.h"

namespace cu264::encoder {

// What a decoder needs to know, apart from colours and times.
struct StreamFormat {
  int width = 0;  // of the input frames
  int height = 0;
  int coded_width = 0;  // of the decoded picture: width and height rounded up to even
  int coded_height = 0;
  int mb_width = 0;
  int mb_height = 0;
  int slices = 1;
  bool cabac = false;  // the slices are coded with CABAC instead of CAVLC
  bool transform_8x8_mode = false;
  bool inter = false;  // there are P pictures
  ScalingLists scaling_lists;

  bool operator==(const StreamFormat&) const = default;
};

// How modes and levels are chosen.
struct Decisions {
  Preset preset = Preset::balanced;
  std::optional<AqParams> aq;  // not set: every macroblock has the picture's QP; raised_rows need it set
  std::optional<canny::Params> edge_detector;  // of AqMode::edges
  bool scene_cuts = false;  // are looked for: Config::scene_cuts, where there are P pictures

  bool operator==(const Decisions&) const = default;
};

// How frames are read.
struct InputParams {
  std::optional<PixelFormat> format;  // not set: any that is not RGB
  int matrix_coefficients = 2;        // for the conversion of RGB
  bool full_range = false;

  bool operator==(const InputParams&) const = default;
};

// What comes with a packet.
struct Outputs {
  bool reconstruction = false;
  bool edge_maps = false;      // of Decisions::edge_detector
  bool device_output = false;  // its bytes stay on the device

  bool operator==(const Outputs&) const = default;
};

// How the work is done. No byte depends on it.
struct Execution {
  int threads = 0;                                  // of the cpu backend, as Config::threads
  int batch = 0;                                    // of the cuda backend, as Config::batch
  int gop = 1;                                      // as Config::gop: how many GOPs lie in a batch
  EntropyCoder entropy = EntropyCoder::production;  // of the cuda backend, as `packing`
  Packing packing = Packing::production;
  const entropy::EntropyKernel* entropy_kernel = nullptr;  // instead of what `entropy` names
  // PictureParams::stream is below this. A cipher has one keystream for each picture index, so it serves one
  // stream.
  int streams = 1;
  bool sleeps = false;  // whether a thread that waits for a single picture sleeps, which takes longer to wake

  bool operator==(const Execution&) const = default;
};

struct Protection {
  std::shared_ptr<const protect::MarkPlanner> marks;    // null: no watermark
  std::shared_ptr<const protect::EncodeCipher> cipher;  // null: nothing is encrypted

  explicit operator bool() const { return marks || cipher; }
};

// What rate control requires of those that hold pictures and packets.
struct Pacing {
  bool controls_rate = false;  // QPs are decided by the pipeline
  bool codes_again = false;    // it may have pictures coded again, because they have a limit or a buffer
  int lookahead = 0;           // pictures that it holds while they wait for others of their stream
  // Bytes to which filler data usually bring an access unit; 0: there are none.
  std::size_t packet_capacity = 0;
  // Bytes that backends may leave free in front of the slices (CodedAccessUnit::front); 0: none.
  std::size_t headroom = 0;
};

struct StreamParams {
  StreamFormat format;
  Decisions decisions;
  InputParams input;
  Outputs outputs;
  Execution execution;
  Protection protection;
  Pacing pacing;
  // Backends take the memory of the slices from it.
  std::shared_ptr<PacketMemory> packet_memory = std::make_shared<PacketMemory>();
};

// The parameters for a Config that validate() has accepted.
StreamParams stream_params(const Config& config);

// The parameters of picture `index` in a session of one stream.
core::PictureParams picture_params(const Config& config, std::uint64_t index);

// Streams whose kinds are equal can be coded by one backend, in the same batches. Those that are protected
// have a backend each, because it holds one key.
struct BatchKind {
  StreamFormat format;
  Decisions decisions;
  InputParams conversion;  // of RGB; default-constructed for other formats
  Outputs outputs;
  EntropyCoder entropy = EntropyCoder::production;
  Packing packing = Packing::production;
  bool controls_rate = false;
  bool codes_again = false;

  bool operator==(const BatchKind&) const = default;
};
BatchKind batch_kind(const StreamParams& params);

// Backends call these when they open and for each picture. Both throw Error(invalid_argument).
void check_streams(const StreamParams& params);
void check_picture(const core::PictureParams& picture, const StreamParams& params);

// PictureStats::mean_qp.
double mean_qp(const core::PictureParams& picture, int mb_height);

}  // namespace cu264::encoder
