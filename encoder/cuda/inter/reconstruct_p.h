// The stage `reconstruct` of P pictures on the GPU: the passes of encoder/cpu/p_passes.h, each a kernel over
// all pictures of a step.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "cu264/encoder.h"
#include "encoder/cuda/inter/chain_view.h"

namespace cu264::encoder::cuda {

// The bytes of scratch memory that a step of up to `pictures` pictures needs, for this and for
// launch_deblock. The memory must be aligned to 256 bytes.
std::size_t inter_scratch_bytes(int pictures, int mb_width, int mb_height);

// Fills macroblocks, motion, levels, total_coeff and the unfiltered reconstruction of the step's pictures,
// which are P pictures. Their sources and references are in their chains. Asynchronous on `stream`; the
// scratch memory belongs to the launch until it ends. Throws cu264::Error if a launch is refused.
void launch_reconstruct_p(const StepView& step, Preset preset, void* scratch, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
