// GUD-Canny on the GPU in the production form: ridges, levels, link, counts, hysteresis. These are five
// kernels where a sub-image's labels fit into shared memory. A batch of pictures passes through one sequence
// of launches, none of which waits for the host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "vision/cuda/canny_launches.h"
#include "vision/cuda/planes.h"
#include "vision/cuda/words.h"
#include "vision/params.h"

namespace cu264::vision::cuda {

// The limits of the device that the plan is for.
struct DeviceLimits {
  int multiprocessors;
  std::size_t shared_block_bytes;  // the most shared memory that a block can opt in to
  std::size_t shared_bytes;        // of a multiprocessor
  int threads;                     // resident on a multiprocessor
};
// Throws cu264::Error.
DeviceLimits device_limits(int device);

// The places of a batch's arrays in scratch; see the kernels' headers for their layout.
struct CannyArrays {
  std::uint16_t* magnitude = nullptr;
  std::uint16_t* tile_largest = nullptr;
  std::uint32_t* levels = nullptr;
  std::int32_t* largest = nullptr;
  std::uint32_t* sums = nullptr;
  LevelCounts* counts = nullptr;
  unsigned* blocks_done = nullptr;
  Thresholds* thresholds = nullptr;  // [picture][sub-image]
  std::uint32_t* maps = nullptr;
  std::uint32_t* parents = nullptr;
};

// Dense arrays of two stages, for comparison: the kernels do not need them. Null where not wanted.
struct CannyStageOutputs {
  std::uint8_t* levels = nullptr;  // [picture][y][x]
  std::uint16_t* sm = nullptr;     // [picture][y][x]
};

enum class Labelling {
  automatic,
  global,  // in global memory even where shared memory would do
};

// Holds the decisions that are made once for all batches of pictures of one size.
class CannyPlan {
 public:
  CannyPlan(const CannyParams& params, int width, int height, int pictures, const DeviceLimits& limits,
            Labelling labelling = Labelling::automatic);

  // Scratch for the plan's number of pictures is aligned to 256 bytes and needs no initial content.
  std::size_t scratch_bytes() const;
  CannyArrays arrays(void* scratch) const;

  // Takes up to the plan's number of pictures. `thresholds` is laid out as CannyArrays::thresholds; if it is
  // null, they stay in scratch. Throws cu264::Error if a launch is refused.
  void launch(const PicturePlanes& planes, int pictures, void* scratch, const EdgePlanes& edges,
              Thresholds* thresholds, const CannyStageOutputs& stages, cudaStream_t stream) const;

  // Launches only the kernels after the levels. Before, arrays(scratch).levels must hold the levels, and
  // counts and blocks_done must be zero.
  void launch_from_levels(int pictures, void* scratch, const EdgePlanes& edges, Thresholds* thresholds,
                          const CannyStageOutputs& stages, cudaStream_t stream) const;

  const WordGrid& grid() const { return grid_; }
  int parts() const { return parts_; }

 private:
  CannyArrays lay_out(std::uint8_t* base, std::size_t& bytes) const;

  CannyParams params_;
  int pictures_;
  DeviceLimits limits_;
  WordGrid grid_;
  bool shared_ = false;
  int parts_ = 1;  // LinkWork's
  int sum_planes_ = 1;
  int lows_at_once_ = 1;  // GlobalLabels::lows
};

}  // namespace cu264::vision::cuda
