// The analyser of the CPU backend: it looks at a frame at once, in the copy that holds it.
#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include <tbb/task_arena.h>

#include "encoder/cpu/ingest.h"
#include "encoder/cpu/small_picture.h"
#include "encoder/cpu_picture.h"
#include "encoder/rate_control/analyser.h"
#include "encoder/rate_control/host_measure.h"

namespace cu264::encoder {
namespace {

// Pictures are reused, because fresh memory is slow to touch. Only their `source` is used.
struct Copies {
  std::mutex mutex;
  std::vector<std::unique_ptr<CpuPicture>> free;
};

class CpuAnalysedFrame final : public AnalysedFrame {
 public:
  CpuAnalysedFrame(const Frame& frame, std::unique_ptr<CpuPicture> copy, std::shared_ptr<Copies> copies,
                   const core::PictureMeasure& measure, const core::SceneSums& scene)
      : frame_(frame), copy_(std::move(copy)), copies_(std::move(copies)), measure_(measure), scene_(scene) {
    frame_.format = PixelFormat::i420;
    frame_.memory = MemoryKind::host;
    frame_.stream = nullptr;
    for (int plane = 0; plane < 3; ++plane) {
      frame_.plane[plane] = copy_->source[plane].row(0);
      frame_.pitch[plane] = copy_->source[plane].width;
    }
  }
  ~CpuAnalysedFrame() override {
    const std::lock_guard lock(copies_->mutex);
    copies_->free.push_back(std::move(copy_));
  }
  CpuAnalysedFrame(const CpuAnalysedFrame&) = delete;
  CpuAnalysedFrame& operator=(const CpuAnalysedFrame&) = delete;

  bool done() const override { return true; }
  const core::PictureMeasure& measure() override { return measure_; }
  core::SceneSums scene() override { return scene_; }
  const Frame& frame() const override { return frame_; }
  Written written() const override { return nullptr; }

 private:
  Frame frame_;
  std::unique_ptr<CpuPicture> copy_;
  std::shared_ptr<Copies> copies_;
  core::PictureMeasure measure_;
  core::SceneSums scene_;
};

class CpuAnalyser final : public Analyser {
 public:
  explicit CpuAnalyser(const StreamParams& params)
      : params_(params),
        matrix_(core::make_colour_matrix(params.input.matrix_coefficients, params.input.full_range)),
        arena_(params.execution.threads > 0 ? params.execution.threads : tbb::task_arena::automatic, 1) {}

  std::unique_ptr<AnalysedFrame> analyse(const Frame& frame, Written,
                                         const core::PictureParams& picture) override {
    std::unique_ptr<CpuPicture> copy = take();
    ingest(frame, *copy, matrix_);
    core::PictureMeasure measure;
    if (params_.pacing.controls_rate) {
      arena_.execute([&] {
        tbb::this_task_arena::isolate([&] { measure = measure_planes(copy->source, params_.decisions.aq); });
      });
    }
    core::SceneSums scene;
    if (params_.decisions.scene_cuts) scene = compare_with_before(copy->source[0], picture);
    return std::make_unique<CpuAnalysedFrame>(frame, std::move(copy), copies_, measure, scene);
  }

 private:
  core::SceneSums compare_with_before(const Plane& luma, const core::PictureParams& picture) {
    before_.resize(std::max(before_.size(), static_cast<std::size_t>(picture.stream) + 1));
    SmallPicture& before = before_[picture.stream];
    shrink(luma, small_);
    core::SceneSums sums;
    if (picture.index != 0 && !before.samples.empty()) sums = compare(small_, before);
    std::swap(before, small_);
    return sums;
  }

  std::unique_ptr<CpuPicture> take() const {
    {
      const std::lock_guard lock(copies_->mutex);
      if (!copies_->free.empty()) {
        std::unique_ptr<CpuPicture> copy = std::move(copies_->free.back());
        copies_->free.pop_back();
        return copy;
      }
    }
    auto copy = std::make_unique<CpuPicture>();
    for (int plane = 0; plane < 3; ++plane) {
      const int side = plane == 0 ? 16 : 8;
      copy->source[plane].resize(params_.format.mb_width * side, params_.format.mb_height * side);
    }
    return copy;
  }

  const StreamParams params_;
  const core::ColourMatrix matrix_;
  tbb::task_arena arena_;
  SmallPicture small_;
  std::vector<SmallPicture> before_;  // [PictureParams::stream]
  const std::shared_ptr<Copies> copies_ = std::make_shared<Copies>();
};

}  // namespace

std::unique_ptr<Analyser> make_cpu_analyser(const StreamParams& params) {
  return std::make_unique<CpuAnalyser>(params);
}

}  // namespace cu264::encoder
