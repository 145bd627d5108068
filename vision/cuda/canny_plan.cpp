#include "vision/cuda/canny_plan.h"

#include <algorithm>

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "vision/cuda/density.h"

namespace cu264::vision::cuda {
namespace {

constexpr std::size_t kLabelBudget = std::size_t{256} << 20;  // more lows at once gain nothing beyond

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, device), "asking for the limits of the device");
  return value;
}

// Into how many parts the lows of a sub-image are cut so that the device is full, and no fuller.
int parts_of(const WordGrid& grid, int pictures, int lows, const DeviceLimits& limits) {
  const auto threads = static_cast<std::size_t>(shared_label_threads(grid, limits.shared_block_bytes));
  const std::size_t resident =
      std::max<std::size_t>(1, std::min(static_cast<std::size_t>(limits.threads) / threads,
                                        limits.shared_bytes / (label_shared_bytes(grid) + 2048)));
  const std::size_t room = resident * static_cast<std::size_t>(limits.multiprocessors);
  const std::size_t work = static_cast<std::size_t>(grid.all.count) * pictures * lows;
  const std::size_t rounds = std::min<std::size_t>((work + room - 1) / room, lows);
  return static_cast<int>((lows + rounds - 1) / rounds);
}

}  // namespace

DeviceLimits device_limits(int device) {
  return {attribute(cudaDevAttrMultiProcessorCount, device),
          static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device)),
          static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device)),
          attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device)};
}

CannyPlan::CannyPlan(const CannyParams& params, int width, int height, int pictures,
                     const DeviceLimits& limits, Labelling labelling)
    : params_(params),
      pictures_(pictures),
      limits_(limits),
      grid_(word_grid(width, height, params.partition)) {
  shared_ = labelling == Labelling::automatic && shared_label_threads(grid_, limits.shared_block_bytes) > 0;
  const int lows = params.fixed ? 1 : params.candidates.count - 1;
  if (shared_) {
    parts_ = parts_of(grid_, pictures, lows, limits);
  } else {
    const std::size_t low_bytes =
        static_cast<std::size_t>(pictures) * grid_.words() * (1 + kNodesPerWord) * 4;
    lows_at_once_ = static_cast<int>(std::clamp<std::size_t>(kLabelBudget / low_bytes, 1, lows));
  }
  sum_planes_ = sum_planes(params.candidates, parts_);
}

CannyArrays CannyPlan::lay_out(std::uint8_t* base, std::size_t& bytes) const {
  const auto pictures = static_cast<std::size_t>(pictures_);
  const std::size_t words = pictures * grid_.words(),
                    subs = pictures * static_cast<std::size_t>(grid_.all.count);
  CannyArrays arrays;
  Arena arena(base);
  arrays.magnitude = arena.take<std::uint16_t>(words * kWordPixels);
  // Fewer pictures may be cut into smaller tiles.
  arrays.tile_largest = arena.take<std::uint16_t>(
      pictures * static_cast<std::size_t>(ridge_tiles(grid_.all.width, grid_.all.height, 1)));
  arrays.levels = arena.take<std::uint32_t>(words * kLevelPlanes);
  arrays.largest = arena.take<std::int32_t>(pictures);
  arrays.thresholds = arena.take<Thresholds>(subs);
  if (!params_.fixed) {
    arrays.sums = arena.take<std::uint32_t>(words * static_cast<std::size_t>(parts_ * sum_planes_));
    arrays.counts = arena.take<LevelCounts>(subs);
    arrays.blocks_done = arena.take<unsigned>(pictures);
  }
  if (!shared_) {
    const std::size_t labelled = words * static_cast<std::size_t>(lows_at_once_);
    arrays.maps = arena.take<std::uint32_t>(labelled);
    arrays.parents = arena.take<std::uint32_t>(labelled * kNodesPerWord);
  }
  bytes = arena.bytes();
  return arrays;
}

std::size_t CannyPlan::scratch_bytes() const {
  std::size_t bytes = 0;
  lay_out(nullptr, bytes);
  return bytes;
}

CannyArrays CannyPlan::arrays(void* scratch) const {
  std::size_t bytes = 0;
  return lay_out(static_cast<std::uint8_t*>(scratch), bytes);
}

void CannyPlan::launch(const PicturePlanes& planes, int pictures, void* scratch, const EdgePlanes& edges,
                       Thresholds* thresholds, const CannyTaps& taps, cudaStream_t stream) const {
  const CannyArrays a = arrays(scratch);
  const int width = grid_.all.width, height = grid_.all.height;
  const Ridges ridges{a.magnitude, grid_.words_x * kWordPixels, a.tile_largest,
                      ridge_tiles(width, height, pictures)};
  launch_ridges(planes, width, height, pictures, params_.sigma_tenths, ridges, stream);
  launch_level_words(grid_, pictures, params_, ridges,
                     {a.levels, a.largest, a.counts, a.blocks_done, taps.levels}, stream);
  launch_from_levels(pictures, scratch, edges, thresholds, taps, stream);
}

void CannyPlan::launch_from_levels(int pictures, void* scratch, const EdgePlanes& edges,
                                   Thresholds* thresholds, const CannyTaps& taps, cudaStream_t stream) const {
  const CannyArrays a = arrays(scratch);
  Thresholds* const chosen = thresholds != nullptr ? thresholds : a.thresholds;
  const GlobalLabels labels{a.maps, a.parents, lows_at_once_};
  if (!params_.fixed) {
    const LinkWork link{a.levels, a.sums, parts_, sum_planes_};
    if (shared_) {
      launch_link_shared(grid_, pictures, params_.candidates, link, limits_.shared_block_bytes, stream);
    } else {
      launch_link_global(grid_, pictures, params_.candidates, link, labels, stream);
    }
    launch_counts(grid_, pictures, params_.candidates, link, {a.counts, a.blocks_done, chosen, taps.sm},
                  stream);
    if (params_.density_scaling) launch_density_scaling(grid_, pictures, a.levels, chosen, stream);
  }
  const EdgeWork work{a.levels, chosen, edges};
  if (shared_) {
    launch_hysteresis_shared(grid_, pictures, params_, work, limits_.shared_block_bytes, stream);
  } else {
    launch_hysteresis_global(grid_, pictures, params_, work, labels, stream);
  }
}

}  // namespace cu264::vision::cuda
