// canny::Detector: checks its arguments and opens a backend.
#include "cu264/canny.h"

#include <cstdlib>
#include <new>
#include <utility>

#include "vision/detector_backend.h"
#include "vision/gaussian.h"
#include "vision/gradient.h"

namespace cu264::canny {
namespace {

struct OpenedBackend {
  std::unique_ptr<DetectorBackend> backend;
  std::string name;
  std::string reason;
};

#if defined(CU264_WITH_CUDA)
constexpr vision::DetectorBackends kBackends{vision::open_cpu_detector, vision::open_cuda_detector};
#else
constexpr vision::DetectorBackends kBackends{vision::open_cpu_detector, nullptr};
#endif

OpenedBackend open_backend(const vision::DetectorBackends& backends, const vision::CannyParams& params,
                           int width, int height, const ExecutionOptions& execution) {
  std::string reason = "as asked";
  if (execution.backend != BackendChoice::cpu && backends.open_cuda == nullptr) {
    reason = "this build has no CUDA backend";
    if (execution.backend == BackendChoice::cuda) {
      throw Error(ErrorCode::device_unavailable, reason,
                  "use the cpu backend, or build with -DCU264_CUDA=ON");
    }
  } else if (execution.backend != BackendChoice::cpu) {
    try {
      auto backend = backends.open_cuda(params, width, height, execution.batch, execution.device);
      return {std::move(backend), "cuda",
              execution.backend == BackendChoice::cuda ? "as asked" : "it works here"};
    } catch (const Error& error) {
      if (execution.backend == BackendChoice::cuda || error.code() != ErrorCode::device_unavailable) throw;
      reason = error.what();
    }
  }
  return {backends.open_cpu(params, width, height, execution.threads), "cpu", reason};
}

void check(bool valid, const std::string& cause, const char* remedy) {
  if (!valid) throw Error(ErrorCode::invalid_argument, cause, remedy);
}

}  // namespace

Detector::Detector(const Params& params, int width, int height, const ExecutionOptions& execution)
    : Detector(kBackends, params, width, height, execution) {}

Detector::Detector(const vision::DetectorBackends& backends, const Params& params, int width, int height,
                   const ExecutionOptions& execution)
    : width_(width), batch_(execution.batch) {
  check(width >= 1 && height >= 1 && width <= kMaxSide && height <= kMaxSide,
        "a picture's width and height must be 1 to " + std::to_string(kMaxSide), "cut it into parts");
  check(execution.batch >= 1 && execution.threads >= 0, "batch must be at least 1 and threads at least 0",
        "threads 0 means one for each core");
  const vision::CannyParams checked = vision::canny_params(params);
  sub_images_ = vision::sub_image_layout(width, height, checked.partition).count;
  try {
    OpenedBackend opened = open_backend(backends, checked, width, height, execution);
    backend_ = std::move(opened.backend);
    backend_name_ = std::move(opened.name), backend_reason_ = std::move(opened.reason);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory,
                "not enough memory for pictures of " + std::to_string(width) + "x" + std::to_string(height),
                "cut them into parts");
  }
}

Detector::~Detector() = default;
Detector::Detector(Detector&&) noexcept = default;
Detector& Detector::operator=(Detector&&) noexcept = default;

void Detector::detect(const Pictures& pictures, const EdgeMaps& edges, Thresholds* thresholds,
                      MemoryKind memory, void* stream) {
  check(pictures.data && edges.data, "detect() was given no picture or no edge map", "pass both");
  check(pictures.count >= 1 && pictures.count <= batch_, "more pictures than the detector was opened for",
        "raise ExecutionOptions::batch");
  check(std::abs(pictures.pitch) >= width_ && std::abs(edges.pitch) >= width_,
        "a pitch is smaller than the picture's width", "give the distance of rows in bytes");
  check(memory != MemoryKind::device || backend_name_ == "cuda",
        "the pictures are in device memory, but the backend is cpu",
        "open the detector with BackendChoice::cuda");
  check(memory == MemoryKind::device || !stream, "a stream was given, but the pictures are in host memory",
        "pass no stream");
  try {
    backend_->detect({pictures, edges, thresholds, memory, stream});
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "not enough memory to find edges", "use smaller pictures");
  }
}

std::vector<std::uint8_t> detect(const Params& params, const std::uint8_t* picture, std::ptrdiff_t pitch,
                                 int width, int height, const ExecutionOptions& execution) {
  Detector detector(params, width, height, execution);
  std::vector<std::uint8_t> edges(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  detector.detect({picture, pitch}, {edges.data(), width});
  return edges;
}

}  // namespace cu264::canny

namespace cu264::vision {

canny::Detector DetectorAccess::open(const DetectorBackends& backends, const canny::Params& params, int width,
                                     int height, const canny::ExecutionOptions& execution) {
  return canny::Detector(backends, params, width, height, execution);
}

}  // namespace cu264::vision
