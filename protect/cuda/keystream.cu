#include "protect/cuda/keystream.h"

#include <algorithm>

#include "common/cuda/error_check.h"
#include "protect/cuda/aes_table.cuh"

namespace cu264::protect::cuda {
namespace {

using Table = AesTable<1>;

constexpr int kThreads = 512;

// Each thread computes one block after another; the grid has as many threads as the table leaves memory for.
__global__ void __launch_bounds__(kThreads)
    keystream_kernel(const __grid_constant__ AesKey key, const __grid_constant__ KeystreamRange range,
                     std::uint64_t all, uint4* d_out) {
  __shared__ std::uint32_t s_table[Table::kWords];
  Table::fill(s_table);
  __syncthreads();
  const Table aes(s_table, static_cast<int>(threadIdx.x) & 31);
  const std::uint32_t picture_blocks = range.macroblocks * range.blocks;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < all;
       i += std::uint64_t{gridDim.x} * kThreads) {
    const auto picture = static_cast<std::uint32_t>(i / picture_blocks);
    const auto at = static_cast<std::uint32_t>(i % picture_blocks);
    const AesBlock block =
        aes.encrypt(key, keystream_counter(range.nonce, range.first_picture + picture, at / range.blocks,
                                           range.use, at % range.blocks));
    // The most significant byte of a word comes first.
    d_out[i] = make_uint4(__byte_perm(block.words[0], 0, 0x0123), __byte_perm(block.words[1], 0, 0x0123),
                          __byte_perm(block.words[2], 0, 0x0123), __byte_perm(block.words[3], 0, 0x0123));
  }
}

}  // namespace

void launch_keystream(const AesKey& key, const KeystreamRange& range, void* d_out, void* stream) {
  int device = 0, processors = 0, blocks = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, keystream_kernel, kThreads, 0),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const std::uint64_t all = range.bytes() / sizeof(uint4), needed = (all + kThreads - 1) / kThreads;
  const auto grid =
      static_cast<unsigned>(std::min<std::uint64_t>(needed, static_cast<std::uint64_t>(processors * blocks)));
  keystream_kernel<<<grid, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(key, range, all,
                                                                             static_cast<uint4*>(d_out));
  check_launch("keystream_kernel");
}

}  // namespace cu264::protect::cuda
