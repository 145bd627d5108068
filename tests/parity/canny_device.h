// Edge detection on the device, brought back stage by stage.
#pragma once

#include <cstdint>
#include <vector>

#include "vision/cuda/canny_plan.h"
#include "vision/published/reference_stages.h"

namespace cu264::parity {

struct GrayPicture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> samples;  // dense
};

// How pictures and edge maps lie in device memory.
struct Placement {
  int offset = 0;   // bytes that the first sample is moved off its alignment
  int padding = 0;  // bytes between rows
  bool bottom_up = false;
};

// Pictures of one size, all at once. Fills largest, level, sm, counts, thresholds and edges of each; the
// fused kernels hold none of the other stages.
std::vector<vision::Stages> production_stages(
    const vision::CannyParams& params, const std::vector<GrayPicture>& pictures,
    vision::cuda::Labelling labelling = vision::cuda::Labelling::automatic, const Placement& placement = {});

// The published form: all stages.
vision::Stages published_stages(const vision::CannyParams& params, const GrayPicture& picture,
                                const Placement& placement = {});

// From given levels on: sm, counts, thresholds and edges. `fixed` params: edges alone.
vision::Stages production_from_levels(const vision::CannyParams& params, const GrayPicture& levels,
                                      vision::cuda::Labelling labelling);
vision::Stages published_from_levels(const vision::CannyParams& params, const GrayPicture& levels);

}  // namespace cu264::parity
