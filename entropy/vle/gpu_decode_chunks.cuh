// Decoding with a chunk index: a thread a chunk.
#pragma once

#include <cstdint>
#include <cuda/atomic>

#include "entropy/vle/fast.h"
#include "entropy/vle/gpu_decode.h"
#include "entropy/vle/gpu_decode_reader.cuh"
#include "entropy/vle/gpu_decode_table.cuh"
#include "entropy/vle/gpu_decode_window.cuh"

namespace cu264::vle::gpu_decode {

constexpr int kChunkThreads = 256;

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

// `count` symbols to `output`. False where the stream does not hold them.
template <bool kAligned>
__device__ inline bool decode_chunk(Window& window, const Table& table, std::uint8_t* output, int count) {
  bool right = true;
  int done = 0;
  for (; done + kBatch <= count; done += kBatch) {
    window.ahead();
    std::uint32_t words[kBatch / 4];
    std::uint32_t shortest = Table::kLength;
#pragma unroll
    for (int i = 0; i < kBatch; i += 2) {
      // Two codes are at most 32 bits.
      const std::uint32_t bits = window.bits();
      const std::uint32_t first = table.look_up(bits), first_length = first & Table::kLength;
      const std::uint32_t second = table.look_up(bits << first_length),
                          second_length = second & Table::kLength;
      window.skip(first_length + second_length);
      shortest = min(shortest, min(first_length, second_length));
      const std::uint32_t two = __byte_perm(first, second, 0x0051);
      words[i / 4] = i % 4 == 0 ? two : __byte_perm(words[i / 4], two, 0x5410);
    }
    right = right && shortest != 0;
    if constexpr (kAligned) {
      *reinterpret_cast<uint4*>(output + done) = make_uint4(words[0], words[1], words[2], words[3]);
    } else {
#pragma unroll
      for (int i = 0; i < kBatch; ++i)
        output[done + i] = static_cast<std::uint8_t>(words[i / 4] >> 8 * (i % 4));
    }
    window.arrive();
  }
  for (; done < count; ++done) {
    const std::uint32_t entry = table.look_up(window.bits());
    right = right && (entry & Table::kLength) != 0;
    window.skip(entry & Table::kLength);
    output[done] = static_cast<std::uint8_t>(entry >> 8);
  }
  return right;
}

__global__ void __launch_bounds__(kChunkThreads)
    decode_chunks_kernel(const __grid_constant__ ChunkCall call) {
  __shared__ Table table;
  __shared__ std::uint32_t windows[kChunkThreads / 32][Window::kWords];
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
      Window window(call.stream, windows[threadIdx.x / 32] + threadIdx.x % 32, begin);
      std::uint8_t* const output = call.output + first;
      right = aligned ? decode_chunk<true>(window, table, output, count)
                      : decode_chunk<false>(window, table, output, count);
      right = right && window.position() == end;
    }
    if (!right) report_corrupt(call.result);
  }
}

}  // namespace cu264::vle::gpu_decode
