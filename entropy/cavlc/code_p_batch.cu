// The kernels for batches that have P pictures, apart from those of code_batch.cu so that both are compiled
// at once.
#include "entropy/cavlc/code_batch.h"
#include "entropy/cavlc/code_groups.cuh"

namespace cu264::entropy {

void launch_code_p(const BatchView& batch, const CodeScratch& scratch, const GroupBits& bits,
                   cudaStream_t stream) {
  launch_code_groups<NoSymbolTransform, true>(batch, {}, scratch, bits, stream);
}

}  // namespace cu264::entropy
