#include "vision/published/open_detector.h"

#include <vector>

#include "vision/cpu/edge_linker.h"
#include "vision/detector_backend.h"
#include "vision/published/pass_hysteresis.h"
#if defined(CU264_WITH_CUDA)
#include "vision/published/published_canny.h"
#endif

namespace cu264::published {
namespace {

using vision::CannyParams;
using vision::EdgeLinker;
using vision::LevelCounts;
using vision::LevelView;

class PassLinker final : public EdgeLinker {
 public:
  LevelCounts counts(const LevelView& levels, const vision::CandidateSet& set) override {
    sm_.resize(static_cast<std::size_t>(levels.width) * static_cast<std::size_t>(levels.height));
    published_sums(levels, set, hysteresis_, sm_.data(), levels.width);
    LevelCounts counts;
    const std::uint16_t* sm = sm_.data();
    for (int y = 0; y < levels.height; ++y) {
      for (int x = 0; x < levels.width; ++x) count(levels.row(y)[x], *sm++, set, counts);
    }
    return counts;
  }

  void mark_edges(const LevelView& levels, const vision::Thresholds& thresholds, std::uint8_t* edges,
                  std::ptrdiff_t pitch) override {
    hysteresis_.run(levels, thresholds.low, thresholds.high);
    for (int y = 0; y < levels.height; ++y) {
      for (int x = 0; x < levels.width; ++x)
        edges[y * pitch + x] = hysteresis_.edge(x, y) ? vision::kEdge : 0;
    }
  }

 private:
  vision::PassHysteresis hysteresis_;
  std::vector<std::uint16_t> sm_;
};

std::unique_ptr<canny::DetectorBackend> open_cpu(const CannyParams& params, int width, int height,
                                                 int threads) {
  const vision::MakeEdgeLinker make = [] {
    return std::unique_ptr<EdgeLinker>(std::make_unique<PassLinker>());
  };
  return vision::open_cpu_detector_with(make, params, width, height, threads);
}

#if defined(CU264_WITH_CUDA)
std::unique_ptr<canny::DetectorBackend> open_cuda(const CannyParams& params, int width, int height, int batch,
                                                  int device) {
  return vision::cuda::open_cuda_detector_with(vision::cuda::make_published_plan, params, width, height,
                                               batch, device);
}
constexpr vision::DetectorBackends kBackends{open_cpu, open_cuda};
#else
constexpr vision::DetectorBackends kBackends{open_cpu, nullptr};
#endif

}  // namespace

canny::Detector open_detector(const canny::Params& params, int width, int height,
                              const canny::ExecutionOptions& execution) {
  return vision::DetectorAccess::open(kBackends, params, width, height, execution);
}

}  // namespace cu264::published
