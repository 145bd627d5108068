// The search for whole-sample vectors between the source pictures of a step and those before
// (core/motion_search.h). It needs no reconstruction.
#pragma once

#include <cuda_runtime_api.h>

#include "cu264/encoder.h"
#include "encoder/cuda/inter/chain_view.h"

namespace cu264::encoder::cuda {

// Fills ChainView::quarter, half, whole and, except with Preset::fast, blocks. It reads the sources, whole[1]
// of the picture before, and the pictures' QPs.
//
// `together`: this many pictures go through all passes before the next do, so that their planes stay in the
// cache; 0: all of them.
void launch_motion_search(const StepView& step, Preset preset, cudaStream_t stream, int together = 0);

// Its passes, in their order.
void launch_search_quarter(const StepView& step, Preset preset, const PictureRange& pictures,
                           cudaStream_t stream);
void launch_search_half(const StepView& step, Preset preset, const PictureRange& pictures,
                        cudaStream_t stream);
void launch_search_whole(const StepView& step, Preset preset, int pass, const PictureRange& pictures,
                         cudaStream_t stream);
void launch_search_blocks(const StepView& step, Preset preset, const PictureRange& pictures,
                          cudaStream_t stream);

}  // namespace cu264::encoder::cuda
