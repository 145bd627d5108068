#include "vision/published/published_canny.h"

#include <algorithm>

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "vision/cuda/canny_launches.h"
#include "vision/published/published_launches.h"

namespace cu264::vision::cuda {
namespace {

constexpr std::size_t kMapBudget = std::size_t{512} << 20;
constexpr std::size_t kStaticBytes = 1024;

void mark(const cudaEvent_t* marks, int step, cudaStream_t stream) {
  if (marks != nullptr) check_cuda(cudaEventRecord(marks[step], stream), "recording an event");
}

}  // namespace

PublishedPlan::PublishedPlan(const CannyParams& params, int width, int height, const DeviceLimits& limits)
    : params_(params), limits_(limits), grid_(word_grid(width, height, params.partition)) {
  shared_maps_ = pass_map_bytes(grid_) + kStaticBytes <= limits.shared_block_bytes;
  const int work = grid_.layout.count * (params.fixed ? 1 : pair_count(params.candidates));
  const auto most = static_cast<std::size_t>(std::min(work, 2 * limits.multiprocessors));
  blocks_at_once_ = static_cast<int>(std::clamp<std::size_t>(kMapBudget / pass_map_bytes(grid_), 1, most));
}

PublishedArrays PublishedPlan::lay_out(std::uint8_t* base, std::size_t& bytes) const {
  const std::size_t pixels = static_cast<std::size_t>(grid_.layout.width) * grid_.layout.height;
  const auto sub_images = static_cast<std::size_t>(grid_.layout.count);
  PublishedArrays a;
  Arena arena(base);
  a.horizontal = arena.take<std::uint16_t>(pixels);
  a.smoothed = arena.take<std::uint16_t>(pixels);
  a.dx = arena.take<std::int16_t>(pixels);
  a.dy = arena.take<std::int16_t>(pixels);
  a.magnitude = arena.take<std::uint16_t>(pixels);
  a.largest = arena.take<std::int32_t>(1);
  a.level = arena.take<std::uint8_t>(pixels);
  a.thresholds = arena.take<Thresholds>(sub_images);
  if (!params_.fixed) {
    a.sm = arena.take<std::uint32_t>(pixels);
    a.prob = arena.take<std::uint8_t>(pixels);
    a.sums = arena.take<LevelSums>(sub_images);
    a.distribution = arena.take<LevelDistribution>(sub_images);
    a.pooled = arena.take<LevelCounts>(1);
  }
  if (!shared_maps_) {
    a.maps = arena.take<std::uint32_t>(static_cast<std::size_t>(blocks_at_once_) * pass_map_bytes(grid_) /
                                       sizeof(std::uint32_t));
  }
  bytes = arena.bytes();
  return a;
}

std::size_t PublishedPlan::scratch_bytes() const {
  std::size_t bytes = 0;
  lay_out(nullptr, bytes);
  return bytes;
}

PublishedArrays PublishedPlan::arrays(void* scratch) const {
  std::size_t bytes = 0;
  return lay_out(static_cast<std::uint8_t*>(scratch), bytes);
}

void PublishedPlan::launch(const Plane<const std::uint8_t>& picture, void* scratch,
                           const Plane<std::uint8_t>& edges, Thresholds* thresholds, const cudaEvent_t* marks,
                           cudaStream_t stream) const {
  const PublishedArrays a = arrays(scratch);
  const int width = grid_.layout.width, height = grid_.layout.height;
  mark(marks, 0, stream);
  launch_published_gauss_x(picture, width, height, params_.sigma_tenths, a, stream);
  mark(marks, 1, stream);
  launch_published_gauss_y(width, height, params_.sigma_tenths, a, stream);
  mark(marks, 2, stream);
  launch_published_gradient(width, height, a, stream);
  mark(marks, 3, stream);
  launch_published_suppression(width, height, params_, a, stream);
  launch_from_levels(scratch, edges, thresholds, marks == nullptr ? nullptr : marks + 4, stream);
}

void PublishedPlan::launch_from_levels(void* scratch, const Plane<std::uint8_t>& edges,
                                       Thresholds* thresholds, const cudaEvent_t* marks,
                                       cudaStream_t stream) const {
  PublishedArrays a = arrays(scratch);
  if (thresholds != nullptr) a.thresholds = thresholds;
  const PassMemory memory{shared_maps_, blocks_at_once_};
  const std::size_t pixels = static_cast<std::size_t>(grid_.layout.width) * grid_.layout.height;
  mark(marks, 0, stream);
  if (!params_.fixed) launch_published_sm(grid_, params_.candidates, a, memory, stream);
  mark(marks, 1, stream);
  if (!params_.fixed) launch_published_prob(pixels, params_.candidates, a, stream);
  mark(marks, 2, stream);
  if (!params_.fixed) launch_published_counts(grid_, params_.candidates, a, stream);
  mark(marks, 3, stream);
  launch_published_search(grid_, params_, a, stream);
  mark(marks, 4, stream);
  if (!params_.fixed) launch_published_fallback(grid_, params_.candidates, a, stream);
  if (params_.density_scaling) launch_density_scaling(grid_, a.level, a.thresholds, stream);
  mark(marks, 5, stream);
  launch_published_hysteresis(grid_, a, memory, edges, stream);
  mark(marks, 6, stream);
}

const char* PublishedPlan::step_name(int step) {
  static const char* const kNames[kSteps] = {"gauss_x", "gauss_y", "gradient", "suppression", "SM_H",
                                             "Prob",    "P(F(x))", "search",   "fallback",    "hysteresis"};
  return kNames[step];
}

namespace {

class PicturewisePlan final : public DetectorPlan {
 public:
  PicturewisePlan(const CannyParams& params, int width, int height, const DeviceLimits& limits)
      : plan_(params, width, height, limits) {}

  std::size_t scratch_bytes() const override { return plan_.scratch_bytes(); }
  void launch(const PicturePlanes& planes, int pictures, void* scratch, const EdgePlanes& edges,
              Thresholds* thresholds, cudaStream_t stream) const override {
    for (int i = 0; i < pictures; ++i) {
      Thresholds* const own = thresholds == nullptr
                                  ? nullptr
                                  : thresholds + static_cast<std::size_t>(i) * plan_.grid().layout.count;
      plan_.launch(planes[i], scratch, edges[i], own, nullptr, stream);
    }
  }

 private:
  PublishedPlan plan_;
};

}  // namespace

std::unique_ptr<DetectorPlan> make_published_plan(const CannyParams& params, int width, int height, int,
                                                  const DeviceLimits& limits) {
  return std::make_unique<PicturewisePlan>(params, width, height, limits);
}

}  // namespace cu264::vision::cuda
