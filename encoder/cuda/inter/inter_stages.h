// How inter macroblocks, and then the I macroblocks among them, of a step are coded. The kernels that count
// CABAC's bits and those of the 8x8 transform are compiled apart, as those of the search
// (encoder/cuda/search/reconstruct.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "cu264/encoder.h"
#include "encoder/cuda/inter/chain_view.h"

namespace cu264::encoder::cuda {

// Codes all macroblocks of a step as inter macroblocks: fills macroblocks, motion (without mvd), levels,
// total_coeff and reconstruction of its batch, and InterChoice::rd_cost. Asynchronous on `stream`.
void launch_code_inter(const StepView& step, Preset preset, cudaStream_t stream);

// The bytes of scratch memory that launch_search_intra needs for that many pictures.
std::size_t intra_scratch_bytes(int pictures, int mb_height);

// Searches the macroblocks for which InterChoice::intra_is_likely as I macroblocks, in their order, and
// replaces them where that is better. The scratch memory belongs to the launch until it ends.
void launch_search_intra(const StepView& step, Preset preset, void* scratch, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
