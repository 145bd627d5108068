// The CPU backend of canny::Detector. The threads of an arena share the rows of a picture, then its
// sub-images.
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "vision/cpu/edge_flood.h"
#include "vision/cpu/edge_linker.h"
#include "vision/cpu/level_plane.h"
#include "vision/cpu/linking_forest.h"
#include "vision/detector_backend.h"

namespace cu264::vision {
namespace {

// Links edges with one union-find sweep for all candidate pairs.
class ForestLinker final : public EdgeLinker {
 public:
  // Pixels outside the forest have SM 0 and count nowhere.
  LevelCounts counts(const LevelView& levels, const CandidateSet& set) override {
    LevelCounts counts;
    for (const LinkingForest::Node& node : forest_.sums(levels, set)) count(node.level, node.sm, set, counts);
    return counts;
  }

  void mark_edges(const LevelView& levels, const Thresholds& thresholds, std::uint8_t* edges,
                  std::ptrdiff_t pitch) override {
    flood_.run(levels, thresholds, edges, pitch);
  }

 private:
  LinkingForest forest_;
  EdgeFlood flood_;
};

int usable_threads(int threads) {
  const int cores = tbb::info::default_concurrency();
  return threads > 0 ? std::min(threads, cores) : cores;
}

class CpuDetector : public canny::DetectorBackend {
 public:
  CpuDetector(MakeEdgeLinker make_linker, const CannyParams& params, int width, int height, int threads)
      : params_(params),
        layout_(sub_image_layout(width, height, params.partition)),
        arena_(usable_threads(threads)),
        levels_(params, width, height),
        counts_(layout_.count),
        thresholds_(layout_.count),
        linkers_(make_linker) {}

  void detect(const canny::DetectorJob& job) override {
    arena_.execute([&] {
      for (int i = 0; i < job.pictures.count; ++i) {
        levels_.compute(job.pictures.data + i * job.pictures.distance, job.pictures.pitch);
        find_thresholds();
        mark_edges(job.edges.data + i * job.edges.distance, job.edges.pitch);
        if (job.thresholds)
          std::copy(thresholds_.begin(), thresholds_.end(), job.thresholds + i * layout_.count);
      }
    });
  }

 private:
  LevelView view(int index) const {
    return view_of(levels_.levels(), layout_.width, sub_image(layout_, index));
  }

  void find_thresholds() {
    if (params_.fixed) {
      thresholds_.assign(layout_.count, fixed_thresholds(params_.fixed_low, params_.fixed_high));
      return;
    }
    tbb::parallel_for(0, layout_.count,
                      [this](int i) { counts_[i] = linkers_.local()->counts(view(i), params_.candidates); });
    LevelCounts pooled;
    for (const LevelCounts& counts : counts_) {
      for (int x = 0; x <= kTopLevel; ++x) {
        pooled.with_level[x] += counts.with_level[x];
        pooled.histogram[x] += counts.histogram[x];
      }
    }
    const int highest = highest_candidate(params_.candidates);
    const Thresholds fallback = fallback_thresholds(pooled, highest);
    for (int i = 0; i < layout_.count; ++i) {
      thresholds_[i] = sub_image_thresholds(counts_[i], fallback, highest);
    }
    if (!params_.density_scaling) return;
    const std::int64_t pixels = static_cast<std::int64_t>(layout_.width) * layout_.height;
    const int scale = density_scale(busy_pixels(pixels), pixels);
    for (Thresholds& thresholds : thresholds_) thresholds = scaled_to_density(thresholds, scale);
  }

  std::int64_t busy_pixels(std::int64_t pixels) const {
    const std::uint8_t* const levels = levels_.levels();
    using Range = tbb::blocked_range<std::int64_t>;
    return tbb::parallel_reduce(
        Range(0, pixels, 1 << 16), std::int64_t{0},
        [&](const Range& range, std::int64_t busy) {
          for (std::int64_t i = range.begin(); i < range.end(); ++i) busy += levels[i] >= kBusyLevel;
          return busy;
        },
        std::plus<>());
  }

  void mark_edges(std::uint8_t* edges, std::ptrdiff_t pitch) {
    tbb::parallel_for(0, layout_.count, [&](int i) {
      const Rectangle window = sub_image(layout_, i);
      linkers_.local()->mark_edges(view(i), thresholds_[i], edges + window.y * pitch + window.x, pitch);
    });
  }

  CannyParams params_;
  SubImageLayout layout_;
  tbb::task_arena arena_;
  LevelPlane levels_;
  std::vector<LevelCounts> counts_;
  std::vector<Thresholds> thresholds_;
  tbb::enumerable_thread_specific<std::unique_ptr<EdgeLinker>> linkers_;
};

}  // namespace

std::unique_ptr<canny::DetectorBackend> open_cpu_detector_with(MakeEdgeLinker make_linker,
                                                               const CannyParams& params, int width,
                                                               int height, int threads) {
  return std::make_unique<CpuDetector>(make_linker, params, width, height, threads);
}

std::unique_ptr<canny::DetectorBackend> open_cpu_detector(const CannyParams& params, int width, int height,
                                                          int threads) {
  const MakeEdgeLinker make = [] { return std::unique_ptr<EdgeLinker>(std::make_unique<ForestLinker>()); };
  return open_cpu_detector_with(make, params, width, height, threads);
}

}  // namespace cu264::vision
