// What a chain keeps of a picture for the one that is predicted from it (encoder/cpu/p_picture.h).
#pragma once

#include <cuda_runtime_api.h>

#include "encoder/cuda/inter/chain_view.h"

namespace cu264::encoder::cuda {

// Copies the reconstructions of the step's pictures, which are filtered, into next_luma[kWholeSamples] and
// next_chroma of their chains, and repeats their outermost samples in the memory around: core::kReferencePad
// samples of luma and half as many of chroma on each side. The planes and their pitches must be aligned to 8
// bytes. The planes of half samples are not made here. Asynchronous on `stream`. Throws cu264::Error if the
// launch is refused.
void launch_take_reference(const StepView& step, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
