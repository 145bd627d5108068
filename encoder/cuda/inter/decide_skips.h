// P_Skip by what the neighbours of each macroblock have become (core/skip_decision.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "cu264/encoder.h"
#include "encoder/cuda/inter/chain_view.h"

namespace cu264::encoder::cuda {

// The bytes of scratch memory that launch_decide_skips needs for that many pictures.
std::size_t skips_scratch_bytes(int pictures, int mb_width, int mb_height);

// Turns inter macroblocks into P_Skip where that is better, as encoder/cpu/skip_decision_inl.h does: changes
// macroblocks, motion, total_coeff and reconstruction of the step's batch, and InterChoice::rd_cost. It
// follows launch_code_inter and launch_estimate_intra. The scratch memory belongs to the launch until it
// ends. Asynchronous on `stream`. Throws cu264::Error if a launch is refused.
void launch_decide_skips(const StepView& step, Preset preset, void* scratch, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
