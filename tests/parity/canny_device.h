// Runs edge detection on the device and downloads the result of each stage.
#pragma once

#include <cstdint>
#include <vector>

#include "vision/cuda/canny_plan.h"
#include "vision/published/reference_stages.h"

namespace cu264::parity {

struct GrayPicture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> samples;  // without padding
};

// Says how pictures and edge maps lie in device memory.
struct Placement {
  int offset = 0;   // bytes by which the first sample is moved off its alignment
  int padding = 0;  // bytes between rows
  bool bottom_up = false;
};

// Detects edges in pictures of one size, all at once. Fills largest, level, sm, counts, thresholds and edges
// of each; the fused kernels store no other stage.
std::vector<vision::Stages> production_stages(
    const vision::CannyParams& params, const std::vector<GrayPicture>& pictures,
    vision::cuda::Labelling labelling = vision::cuda::Labelling::automatic, const Placement& placement = {});

// The published form, with all stages.
vision::Stages published_stages(const vision::CannyParams& params, const GrayPicture& picture,
                                const Placement& placement = {});

// Runs the stages after the given levels: sm, counts, thresholds and edges, or only edges with `fixed`
// params.
vision::Stages production_from_levels(const vision::CannyParams& params, const GrayPicture& levels,
                                      vision::cuda::Labelling labelling);
vision::Stages published_from_levels(const vision::CannyParams& params, const GrayPicture& levels);

}  // namespace cu264::parity
