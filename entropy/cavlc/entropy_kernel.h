// Other kernels in the place of launch_code (code_batch.h): how a library that this one does not link brings
// them to the encoder, which so can be compared with itself.
#pragma once

#include <cstddef>

struct CUstream_st;  // cudaStream_t points to it

namespace cu264::core {
struct BatchView;
}

namespace cu264::entropy {

struct CodeScratch;
struct GroupBits;

struct EntropyKernel {
  const char* name;
  // Memory of its own for batches of up to `pictures`; it comes aligned to 256 and holds anything.
  std::size_t (*scratch_bytes)(int pictures, int mb_width, int mb_height);
  // The same result as launch_code. Asynchronous on `stream`; throws cu264::Error if a launch is refused.
  void (*launch)(const core::BatchView& batch, const CodeScratch& scratch, void* own, const GroupBits& bits,
                 CUstream_st* stream);
};

}  // namespace cu264::entropy
