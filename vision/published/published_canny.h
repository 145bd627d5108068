// GUD-Canny on the GPU in the paper's form (Algorithms 1 to 6), with a kernel for each step: hysteresis runs
// by passes, in a thread block for each candidate pair and sub-image. It is kept for comparison with
// canny_plan.h and gives the same maps.
//
// Sub-images without thresholds of their own get them in a step that the paper lacks. Otherwise this form
// differs from the paper as follows: neighbours are combined by OR; a pass ends with a vote of the whole
// block and reads what the pass before wrote; a thread may have several regions, so that any height is
// possible; the arithmetic is fixed-point.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vision/cuda/canny_plan.h"
#include "vision/cuda/cuda_detector.h"
#include "vision/cuda/planes.h"
#include "vision/cuda/words.h"
#include "vision/params.h"
#include "vision/thresholds.h"

namespace cu264::vision::cuda {

// The results of Algorithm 4 for a sub-image, by level x = 1 .. NX: d_PF and d_histo.
struct LevelDistribution {
  float with_level[kTopLevel + 1];         // P(F(x)), which is 0 where |F(x)| is
  std::uint32_t histogram[kTopLevel + 1];  // pixels with Prob = x; 0 where P(F(x)) is
};

// The words of device memory in which the thread blocks of Algorithm 4 sum: |Prob_x|, |F(x)|, the histogram.
struct LevelSums {
  std::uint32_t prob[kTopLevel + 1];
  std::uint32_t with_level[kTopLevel + 1];
  std::uint32_t histogram[kTopLevel + 1];
};

// The arrays of the stages, as in vision/published/reference_stages.h but for the type of sm.
struct PublishedArrays {
  std::uint16_t* horizontal = nullptr;
  std::uint16_t* smoothed = nullptr;
  std::int16_t* dx = nullptr;
  std::int16_t* dy = nullptr;
  std::uint16_t* magnitude = nullptr;
  std::int32_t* largest = nullptr;
  std::uint8_t* level = nullptr;
  std::uint32_t* sm = nullptr;
  std::uint8_t* prob = nullptr;
  LevelSums* sums = nullptr;                  // [sub-image]
  LevelDistribution* distribution = nullptr;  // [sub-image]
  LevelCounts* pooled = nullptr;              // 0 where all sub-images have thresholds of their own
  Thresholds* thresholds = nullptr;           // [sub-image]
  std::uint32_t* maps = nullptr;              // for sub-images whose maps do not fit into shared memory
};

class PublishedPlan {
 public:
  PublishedPlan(const CannyParams& params, int width, int height, const DeviceLimits& limits);

  std::size_t scratch_bytes() const;
  PublishedArrays arrays(void* scratch) const;

  // Takes one picture. If `thresholds` is null, the thresholds stay in scratch. `marks`, if not null, points
  // at kSteps + 1 events, which are recorded before each step and after the last. Throws cu264::Error if a
  // launch is refused.
  void launch(const Plane<const std::uint8_t>& picture, void* scratch, const Plane<std::uint8_t>& edges,
              Thresholds* thresholds, const cudaEvent_t* marks, cudaStream_t stream) const;

  // Launches steps 4 to 8 on the levels in arrays(scratch).level. `marks` points at the event before step 4.
  void launch_from_levels(void* scratch, const Plane<std::uint8_t>& edges, Thresholds* thresholds,
                          const cudaEvent_t* marks, cudaStream_t stream) const;

  // gauss_x and gauss_y, steps 2 to 8 of the paper, and before the last one the fallback, which is ours.
  static constexpr int kSteps = 10;
  static const char* step_name(int step);
  const WordGrid& grid() const { return grid_; }

 private:
  PublishedArrays lay_out(std::uint8_t* base, std::size_t& bytes) const;

  CannyParams params_;
  DeviceLimits limits_;
  WordGrid grid_;
  bool shared_maps_;
  int blocks_at_once_;  // thread blocks of the hysteresis runs that have maps in global memory
};

// The plan in the form that a detector takes: it handles the pictures of a batch one after another.
std::unique_ptr<DetectorPlan> make_published_plan(const CannyParams& params, int width, int height,
                                                  int pictures, const DeviceLimits& limits);

}  // namespace cu264::vision::cuda
