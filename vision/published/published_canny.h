// GUD-Canny in the paper's form (Algorithms 1 to 6), a kernel a step: all hysteresis by passes, a thread
// block for each candidate pair and sub-image. Kept beside canny.h to compare with; the maps are the same.
//
// Put right against the paper: neighbours are OR'ed; a pass ends with a vote of the whole block and reads
// what the one before wrote; a thread may have several regions, so that any height goes; arithmetic is
// fixed-point.
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

// The stages' arrays, as in vision/published/reference_stages.h but for sm.
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
  LevelCounts* counts = nullptr;  // [sub-image]
  LevelCounts* pooled = nullptr;
  Thresholds* thresholds = nullptr;  // [sub-image]
  std::uint32_t* maps = nullptr;     // where a sub-image's do not fit into shared memory
};

class PublishedPlan {
 public:
  PublishedPlan(const CannyParams& params, int width, int height, const DeviceLimits& limits);

  std::size_t scratch_bytes() const;
  PublishedArrays arrays(void* scratch) const;

  // One picture. `thresholds` null: they stay in scratch. `marks`, if not null: kSteps + 1 events, recorded
  // before each step and after the last. Throws cu264::Error if a launch is refused.
  void launch(const Plane<const std::uint8_t>& picture, void* scratch, const Plane<std::uint8_t>& edges,
              Thresholds* thresholds, const cudaEvent_t* marks, cudaStream_t stream) const;

  // Steps 4 to 8, of the levels in arrays(scratch).level; `marks` from the one before step 4 on.
  void launch_from_levels(void* scratch, const Plane<std::uint8_t>& edges, Thresholds* thresholds,
                          const cudaEvent_t* marks, cudaStream_t stream) const;

  static constexpr int kSteps = 8;
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

// The plan as a detector takes it: pictures one after the other.
std::unique_ptr<DetectorPlan> make_published_plan(const CannyParams& params, int width, int height,
                                                  int pictures, const DeviceLimits& limits);

}  // namespace cu264::vision::cuda
