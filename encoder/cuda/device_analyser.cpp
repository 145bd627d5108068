// The analyser of the CUDA backend. A frame from the host is uploaded once, to memory that the backend then
// reads it from; RGB is converted there. Frames that are on the device already stay where they are. All work
// is on a stream of the analyser's own, and the measure comes back through page-locked memory.
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/cuda/handles.h"
#include "common/cuda/memory_cache.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/cuda/measure_picture.h"
#include "encoder/cuda/uploader.h"
#include "encoder/frame_layout.h"
#include "encoder/packed_frame.h"
#include "encoder/rate_control/analyser.h"
#include "encoder/rate_control/weight_steps.h"

namespace cu264::encoder::cuda {
namespace {

// What the measuring of a frame takes, which is used again by later frames.
struct Slot {
  core::PictureMeasure* result = nullptr;  // page-locked
  Event ready;                             // the planes have been written
  Event measured;
  CachedMemory planes;  // of a frame that was uploaded or converted; taken with the first of these
};

class Slots {
 public:
  Slots(int device, std::size_t frame_bytes) : device_(device), frame_bytes_(frame_bytes) {}
  ~Slots() {
    // No work may use the memory any more. If the device is lost, its memory is too.
    const DeviceGuard guard(device_);
    for (const std::unique_ptr<Slot>& slot : free_) cudaEventSynchronize(slot->measured.get());
  }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  std::unique_ptr<Slot> take(bool planes) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) make_some();
    std::unique_ptr<Slot> slot = std::move(free_.back());
    free_.pop_back();
    if (planes && !slot->planes) slot->planes = take_device(frame_bytes_, device_);
    return slot;
  }
  void give_back(std::unique_ptr<Slot> slot) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(slot));
  }

 private:
  void make_some() {
    constexpr std::size_t kTogether = 32;
    results_.push_back(take_pinned(kTogether * sizeof(core::PictureMeasure)));
    auto* const first = reinterpret_cast<core::PictureMeasure*>(results_.back().get());
    for (std::size_t i = 0; i < kTogether; ++i) {
      free_.push_back(std::make_unique<Slot>());
      free_.back()->result = first + i;
    }
  }

  const int device_;
  const std::size_t frame_bytes_;
  std::mutex mutex_;
  std::vector<CachedMemory> results_;
  std::vector<std::unique_ptr<Slot>> free_;
};

class DeviceAnalysedFrame final : public AnalysedFrame {
 public:
  DeviceAnalysedFrame(const Frame& frame, std::unique_ptr<Slot> slot, std::shared_ptr<Slots> slots,
                      HeldFrame held)
      : frame_(frame), slot_(std::move(slot)), slots_(std::move(slots)), held_(std::move(held)) {}
  ~DeviceAnalysedFrame() override { slots_->give_back(std::move(slot_)); }
  DeviceAnalysedFrame(const DeviceAnalysedFrame&) = delete;
  DeviceAnalysedFrame& operator=(const DeviceAnalysedFrame&) = delete;

  bool done() const override { return slot_->measured.done(); }
  const core::PictureMeasure& measure() override {
    slot_->measured.wait();
    return *slot_->result;
  }
  const Frame& frame() const override { return frame_; }
  void* written() const override {
    return frame_.memory == MemoryKind::device ? slot_->ready.get() : nullptr;
  }

 private:
  const Frame frame_;
  std::unique_ptr<Slot> slot_;
  const std::shared_ptr<Slots> slots_;
  const HeldFrame held_;  // of a frame that stays on the host
};

class DeviceAnalyser final : public Analyser {
 public:
  DeviceAnalyser(const StageParams& params, int device, bool stays_on_host)
      : params_(params),
        device_(device),
        stays_on_host_(stays_on_host),
        rgb_(converts() ? take_device(upload_bytes(params), device) : CachedMemory()),
        sums_(take_device(sizeof(MeasureSums), device)),
        uploader_(params, rgb_.get(), device),
        holder_(make_device_frame_holder(device)),
        slots_(std::make_shared<Slots>(device, frame_bytes())) {
    check_cuda(cudaMemsetAsync(sums_.get(), 0, sizeof(MeasureSums), uploader_.stream().get()),
               "clearing device memory");
  }
  ~DeviceAnalyser() override {
    const DeviceGuard guard(device_);
    cudaStreamSynchronize(uploader_.stream().get());
  }

  std::unique_ptr<AnalysedFrame> analyse(const Frame& frame, void* written) override {
    const DeviceGuard guard(device_);
    HeldFrame held;
    const bool from_host = frame.memory != MemoryKind::device;
    if (from_host && stays_on_host_) held = holder_->hold(frame);
    const Frame& source = held.hold || (from_host && stays_on_host_) ? held.frame : frame;
    const bool copied = from_host || is_rgb(frame.format);
    std::unique_ptr<Slot> slot = slots_->take(copied);
    const cudaStream_t stream = uploader_.stream().get();
    const SourcePicture planes = uploader_.upload(source, written, slot->planes.get());
    slot->ready.record(stream);
    const PixelFormat format = Uploader::format_on_device(frame.format);
    launch_measure({planes, format, params_.width, params_.height, variance_strength(params_.aq)},
                   reinterpret_cast<MeasureSums*>(sums_.get()), slot->result, stream);
    slot->measured.record(stream);
    Frame to_code = source;
    if (!(from_host && stays_on_host_)) {
      to_code.format = format;
      to_code.memory = MemoryKind::device;
      to_code.stream = stream;
      for (int plane = 0; plane < plane_count(format); ++plane) {
        to_code.plane[plane] = planes.plane[plane], to_code.pitch[plane] = planes.pitch[plane];
      }
    }
    return std::make_unique<DeviceAnalysedFrame>(to_code, std::move(slot), slots_, std::move(held));
  }

 private:
  bool converts() const { return params_.input_format && is_rgb(*params_.input_format); }
  std::size_t frame_bytes() const {
    return std::max(packed_layout(PixelFormat::i420, params_.width, params_.height).bytes,
                    packed_layout(PixelFormat::nv12, params_.width, params_.height).bytes);
  }

  const StageParams params_;
  const int device_;
  const bool stays_on_host_;
  const CachedMemory rgb_;
  const CachedMemory sums_;
  Uploader uploader_;
  const std::unique_ptr<FrameHolder> holder_;
  const std::shared_ptr<Slots> slots_;
};

}  // namespace

std::unique_ptr<Analyser> make_device_analyser(const StageParams& params, int device, bool stays_on_host) {
  const DeviceGuard guard(device);
  return std::make_unique<DeviceAnalyser>(params, device, stays_on_host);
}

}  // namespace cu264::encoder::cuda
