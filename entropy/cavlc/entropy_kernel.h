// Kernels that can take the place of launch_code (code_batch.h). Through this interface the encoder uses the
// papers' kernels, which may also come from a library that it does not link.
#pragma once

#include <cstddef>

struct CUstream_st;  // cudaStream_t points to it

namespace cu264::core {
struct BatchView;
}

namespace cu264::entropy {

struct BlockCodes;
struct CodeScratch;
struct GroupBits;

struct EntropyKernel {
  const char* name;
  // Bytes of the kernel's own memory for batches of up to `pictures`. The memory is aligned to 256 and not
  // initialised.
  std::size_t (*scratch_bytes)(int pictures, int mb_width, int mb_height);
  // Leaves the same result as launch_code. Asynchronous on `stream`; throws cu264::Error if a launch is
  // refused.
  void (*launch)(const core::BatchView& batch, const CodeScratch& scratch, void* own, const GroupBits& bits,
                 CUstream_st* stream);
  // Does all of this except joining the blocks, and returns the blocks' codes, which lie in `own`. Null if
  // the kernels leave other codes.
  BlockCodes (*launch_blocks)(const core::BatchView& batch, const CodeScratch& scratch, void* own,
                              CUstream_st* stream) = nullptr;
};

}  // namespace cu264::entropy
