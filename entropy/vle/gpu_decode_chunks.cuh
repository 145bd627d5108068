// Decoding with a chunk index: a thread a chunk.
#pragma once

#include <cstdint>
#include <cuda/atomic>

#include "entropy/vle/fast.h"
#include "entropy/vle/gpu_decode.h"
#include "entropy/vle/gpu_decode_reader.cuh"
#include "entropy/vle/gpu_decode_table.cuh"

namespace cu264::vle::gpu_decode {

struct ChunkCall {
  StreamView stream;
  const std::uint64_t* bits;
  const std::uint64_t* index;
  const Table* table;
  std::uint8_t* output;
  std::uint64_t size;
  DecodeResult* result;
  std::uint64_t capacity_bits;
  std::uint64_t chunks;
};

__device__ inline void report_corrupt(DecodeResult* result) {
  cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(result->corrupt)
      .store(1, cuda::memory_order_relaxed);
}

// `count` symbols, at most kChunkSymbols, to `output`. False where the stream does not hold them.
template <bool kAligned>
__device__ inline bool decode_chunk(CodeReader& reader, const Table& table, std::uint8_t* output, int count) {
  std::uint32_t words[4] = {};
  int done = 0;
  if constexpr (kAligned) {
    for (; done + 16 <= count; done += 16) {
      std::uint32_t shortest = 0xff;
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const std::uint32_t entry = table.look_up(reader.window());
        reader.skip(entry);
        shortest = min(shortest, entry & Table::kLength);
        words[i / 4] = __byte_perm(words[i / 4], entry, (0x3210 & ~(0xf << 4 * (i % 4))) | 5 << 4 * (i % 4));
      }
      if (shortest == 0) return false;
      *reinterpret_cast<uint4*>(output + done) = make_uint4(words[0], words[1], words[2], words[3]);
    }
  }
  for (; done < count; ++done) {
    const std::uint32_t entry = table.look_up(reader.window());
    if ((entry & Table::kLength) == 0) return false;
    reader.skip(entry);
    output[done] = static_cast<std::uint8_t>(entry >> 8);
  }
  return true;
}

__global__ void __launch_bounds__(256) decode_chunks_kernel(const __grid_constant__ ChunkCall call) {
  __shared__ Table table;
  copy(*call.table, table);
  __syncthreads();
  if (table.wrong != 0) {
    if (blockIdx.x == 0 && threadIdx.x == 0) report_corrupt(call.result);
    return;
  }
  const std::uint64_t bits = *call.bits;
  const std::uint64_t chunks = call.chunks;
  const bool aligned = reinterpret_cast<std::uintptr_t>(call.output) % 16 == 0;
  for (std::uint64_t chunk = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; chunk < chunks;
       chunk += std::uint64_t{gridDim.x} * blockDim.x) {
    const std::uint64_t begin = call.index[chunk];
    const std::uint64_t end = chunk + 1 < chunks ? call.index[chunk + 1] : bits;
    const std::uint64_t first = chunk * kChunkSymbols;
    const std::uint64_t left = call.size - first;
    const int count = left < kChunkSymbols ? static_cast<int>(left) : kChunkSymbols;
    bool right = begin <= end && end <= bits && bits <= call.capacity_bits && (begin == 0) == (chunk == 0);
    if (right) {
      CodeReader reader(call.stream, begin);
      std::uint8_t* const output = call.output + first;
      right = aligned ? decode_chunk<true>(reader, table, output, count)
                      : decode_chunk<false>(reader, table, output, count);
      right = right && reader.position() == end;
    }
    if (!right) report_corrupt(call.result);
  }
}

}  // namespace cu264::vle::gpu_decode
