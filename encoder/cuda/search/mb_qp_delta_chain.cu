// Computes mb_qp_delta (core/mb_qp_delta.h), one thread block for each slice. mb_qp_delta is relative to the
// QP of the last macroblock before that codes its QP; a ballot finds that macroblock.
#include "core/mb_qp_delta.h"

#include <string>

#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "cu264/status.h"
#include "encoder/cuda/search/mb_qp_delta_chain.h"

namespace cu264::encoder::cuda {
namespace {

constexpr int kThreads = 1024, kWarps = kThreads / 32;
constexpr int kNobody = -1;

__global__ void __launch_bounds__(kThreads)
    mb_qp_delta_chain_kernel(const __grid_constant__ BatchView batch) {
  __shared__ int s_last[kWarps];  // the QP of each warp's last macroblock that codes one
  const int slice = static_cast<int>(blockIdx.x), picture = static_cast<int>(blockIdx.y);
  const int begin = core::slice_first_row(slice, batch.slices, batch.mb_height) * batch.mb_width;
  const int end = core::slice_first_row(slice + 1, batch.slices, batch.mb_height) * batch.mb_width;
  core::MacroblockRecord* const records =
      batch.macroblocks + static_cast<std::size_t>(picture) * batch.macroblocks_per_picture();
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  int carried = batch.params[picture].qp;
  for (int first = begin; first < end; first += kThreads) {
    const int mb = first + static_cast<int>(threadIdx.x);
    core::MacroblockRecord record;
    if (mb < end) record = records[mb];
    const unsigned told = __ballot_sync(kAllLanes, mb < end && core::has_mb_qp_delta(record));
    const unsigned before = told & ((1u << lane) - 1);
    const int own = __shfl_sync(kAllLanes, record.qp, before != 0 ? 31 - __clz(static_cast<int>(before)) : 0);
    const int last = __shfl_sync(kAllLanes, record.qp, told != 0 ? 31 - __clz(static_cast<int>(told)) : 0);
    if (lane == 0) s_last[warp] = told != 0 ? last : kNobody;
    __syncthreads();
    int predicted = carried;
    for (int w = 0; w < kWarps; ++w) {
      const int handed = s_last[w];
      if (handed == kNobody) continue;
      if (w < warp) predicted = handed;
      carried = handed;
    }
    if (mb < end) {
      core::set_mb_qp_delta(record, before != 0 ? own : predicted);
      records[mb].qp = record.qp;
      records[mb].mb_qp_delta = record.mb_qp_delta;
    }
    __syncthreads();  // s_last is read
  }
}

}  // namespace

void launch_mb_qp_delta_chain(const BatchView& batch, cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>(batch.slices), static_cast<unsigned>(batch.pictures));
  mb_qp_delta_chain_kernel<<<blocks, kThreads, 0, stream>>>(batch);
  check_launch("mb_qp_delta_chain_kernel");
}

}  // namespace cu264::encoder::cuda
