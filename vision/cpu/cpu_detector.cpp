// The detector on the processor: rows, then sub-images, shared among the threads of an arena.
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "vision/backend.h"
#include "vision/cpu/edge_flood.h"
#include "vision/cpu/level_plane.h"
#include "vision/cpu/linking_forest.h"
#include "vision/cpu/pass_hysteresis.h"
#include "vision/reference_stages.h"

namespace cu264::vision {
namespace {

// What a thread works with; kept from sub-image to sub-image.
struct Scratch {
  LinkingForest forest;
  PassHysteresis hysteresis;
  EdgeFlood flood;
  std::vector<std::uint16_t> sm;
};

int usable_threads(int threads) {
  const int cores = tbb::info::default_concurrency();
  return threads > 0 ? std::min(threads, cores) : cores;
}

class CpuDetector : public canny::DetectorBackend {
 public:
  CpuDetector(const CannyParams& params, canny::Form form, int width, int height, int threads)
      : params_(params),
        form_(form),
        all_(sub_images(width, height, params.partition)),
        arena_(usable_threads(threads)),
        levels_(params, width, height),
        counts_(all_.count),
        thresholds_(all_.count) {}

  void detect(const canny::DetectorJob& job) override {
    arena_.execute([&] {
      for (int i = 0; i < job.pictures.count; ++i) {
        levels_.compute(job.pictures.data + i * job.pictures.distance, job.pictures.pitch);
        find_thresholds();
        mark_edges(job.edges.data + i * job.edges.distance, job.edges.pitch);
        if (job.thresholds)
          std::copy(thresholds_.begin(), thresholds_.end(), job.thresholds + i * all_.count);
      }
    });
  }

 private:
  LevelView view(int index) const { return view_of(levels_.levels(), all_.width, sub_image(all_, index)); }

  void find_thresholds() {
    if (params_.fixed) {
      thresholds_.assign(all_.count, fixed_thresholds(params_.fixed_low, params_.fixed_high));
      return;
    }
    tbb::parallel_for(0, all_.count, [this](int i) {
      counts_[i] = form_ == canny::Form::shared ? shared_counts(view(i)) : published_counts(view(i));
    });
    LevelCounts pooled;
    for (const LevelCounts& counts : counts_) {
      for (int x = 0; x <= kTopLevel; ++x) {
        pooled.with_level[x] += counts.with_level[x];
        pooled.histogram[x] += counts.histogram[x];
      }
    }
    const int highest = highest_candidate(params_.candidates);
    const Thresholds fallback = fallback_thresholds(pooled, highest);
    for (int i = 0; i < all_.count; ++i) {
      thresholds_[i] = sub_image_thresholds(counts_[i], fallback, highest);
    }
    if (!params_.density_scaling) return;
    const std::int64_t pixels = static_cast<std::int64_t>(all_.width) * all_.height;
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

  void count(int level, int sm, LevelCounts& counts) const {
    const int highest = highest_candidate(params_.candidates);
    const int prob = probability(sm, pair_count(params_.candidates));
    counts.with_level[level] += counts_in_level(level, prob, highest);
    counts.histogram[prob] += counts_in_histogram(prob, highest);
  }

  // Pixels outside the forest have SM 0, and count nowhere.
  LevelCounts shared_counts(const LevelView& levels) {
    LevelCounts counts;
    for (const LinkingForest::Node& node : scratch_.local().forest.sums(levels, params_.candidates)) {
      count(node.level, node.sm, counts);
    }
    return counts;
  }

  LevelCounts published_counts(const LevelView& levels) {
    Scratch& scratch = scratch_.local();
    scratch.sm.resize(static_cast<std::size_t>(levels.width) * static_cast<std::size_t>(levels.height));
    published_sums(levels, params_.candidates, scratch.hysteresis, scratch.sm.data(), levels.width);
    LevelCounts counts;
    const std::uint16_t* sm = scratch.sm.data();
    for (int y = 0; y < levels.height; ++y) {
      for (int x = 0; x < levels.width; ++x) count(levels.row(y)[x], *sm++, counts);
    }
    return counts;
  }

  void mark_edges(std::uint8_t* edges, std::ptrdiff_t pitch) {
    tbb::parallel_for(0, all_.count, [&](int i) {
      const Rectangle window = sub_image(all_, i);
      std::uint8_t* const to = edges + window.y * pitch + window.x;
      Scratch& scratch = scratch_.local();
      if (form_ == canny::Form::shared) {
        scratch.flood.run(view(i), thresholds_[i], to, pitch);
        return;
      }
      scratch.hysteresis.run(view(i), thresholds_[i].low, thresholds_[i].high);
      for (int y = 0; y < window.height; ++y) {
        for (int x = 0; x < window.width; ++x) to[y * pitch + x] = scratch.hysteresis.edge(x, y) ? kEdge : 0;
      }
    });
  }

  CannyParams params_;
  canny::Form form_;
  SubImages all_;
  tbb::task_arena arena_;
  LevelPlane levels_;
  std::vector<LevelCounts> counts_;
  std::vector<Thresholds> thresholds_;
  tbb::enumerable_thread_specific<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<canny::DetectorBackend> open_cpu_detector(const CannyParams& params, canny::Form form,
                                                          int width, int height, int threads) {
  return std::make_unique<CpuDetector>(params, form, width, height, threads);
}

}  // namespace cu264::vision
