// A slice header a thread.
#include "encoder/cuda/slice_headers.h"

#include "common/cuda/error_check.h"
#include "core/block.h"

namespace cu264::encoder::cuda {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    slice_headers_kernel(const __grid_constant__ BatchView batch, core::SliceHeaderBits* d_headers) {
  const int index = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (index >= batch.pictures * batch.slices) return;
  const int picture = index / batch.slices, slice = index % batch.slices;
  const int first_mb = core::slice_first_row(slice, batch.slices, batch.mb_height) * batch.mb_width;
  d_headers[index] = core::slice_header(first_mb, batch.params[picture]);
}

}  // namespace

void launch_slice_headers(const BatchView& batch, core::SliceHeaderBits* d_headers, cudaStream_t stream) {
  const int headers = batch.pictures * batch.slices, blocks = (headers + kThreads - 1) / kThreads;
  slice_headers_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(batch, d_headers);
  check_launch("slice_headers_kernel");
}

}  // namespace cu264::encoder::cuda
