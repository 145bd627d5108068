// The seam between the session and a backend.
//
// A backend takes pictures through the five stages (ingest, adaptive quantisation, reconstruct, code, pack)
// and gives access units back in the order they came. The session knows neither threads nor blocks; the
// stages know neither time nor containers.
#pragma once

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
#include "entropy/cavlc/entropy_kernel.h"
#include "protect/encode_cipher.h"
#include "protect/mark_planner.h"

namespace cu264::encoder {

// What is the same for all pictures of a backend, fixed when it opens. What may differ between them is in
// core::PictureParams.
struct StageParams {
  int width = 0;  // of the input frames
  int height = 0;
  int coded_width = 0;  // of the decoded picture: width and height rounded up to even
  int coded_height = 0;
  int mb_width = 0;
  int mb_height = 0;
  Preset preset = Preset::balanced;
  std::optional<AqParams> aq;  // nothing: every macroblock has the same QP
  int slices = 1;
  bool reconstruction = false;
  int threads = 0;
  int batch = 0;  // as Config::batch
  bool device_output = false;
  const entropy::EntropyKernel* entropy_kernel = nullptr;  // null: the production kernel
  std::optional<PixelFormat> input_format;
  int matrix_coefficients = 2;  // that RGB is converted by
  bool full_range = false;
  std::shared_ptr<const protect::MarkPlanner> marks;    // null: no watermark
  std::shared_ptr<const protect::EncodeCipher> cipher;  // null: nothing is encrypted
  // PictureParams::stream is below this. A cipher has one keystream for an index, so it serves one stream.
  int streams = 1;
};

// Of a Config that validate() let pass.
StageParams stage_params(const Config& config);

// Of the picture that a session of one stream sends as its `index`-th.
core::PictureParams picture_params(const Config& config, std::uint64_t index);

// Throw Error(invalid_argument): for backends to call when they open and when a picture comes.
void check_streams(const StageParams& params);
void check_picture(const core::PictureParams& picture, const StageParams& params);

// What comes out of `pack` for one picture.
struct CodedAccessUnit {
  std::vector<std::uint8_t> slices;  // NAL units of type 5 in Annex B form
  DeviceBytes device_slices;         // these instead, with StageParams::device_output
  std::vector<std::uint8_t> reconstruction;
  PictureStats stats;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Pictures that may be submitted before the oldest must be collected.
  virtual int capacity() const = 0;
  // Copies or converts what it needs of a frame in host memory before it returns. The caller checked the
  // frame against params. Pictures of a stream come in the order of their index.
  virtual void submit(const Frame& frame, const core::PictureParams& picture) = 0;
  // No further picture will come soon: start what is waiting for company.
  virtual void flush() = 0;
  // True if collect() would not wait.
  virtual bool ready() const = 0;
  // The oldest picture submitted and not yet collected; waits for it. Rethrows what went wrong in it.
  virtual CodedAccessUnit collect() = 0;
};

std::unique_ptr<Backend> open_cpu_backend(const StageParams& params);

// A backend as Config asks for, and why it is this one. In a build without CUDA only the CPU's can be had.
struct OpenedBackend {
  std::unique_ptr<Backend> backend;
  std::string name;
  std::string reason;
  int batch = 1;
};
OpenedBackend open_backend(const Config& config, const StageParams& params);

}  // namespace cu264::encoder
