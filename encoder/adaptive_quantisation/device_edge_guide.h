// The edge maps that guide adaptive quantisation, on the device: GUD-Canny over the luma of a batch, and the
// sums of its macroblocks with the edges of those maps. Maps of large batches are found in several rounds,
// which take turns in the same memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "encoder/adaptive_quantisation/device_qp_offsets.h"
#include "vision/cuda/canny_plan.h"

namespace cu264::encoder::cuda {

struct EdgeGuideMemory {
  void* scratch = nullptr;       // [scratch_bytes()]
  std::uint8_t* maps = nullptr;  // [map_bytes()]: those of a round
};

// With this many pixels in a round the detector's kernels fill any device; more would only take memory.
inline constexpr std::int64_t kEdgeRoundPixels = std::int64_t{1} << 27;

class EdgeGuide {
 public:
  // For batches of up to `pictures`, on the current device. The detector's parameters have been checked.
  // Throws cu264::Error.
  EdgeGuide(const canny::Params& detector, int width, int height, int pictures,
            std::int64_t round_pixels = kEdgeRoundPixels);

  std::size_t scratch_bytes() const { return plan_.scratch_bytes(); }
  std::size_t map_bytes() const {
    return static_cast<std::size_t>(distance_) * static_cast<std::size_t>(round_);
  }

  // Fills sums[picture][mb]. If pinned_maps is not null, it receives the maps, [picture][y][x] without
  // padding, once the stream has reached that point.
  void launch_sums(const PicturePlanes& luma, int pictures, const EdgeGuideMemory& memory,
                   MacroblockSums* sums, std::uint8_t* pinned_maps, cudaStream_t stream) const;

 private:
  int width_, height_;
  int round_;  // pictures
  std::ptrdiff_t pitch_, distance_;
  vision::cuda::CannyPlan plan_;
};

}  // namespace cu264::encoder::cuda
