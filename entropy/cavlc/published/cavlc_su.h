// CAVLC_SU, the GPU coder of Su et al. (2011, 2014) as the CAVLCU paper describes it in section 3 for
// comparison: two scans and coding by component. Lag packing, its last step, is in lag_packing.h. The encoder
// uses code_batch.h; this coder is for comparison only.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "entropy/cavlc/published/block_codes.h"
#include "entropy/cavlc/published/raster_input.h"

namespace cu264::entropy {

// Bytes of scratch for batches of up to `pictures`. The scratch must be aligned to 256.
std::size_t cavlc_su_scratch_bytes(int pictures, int mb_width, int mb_height);

// Asynchronous on `stream`. Throws cu264::Error if a launch is refused.
void launch_cavlc_su(const RasterInput& input, void* scratch, const ShortCodes& codes, cudaStream_t stream);

}  // namespace cu264::entropy
