// The CUDA implementation behind canny::Detector.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "common/cuda/callers_stream.h"
#include "common/cuda/error_check.h"
#include "common/cuda/handles.h"
#include "vision/cuda/canny_plan.h"
#include "vision/cuda/cuda_detector.h"
#include "vision/detector_backend.h"

namespace cu264::vision {
namespace {

using namespace vision::cuda;
using canny::DetectorJob;

void require_device(int device) {
  int devices = 0;
  check_cuda(cudaGetDeviceCount(&devices), "counting the CUDA devices");
  if (device >= 0 && device < devices) return;
  throw Error(ErrorCode::device_unavailable,
              "there is no GPU " + std::to_string(device) + "; CUDA finds " + std::to_string(devices),
              "name an existing device, or use the cpu backend");
}

// A plane's rows from the lowest address on: CUDA's copies take no negative pitch.
template <class Sample>
struct Rows {
  Sample* lowest;
  std::size_t pitch;
};

template <class Sample>
Rows<Sample> rows_of(Sample* data, std::ptrdiff_t pitch, int height) {
  return {pitch < 0 ? data + (height - 1) * pitch : data, static_cast<std::size_t>(std::abs(pitch))};
}

class CudaDetector final : public canny::DetectorBackend {
 public:
  CudaDetector(MakeDetectorPlan make_plan, const CannyParams& params, int width, int height, int batch,
               int device)
      : device_(device),
        width_(width),
        height_(height),
        pitch_((static_cast<std::size_t>(width) + 31) / 32 * 32) {
    require_device(device);
    const DeviceGuard current(device);
    plan_ = make_plan(params, width, height, batch, device_limits(device));
    sub_images_ = static_cast<std::size_t>(sub_image_layout(width, height, params.partition).count);
    scratch_ = allocate_device(plan_->scratch_bytes(), device);
    const auto pictures = static_cast<std::size_t>(batch);
    host_bytes_ = 2 * plane_bytes() * pictures + pictures * sub_images_ * sizeof(Thresholds);
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    check_cuda(cudaEventCreateWithFlags(&done_, cudaEventDisableTiming), "making an event");
    check_cuda(cudaEventRecord(done_, stream_), "recording an event");
    // All memory is allocated here, so that detect() cannot fail for want of it.
    staging_ = allocate_device(host_bytes_, device);
  }

  ~CudaDetector() override {
    const DeviceGuard current(device_, std::nothrow);
    cudaStreamSynchronize(stream_);
    cudaEventDestroy(done_);
    cudaStreamDestroy(stream_);
    staging_.reset();
    scratch_.reset();
  }

  void detect(const DetectorJob& job) override {
    const DeviceGuard current(device_);
    if (job.memory != MemoryKind::device) {
      detect_from_host(job);
      return;
    }
    const CallersStream callers(static_cast<cudaStream_t>(job.stream));
    if (callers.is_foreign()) {
      detect_for_foreign(job, callers);
    } else {
      detect_on(job, callers.get());
    }
  }

 private:
  std::size_t plane_bytes() const { return pitch_ * static_cast<std::size_t>(height_); }

  void detect_on(const DetectorJob& job, cudaStream_t stream) const {
    check_cuda(cudaStreamWaitEvent(stream, done_, 0), "waiting for an event");
    launch(job, stream);
    check_cuda(cudaEventRecord(done_, stream), "recording an event");
  }

  // Kernels of this context cannot go to the stream of another one, so the two streams wait for each other.
  void detect_for_foreign(const DetectorJob& job, const CallersStream& callers) const {
    const CallersEvent ready(callers);
    check_cuda(cudaStreamWaitEvent(stream_, ready.get(), 0), "waiting for an event");
    detect_on(job, stream_);
    callers.wait_for(done_);
  }

  void launch(const DetectorJob& job, cudaStream_t stream) const {
    const PicturePlanes pictures{job.pictures.data, job.pictures.pitch, job.pictures.distance, nullptr};
    const EdgePlanes edges{job.edges.data, job.edges.pitch, job.edges.distance};
    plan_->launch(pictures, job.pictures.count, scratch_.get(), edges, job.thresholds, stream);
  }

  // The staging planes keep the host's order of rows by address, so a bottom-up plane is bottom-up there too.
  void detect_from_host(const DetectorJob& job) const {
    const auto count = static_cast<std::size_t>(job.pictures.count);
    const auto device_pitch = static_cast<std::ptrdiff_t>(pitch_),
               distance = static_cast<std::ptrdiff_t>(plane_bytes());
    auto* const d_pictures = static_cast<std::uint8_t*>(staging_.get());
    std::uint8_t* const d_edges = d_pictures + count * plane_bytes();
    std::uint8_t* const d_thresholds = d_edges + count * plane_bytes();
    const bool pictures_up = job.pictures.pitch < 0, edges_up = job.edges.pitch < 0;
    const std::ptrdiff_t last_row = (height_ - 1) * device_pitch;

    check_cuda(cudaStreamWaitEvent(stream_, done_, 0), "waiting for an event");
    for (int i = 0; i < job.pictures.count; ++i) {
      const Rows<const std::uint8_t> from =
          rows_of(job.pictures.data + i * job.pictures.distance, job.pictures.pitch, height_);
      check_cuda(cudaMemcpy2DAsync(d_pictures + i * distance, pitch_, from.lowest, copy_pitch(from.pitch),
                                   static_cast<std::size_t>(width_), static_cast<std::size_t>(height_),
                                   cudaMemcpyHostToDevice, stream_),
                 "copying to the device");
    }
    DetectorJob device_job;
    device_job.pictures = {d_pictures + (pictures_up ? last_row : 0),
                           pictures_up ? -device_pitch : device_pitch, distance, job.pictures.count};
    device_job.edges = {d_edges + (edges_up ? last_row : 0), edges_up ? -device_pitch : device_pitch,
                        distance};
    device_job.thresholds = reinterpret_cast<Thresholds*>(d_thresholds);
    launch(device_job, stream_);
    for (int i = 0; i < job.pictures.count; ++i) {
      const Rows<std::uint8_t> to =
          rows_of(job.edges.data + i * job.edges.distance, job.edges.pitch, height_);
      check_cuda(cudaMemcpy2DAsync(to.lowest, copy_pitch(to.pitch), d_edges + i * distance, pitch_,
                                   static_cast<std::size_t>(width_), static_cast<std::size_t>(height_),
                                   cudaMemcpyDeviceToHost, stream_),
                 "copying from the device");
    }
    if (job.thresholds != nullptr) {
      check_cuda(cudaMemcpyAsync(job.thresholds, d_thresholds, count * sub_images_ * sizeof(Thresholds),
                                 cudaMemcpyDeviceToHost, stream_),
                 "copying from the device");
    }
    check_cuda(cudaStreamSynchronize(stream_), "detecting edges");
  }

  // cudaMemcpy2DAsync refuses a pitch below the width, but the planes of a single row may have any pitch.
  std::size_t copy_pitch(std::size_t pitch) const {
    return pitch < static_cast<std::size_t>(width_) ? static_cast<std::size_t>(width_) : pitch;
  }

  int device_;
  int width_, height_;
  std::size_t pitch_;
  std::size_t sub_images_ = 0, host_bytes_ = 0;
  std::unique_ptr<DetectorPlan> plan_;
  DeviceAllocation scratch_, staging_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t done_ = nullptr;
};

class ProductionPlan final : public DetectorPlan {
 public:
  ProductionPlan(const CannyParams& params, int width, int height, int pictures, const DeviceLimits& limits)
      : plan_(params, width, height, pictures, limits) {}

  std::size_t scratch_bytes() const override { return plan_.scratch_bytes(); }
  void launch(const PicturePlanes& planes, int pictures, void* scratch, const EdgePlanes& edges,
              Thresholds* thresholds, cudaStream_t stream) const override {
    plan_.launch(planes, pictures, scratch, edges, thresholds, {}, stream);
  }

 private:
  CannyPlan plan_;
};

std::unique_ptr<DetectorPlan> make_production_plan(const CannyParams& params, int width, int height,
                                                   int pictures, const DeviceLimits& limits) {
  return std::make_unique<ProductionPlan>(params, width, height, pictures, limits);
}

}  // namespace

std::unique_ptr<canny::DetectorBackend> cuda::open_cuda_detector_with(MakeDetectorPlan make_plan,
                                                                      const CannyParams& params, int width,
                                                                      int height, int batch, int device) {
  return std::make_unique<CudaDetector>(make_plan, params, width, height, batch, device);
}

std::unique_ptr<canny::DetectorBackend> open_cuda_detector(const CannyParams& params, int width, int height,
                                                           int batch, int device) {
  return open_cuda_detector_with(make_production_plan, params, width, height, batch, device);
}

}  // namespace cu264::vision
