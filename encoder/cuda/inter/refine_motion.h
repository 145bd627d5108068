// Vectors at half and quarter samples of the reference pictures of a step, and the choice of partitions
// (core/motion_refinement.h, core/motion_merge.h).
#pragma once

#include <cuda_runtime_api.h>

#include "cu264/encoder.h"
#include "encoder/cuda/inter/chain_view.h"

namespace cu264::encoder::cuda {

// Fills ChainView::refined, choices and fields: the vectors are in fields[0], and rd_cost and intra_is_likely
// of the choices have their defaults. It reads what launch_motion_search found, source[0], the reference with
// its half samples, and the pictures' QPs. With Preset::fast only the first of `refined` is written.
//
// `together`: this many pictures go through all passes before the next do, so that their planes stay in the
// cache; 0: all of them.
void launch_motion_refinement(const StepView& step, Preset preset, cudaStream_t stream, int together = 0);

// Its passes, in their order.
void launch_refine(const StepView& step, Preset preset, const PictureRange& pictures, cudaStream_t stream);
void launch_merge(const StepView& step, Preset preset, int pass, const PictureRange& pictures,
                  cudaStream_t stream);

}  // namespace cu264::encoder::cuda
