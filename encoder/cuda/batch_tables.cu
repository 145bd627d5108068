// Each thread makes one slice header; the first thread of a picture also copies what the host says about the
// picture.
#include "encoder/cuda/batch_tables.h"

#include "common/cuda/error_check.h"
#include "core/block.h"

namespace cu264::encoder::cuda {
namespace {

// A block of one warp finds room beside the kernels of other encoders, which leave few registers free.
constexpr int kThreads = 32;

__global__ void __launch_bounds__(kThreads)
    batch_tables_kernel(const __grid_constant__ BatchView batch, const __grid_constant__ HostTables host,
                        const __grid_constant__ DeviceTables d) {
  const int index = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (index >= batch.pictures * batch.slices) return;
  const int picture = index / batch.slices, slice = index % batch.slices;
  const core::PictureParams params = host.params[picture];
  if (slice == 0) {
    d.sources[picture] = host.sources[picture];
    d.params[picture] = params;
  }
  const int first_mb = core::slice_first_row(slice, batch.slices, batch.mb_height) * batch.mb_width;
  d.slice_headers[index] =
      params.key ? core::slice_header(first_mb, params) : core::p_slice_header(first_mb, params, batch.cabac);
}

}  // namespace

void launch_batch_tables(const BatchView& batch, const HostTables& host, const DeviceTables& d,
                         cudaStream_t stream) {
  const int headers = batch.pictures * batch.slices, blocks = (headers + kThreads - 1) / kThreads;
  batch_tables_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(batch, host, d);
  check_launch("batch_tables_kernel");
}

}  // namespace cu264::encoder::cuda
