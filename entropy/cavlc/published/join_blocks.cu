#include "entropy/cavlc/published/join_blocks.h"

#include <cstddef>
#include <cstdint>

#include "common/cuda/error_check.h"
#include "entropy/cavlc/code_groups.cuh"

namespace cu264::entropy {
namespace {

// Each warp takes one group, each lane one macroblock.
template <bool kModeCodes, class Codes>
__global__ void __launch_bounds__(kThreads)
    join_blocks(const __grid_constant__ CodeJob job, const __grid_constant__ Codes codes) {
  __shared__ std::uint32_t s_edges[kWarps][33];
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  const std::size_t index = blockIdx.x * std::size_t{kWarps} + warp;
  if (index >= job.layout.groups()) return;
  const Group group = group_at(job.batch, job.layout, static_cast<std::uint32_t>(index));
  if (group.first >= group.end) return;
  const MacroblockLane mb(job.batch, group, lane);
  const std::size_t first_block =
      (static_cast<std::size_t>(group.picture) * job.batch.macroblocks_per_picture() + mb.index) *
      kBlocksPerMacroblock;
  const Neighbours neighbours = mb.neighbours(job.batch);
  int header_length = 0, length = 0;
  if (mb.exists) {
    core::BitCounter header;
    mb.put_header<kModeCodes>(header, neighbours);
    length = header_length = static_cast<int>(header.bits);
    for (int slot = 0; slot < kBlocksPerMacroblock; ++slot) length += codes.lengths[first_block + slot];
  }
  GroupWriter<> writer(job.batch, job.bits, group, s_edges[warp], lane);
  const auto put = [&](auto& sink) {
    if (!mb.exists) return;
    mb.put_header<kModeCodes>(sink, neighbours);
    for (int slot = 0; slot < kBlocksPerMacroblock; ++slot) {
      const int bits = codes.lengths[first_block + slot];
      for (int bit = 0; bit < bits; bit += 32) {
        const int count = min(bits - bit, 32);
        sink.put(__funnelshift_rc(codes.word(first_block + slot, bit / 32), 0, 32 - count), count);
      }
    }
  };
  writer.write(mb, header_length, length, put, [](const GroupRecord&, std::uint32_t) { return false; });
}

template <class Codes>
void launch(const BatchView& batch, const Codes& codes, const GroupBits& bits, cudaStream_t stream) {
  CodeJob job{};
  job.batch = batch;
  job.layout = group_layout(batch);
  job.bits = bits;
  const auto kernel = batch.mode_codes ? join_blocks<true, Codes> : join_blocks<false, Codes>;
  kernel<<<static_cast<unsigned>((job.layout.groups() + kWarps - 1) / kWarps), kThreads, 0, stream>>>(job,
                                                                                                      codes);
  check_launch("join_blocks");
}

}  // namespace

void launch_join(const BatchView& batch, const BlockCodes& codes, const GroupBits& bits,
                 cudaStream_t stream) {
  launch(batch, codes, bits, stream);
}
void launch_join(const BatchView& batch, const ShortCodes& codes, const GroupBits& bits,
                 cudaStream_t stream) {
  launch(batch, codes, bits, stream);
}

}  // namespace cu264::entropy
