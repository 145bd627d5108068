// The analyser of the CUDA backend. A frame from the host is uploaded once, to memory that the backend then
// reads it from; RGB is converted there. Frames that are on the device already stay where they are. All work
// is on an urgent stream of the analyser's own, because a batch waits for the measures and the kernels of
// other batches leave little room. Frames are looked at in groups, with the same launches for all of a group,
// and what is found comes back through page-locked memory.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "common/cuda/handles.h"
#include "common/cuda/memory_cache.h"
#include "encoder/cuda/compare_scenes.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/cuda/device_layout.h"
#include "encoder/cuda/measure_picture.h"
#include "encoder/cuda/uploader.h"
#include "encoder/frame_layout.h"
#include "encoder/packed_frame.h"
#include "encoder/pictures_held.h"
#include "encoder/rate_control/analyser.h"
#include "encoder/rate_control/weight_steps.h"

namespace cu264::encoder::cuda {
namespace {

constexpr int kMaxTogether = MeasureInput::kMaxPictures;
static_assert(SceneInput::kMaxPictures >= kMaxTogether);
constexpr std::size_t kSumsBytes = kMaxTogether * sizeof(MeasureSums);
constexpr std::size_t kPartsBytes = kMaxTogether * sizeof(SceneParts);

bool converts(const StreamParams& params) {
  return params.input.format && is_rgb(*params.input.format);
}

// Small pictures (compare_scenes.h) in one piece of memory, which is reused in the order of the analyser's
// stream. A stream keeps one, and a group those that it compares until its work is in the analyser's stream.
class SmallPictures {
 public:
  SmallPictures(const StreamParams& params, int device, int together)
      : bytes_(small_picture_bytes(params.format.mb_width, params.format.mb_height)),
        memory_(take_device(memory_bytes(params, together), device)),
        before_(static_cast<std::size_t>(params.execution.streams)) {
    for (std::size_t i = 0; i < count(params, together); ++i) free_->push_back(memory_.get() + i * bytes_);
  }

  static std::size_t memory_bytes(const StreamParams& params, int together) {
    return count(params, together) * small_picture_bytes(params.format.mb_width, params.format.mb_height);
  }
  const CachedMemory& memory() const { return memory_; }

  using Small = std::shared_ptr<std::uint8_t>;
  // That of the stream's next picture, and that of the one before; null if there is none.
  std::pair<Small, Small> next(const core::PictureParams& picture) {
    std::uint8_t* const memory = free_->back();
    free_->pop_back();
    Small small(memory, [free = free_](std::uint8_t* used) { free->push_back(used); });
    Small before = std::exchange(before_[picture.stream], small);
    if (picture.index == 0) before = nullptr;
    return {std::move(small), std::move(before)};
  }

 private:
  // A picture replaces its stream's. One that is replaced stays until its group is done with it.
  static std::size_t count(const StreamParams& params, int together) {
    return static_cast<std::size_t>(params.execution.streams) + static_cast<std::size_t>(together);
  }

  const std::size_t bytes_;
  const CachedMemory memory_;
  const std::shared_ptr<std::vector<std::uint8_t*>> free_ = std::make_shared<std::vector<std::uint8_t*>>();
  std::vector<Small> before_;  // [PictureParams::stream]
};

constexpr std::size_t kFindingsBytes = sizeof(core::PictureMeasure) + sizeof(core::SceneSums);

// What is found about the frames of a group.
struct Findings {
  core::PictureMeasure* measures = nullptr;  // [picture]
  core::SceneSums* scenes = nullptr;         // [picture]
};

// Frames that are looked at together.
struct Group {
  MeasureInput input;
  SceneInput scenes;
  std::vector<SmallPictures::Small> small;  // that `scenes` names, until the work is in the stream
  Marks written;                            // of the pictures in input, until they are measured
  Findings results;                         // page-locked
  Event measured;
  bool started = false;
  bool done = false;
};

// Memory that is reused, in the order of the analyser's stream.
class Pool {
 public:
  // `together`: the pictures of a group.
  Pool(int device, std::size_t frame_bytes, int together)
      : device_(device), frame_bytes_(frame_bytes), together_(static_cast<std::size_t>(together)) {}
  ~Pool() {
    // By now no work may use the memory. If the device is lost, its memory is lost too.
    const DeviceGuard guard(device_, std::nothrow);
    for (const std::unique_ptr<Group>& group : groups_) cudaEventSynchronize(group->measured.get());
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int device() const { return device_; }

  std::unique_ptr<Group> take_group() {
    const std::lock_guard lock(mutex_);
    if (groups_.empty()) make_group();
    std::unique_ptr<Group> group = std::move(groups_.back());
    groups_.pop_back();
    group->input.pictures = group->scenes.pictures = 0;
    group->written = {};
    group->started = group->done = false;
    return group;
  }
  void give_back(std::unique_ptr<Group> group) {
    const std::lock_guard lock(mutex_);
    groups_.push_back(std::move(group));
  }

  CachedMemory take_planes() {
    const std::lock_guard lock(mutex_);
    if (planes_.empty()) return take_device(frame_bytes_, device_);
    CachedMemory planes = std::move(planes_.back());
    planes_.pop_back();
    return planes;
  }
  void give_back(CachedMemory planes) {
    const std::lock_guard lock(mutex_);
    planes_.push_back(std::move(planes));
  }

 private:
  // Groups share pieces of memory, which are larger than one group needs.
  void make_group() {
    const std::size_t bytes = together_ * kFindingsBytes;
    if (unused_bytes_ < bytes) {
      results_.push_back(take_pinned(bytes));
      unused_bytes_ = results_.back().bytes();
    }
    std::uint8_t* const unused = results_.back().get() + results_.back().bytes() - unused_bytes_;
    groups_.push_back(std::make_unique<Group>());
    Findings& results = groups_.back()->results;
    results.measures = reinterpret_cast<core::PictureMeasure*>(unused);
    results.scenes = reinterpret_cast<core::SceneSums*>(unused + together_ * sizeof(core::PictureMeasure));
    unused_bytes_ -= bytes;
  }

  const int device_;
  const std::size_t frame_bytes_;
  const std::size_t together_;
  std::mutex mutex_;
  std::vector<CachedMemory> results_;
  std::size_t unused_bytes_ = 0;  // at the end of the last piece
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<CachedMemory> planes_;
};

class DeviceAnalysedFrame final : public AnalysedFrame {
 public:
  // `index`: in the group. The analyser is asked for nothing once the group has been started.
  DeviceAnalysedFrame(const Frame& frame, std::shared_ptr<Group> group, int index, Analyser& analyser,
                      std::shared_ptr<Pool> pool, CachedMemory planes, HeldFrame held, Written written)
      : frame_(frame),
        group_(std::move(group)),
        index_(index),
        analyser_(analyser),
        pool_(std::move(pool)),
        planes_(std::move(planes)),
        held_(std::move(held)),
        written_(std::move(written)) {}
  ~DeviceAnalysedFrame() override {
    if (!group_->started)
      group_->input.picture[index_] = {}, group_->scenes.picture[index_] = {};  // left out
    if (planes_) pool_->give_back(std::move(planes_));
  }
  DeviceAnalysedFrame(const DeviceAnalysedFrame&) = delete;
  DeviceAnalysedFrame& operator=(const DeviceAnalysedFrame&) = delete;

  bool done() const override {
    if (group_->started && !group_->done) {
      const DeviceGuard guard(pool_->device());
      group_->done = group_->measured.done();
    }
    return group_->done;
  }
  const core::PictureMeasure& measure() override {
    wait();
    return group_->results.measures[index_];
  }
  core::SceneSums scene() override {
    if (group_->scenes.pictures == 0) return {};
    wait();
    return group_->results.scenes[index_];
  }
  const Frame& frame() const override { return frame_; }
  Written written() const override { return frame_.memory == MemoryKind::device ? written_ : nullptr; }

 private:
  void wait() {
    if (!group_->started) analyser_.start();
    if (!group_->done) {
      const DeviceGuard guard(pool_->device());
      group_->measured.wait();
    }
    group_->done = true;
  }

  const Frame frame_;
  const std::shared_ptr<Group> group_;
  const int index_;
  Analyser& analyser_;
  const std::shared_ptr<Pool> pool_;
  CachedMemory planes_;   // of a frame that was uploaded or converted
  const HeldFrame held_;  // of a frame that stays on the host
  const Written written_;
};

class DeviceAnalyser final : public Analyser {
 public:
  DeviceAnalyser(const StreamParams& params, int device, int together, bool stays_on_host)
      : params_(params),
        device_(device),
        together_(std::clamp(together, 1, kMaxTogether)),
        stays_on_host_(stays_on_host),
        rgb_(converts(params) ? take_device(upload_bytes(params), device) : CachedMemory()),
        sums_(take_device(kSumsBytes + kPartsBytes, device)),
        uploader_(params, rgb_.get(), device, true),
        holder_(make_device_frame_holder(device)),
        pool_(std::make_shared<Pool>(device, staged_bytes(params), together_)) {
    clear(sums_);
    if (!params.decisions.scene_cuts) return;
    small_.emplace(params, device, together_);
    clear(small_->memory());
  }
  ~DeviceAnalyser() override {
    const DeviceGuard guard(device_, std::nothrow);
    try {
      start();
    } catch (...) {  // the device is lost, and every other call says so
    }
    cudaStreamSynchronize(uploader_.stream().get());
  }

  std::unique_ptr<AnalysedFrame> analyse(const Frame& frame, Written written,
                                         const core::PictureParams& picture) override {
    const DeviceGuard guard(device_);
    HeldFrame held;
    const bool from_host = frame.memory != MemoryKind::device;
    if (from_host && stays_on_host_) held = holder_->hold(frame);
    const Frame& source = held.hold || (from_host && stays_on_host_) ? held.frame : frame;
    CachedMemory memory;
    if (from_host || is_rgb(frame.format)) memory = pool_->take_planes();
    UploadedFrame uploaded = uploader_.upload(source, std::move(written), memory.get());
    const SourcePicture& planes = uploaded.planes;
    const PixelFormat format = Uploader::format_on_device(frame.format);
    Frame to_code = source;
    if (!(from_host && stays_on_host_)) {
      to_code.format = format;
      to_code.memory = MemoryKind::device;
      for (int plane = 0; plane < plane_count(format); ++plane) {
        to_code.plane[plane] = planes.plane[plane], to_code.pitch[plane] = planes.pitch[plane];
      }
    }
    if (!group_) begin_group();
    if (small_) compare(planes, picture);
    MeasureInput& input = group_->input;
    input.picture[input.pictures] = {planes, format};
    group_->written.add(uploaded.written);
    auto analysed = std::make_unique<DeviceAnalysedFrame>(to_code, group_, input.pictures, *this, pool_,
                                                          std::move(memory), std::move(held),
                                                          std::move(uploaded.written));
    if (++input.pictures == together_) start();
    return analysed;
  }

  void start() override {
    if (!group_) return;
    const DeviceGuard guard(device_);
    const std::shared_ptr<Group> group = std::exchange(group_, nullptr);
    group->started = true;
    const cudaStream_t stream = uploader_.stream().get();
    uploader_.close_mark();
    group->written.hold_back(uploader_.stream());
    group->written = {};
    if (params_.pacing.controls_rate) {
      launch_measure(group->input, reinterpret_cast<MeasureSums*>(sums_.get()), group->results.measures,
                     stream);
    }
    if (small_) {
      launch_compare_scenes(group->scenes, reinterpret_cast<SceneParts*>(sums_.get() + kSumsBytes),
                            group->results.scenes, stream);
      group->small.clear();
    }
    group->measured.record(stream);
  }

 private:
  void begin_group() {
    const auto give_back = [pool = pool_](Group* used) { pool->give_back(std::unique_ptr<Group>(used)); };
    group_ = std::shared_ptr<Group>(pool_->take_group().release(), give_back);
    group_->input.width = params_.format.width, group_->input.height = params_.format.height;
    group_->input.aq_strength = variance_strength(params_.decisions.aq);
    SceneInput& scenes = group_->scenes;
    scenes.width = params_.format.width, scenes.height = params_.format.height;
    scenes.mb_width = params_.format.mb_width, scenes.mb_height = params_.format.mb_height;
    group_->small.clear();
  }

  // Adds a picture to those of the group that are compared.
  void compare(const SourcePicture& planes, const core::PictureParams& picture) {
    auto [small, before] = small_->next(picture);
    SceneInput& scenes = group_->scenes;
    scenes.picture[scenes.pictures++] = {planes.plane[0], planes.pitch[0], small.get(), before.get()};
    group_->small.push_back(std::move(small));
    if (before) group_->small.push_back(std::move(before));
  }

  void clear(const CachedMemory& memory) const {
    check_cuda(cudaMemsetAsync(memory.get(), 0, memory.bytes(), uploader_.stream().get()),
               "clearing device memory");
  }

  const StreamParams params_;
  const int device_;
  const int together_;
  const bool stays_on_host_;
  const CachedMemory rgb_;
  const CachedMemory sums_;
  Uploader uploader_;
  const std::unique_ptr<FrameHolder> holder_;
  const std::shared_ptr<Pool> pool_;
  std::optional<SmallPictures> small_;  // where scene cuts are looked for
  std::shared_ptr<Group> group_;        // of the frames that are to be measured; null: there are none
};

}  // namespace

std::unique_ptr<Analyser> make_device_analyser(const StreamParams& params, int device, int together,
                                               bool stays_on_host) {
  const DeviceGuard guard(device);
  return std::make_unique<DeviceAnalyser>(params, device, together, stays_on_host);
}

MemoryRequirement memory_of_analyser(const StreamParams& params, int batch, int backends, int devices) {
  MemoryRequirement required;
  if (!analyses_pictures(params)) return required;
  const int capacity = kBatchesInFlight * batch * backends * devices;
  const auto frames = static_cast<std::size_t>(pictures_in_pipeline(capacity, batch, params));
  required.device = frames * piece_bytes(staged_bytes(params)) + piece_bytes(kSumsBytes + kPartsBytes);
  if (params.decisions.scene_cuts)
    required.device += piece_bytes(SmallPictures::memory_bytes(params, kMaxTogether));
  if (converts(params)) required.device += piece_bytes(upload_bytes(params));
  required.pinned = piece_bytes(frames * kFindingsBytes);
  required.pinned +=
      devices > 1 ? frames * piece_bytes(upload_bytes(params)) : piece_bytes(Uploader::buffer_bytes(params));
  return required;
}

}  // namespace cu264::encoder::cuda
