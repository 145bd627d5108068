// Kernels that can take the place of launch_code (code_batch.h). Through this interface a library that this
// one does not link brings its kernels to the encoder, so that they can be compared with the encoder's own.
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
  // Bytes of the kernel's own memory for batches of up to `pictures`. The memory is aligned to 256 and not
  // initialised.
  std::size_t (*scratch_bytes)(int pictures, int mb_width, int mb_height);
  // Leaves the same result as launch_code. Asynchronous on `stream`; throws cu264::Error if a launch is
  // refused.
  void (*launch)(const core::BatchView& batch, const CodeScratch& scratch, void* own, const GroupBits& bits,
                 CUstream_st* stream);
};

}  // namespace cu264::entropy
