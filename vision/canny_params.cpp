// Checks the parameters of canny::Detector, and of the edges that guide the encoder.
#include <string>
#include <vector>

#include "cu264/canny.h"
#include "cu264/status.h"
#include "vision/detector_backend.h"
#include "vision/gaussian.h"
#include "vision/gradient.h"

namespace cu264 {

std::vector<int> canny::candidates_001() {
  std::vector<int> levels;
  for (int level = 1; level <= 25; ++level) levels.push_back(level);
  return levels;
}

std::vector<int> canny::candidates_003() {
  return Params{}.candidates;
}

namespace vision {
namespace {

[[noreturn]] void reject(const std::string& cause, const std::string& remedy) {
  throw Error(ErrorCode::invalid_argument, cause, remedy);
}

CandidateSet candidate_set(const std::vector<int>& levels) {
  const auto count = static_cast<int>(levels.size());
  if (count < 2 || count > kMaxCandidates) {
    reject(std::to_string(count) + " candidate thresholds", "give 2 to " + std::to_string(kMaxCandidates));
  }
  CandidateSet set;
  set.count = count;
  for (int i = 0; i < count; ++i) {
    if (levels[i] < 1 || levels[i] > kTopLevel) {
      reject("candidate threshold " + std::to_string(levels[i]), "use hundredths, 1 to 100");
    }
    if (i > 0 && levels[i] <= levels[i - 1])
      reject("candidate thresholds do not rise", "sort them and give each once");
    set.level[i] = static_cast<std::uint8_t>(levels[i]);
  }
  for (int v = 0, rank = 0; v <= kTopLevel; ++v) {
    if (rank < count && levels[rank] == v) ++rank;
    set.rank[v] = static_cast<std::uint8_t>(rank);
  }
  return set;
}

}  // namespace

CannyParams canny_params(const canny::Params& params) {
  CannyParams out;
  if (params.sigma_tenths < 1 || params.sigma_tenths > kSigmaSteps) {
    reject("sigma of " + std::to_string(params.sigma_tenths) + " tenths", "use 1 to 20, for 0.1 to 2.0");
  }
  constexpr int kMaxFloor = kMaxMagnitude / kSmoothedOne;
  if (params.noise_floor < 0 || params.noise_floor > kMaxFloor) {
    reject("noise floor " + std::to_string(params.noise_floor), "use 0 to " + std::to_string(kMaxFloor));
  }
  out.sigma_tenths = params.sigma_tenths;
  out.noise_floor = params.noise_floor * kSmoothedOne;
  if (params.fixed) {
    const auto [low, high] = *params.fixed;
    if (low < 0 || low > high || high < 1 || high > kTopLevel) {
      reject("fixed thresholds " + std::to_string(low) + " and " + std::to_string(high),
             "use hundredths, 0 <= low <= high, 1 <= high <= 100");
    }
    out.candidates = candidate_set(canny::candidates_003());
    if (params.density_scaling)
      reject("density scaling cannot change fixed thresholds", "drop one of the two");
    out.partition = Partition::frame;
    out.fixed = true;
    out.fixed_low = static_cast<std::uint8_t>(low), out.fixed_high = static_cast<std::uint8_t>(high);
  } else {
    out.candidates = candidate_set(params.candidates);
    out.partition = params.partition;
    out.density_scaling = params.density_scaling;
  }
  return out;
}

}  // namespace vision
}  // namespace cu264
