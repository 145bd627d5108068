// Decoding with a chunk index: each thread decodes a chunk.
#pragma once

#include <cstdint>
#include <cuda/atomic>

#include "entropy/vle/fast.h"
#include "entropy/vle/gpu_decode.h"
#include "entropy/vle/gpu_decode_reader.cuh"
#include "entropy/vle/gpu_decode_table.cuh"
#include "entropy/vle/gpu_decode_window.cuh"

namespace cu264::vle::gpu_decode {

constexpr int kChunkThreads = 128;
constexpr int kChunkBlocks = 6;  // on a multiprocessor: as many as shared memory holds

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

// Decodes kBatch symbols, the first one in the lowest byte. Returns false if there is no code.
__device__ inline bool decode_batch(Window& window, const Table& table, std::uint32_t (&words)[kBatch / 4]) {
  std::uint32_t shortest = Table::kLength;
  window.ahead();
#pragma unroll
  for (int i = 0; i < kBatch; i += 2) {
    if (i == kBatch / 2) window.midway();
    // Two codes have at most 32 bits.
    const std::uint32_t bits = window.bits();
    const std::uint32_t first = table.look_up(bits), first_length = first & Table::kLength;
    const std::uint32_t second = table.look_up(bits << first_length), second_length = second & Table::kLength;
    window.skip(first_length + second_length);
    shortest = min(shortest, min(first_length, second_length));
    const std::uint32_t two = __byte_perm(first, second, 0x0051);
    words[i / 4] = i % 4 == 0 ? two : __byte_perm(words[i / 4], two, 0x5410);
  }
  window.arrive();
  return shortest != 0;
}

// One thread decodes `count` symbols to `output`, which has any alignment. Returns false if the stream does
// not hold them.
__device__ inline bool decode_chunk(Window& window, const Table& table, std::uint8_t* output, int count) {
  bool right = true;
  int done = 0;
  for (; done + kBatch <= count; done += kBatch) {
    std::uint32_t words[kBatch / 4];
    right = decode_batch(window, table, words) && right;
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
      output[done + i] = static_cast<std::uint8_t>(words[i / 4] >> 8 * (i % 4));
  }
  for (; done < count; ++done) {
    const std::uint32_t entry = table.look_up(window.bits());
    right = right && (entry & Table::kLength) != 0;
    window.skip(entry & Table::kLength);
    output[done] = static_cast<std::uint8_t>(entry >> 8);
  }
  return right;
}

// kLine symbols of each lane's chunk are collected before they are stored: the warp stores them together, in
// whole lines.
constexpr int kLine = 128;
using Lines = uint4[32 * kLine / 16];

// A warp decodes 32 whole chunks to `output`, which is 16-byte aligned.
__device__ inline bool decode_chunks(Window& window, const Table& table, std::uint8_t* output, int lane,
                                     Lines& lines) {
  constexpr int kVectors = kLine / 16;
  // Vectors of a line are swapped to avoid bank conflicts.
  const auto place = [](int line, int vector) { return line * kVectors + (vector ^ line % kVectors); };
  bool right = true;
  for (int done = 0; done < kChunkSymbols; done += kLine) {
    for (int vector = 0; vector < kVectors; ++vector) {
      std::uint32_t words[kBatch / 4];
      right = decode_batch(window, table, words) && right;
      lines[place(lane, vector)] = make_uint4(words[0], words[1], words[2], words[3]);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int line = 32 / kVectors * i + lane / kVectors, vector = lane % kVectors;
      auto* const to = reinterpret_cast<uint4*>(output + line * kChunkSymbols + done);
      to[vector] = lines[place(line, vector)];
    }
    __syncwarp();
  }
  return right;
}

__global__ void __launch_bounds__(kChunkThreads)
    decode_chunks_kernel(const __grid_constant__ ChunkCall call) {
  __shared__ Table table;
  __shared__ std::uint32_t windows[kChunkThreads / 32][Window::kWords];
  __shared__ Lines lines[kChunkThreads / 32];
  copy(*call.table, table);
  __syncthreads();
  if (table.wrong != 0) {
    if (blockIdx.x == 0 && threadIdx.x == 0) report_corrupt(call.result);
    return;
  }
  const std::uint64_t bits = *call.bits;
  const std::uint64_t chunks = call.chunks;
  const bool aligned = reinterpret_cast<std::uintptr_t>(call.output) % 16 == 0;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  // Each warp takes 32 chunks at a time.
  for (std::uint64_t block = std::uint64_t{blockIdx.x} * (kChunkThreads / 32) + warp; block * 32 < chunks;
       block += std::uint64_t{gridDim.x} * (kChunkThreads / 32)) {
    const std::uint64_t chunk = block * 32 + lane;
    const std::uint64_t begin = chunk < chunks ? call.index[chunk] : 0;
    const std::uint64_t end = chunk + 1 < chunks ? call.index[chunk + 1] : bits;
    const std::uint64_t first = chunk * kChunkSymbols;
    const std::uint64_t left = chunk < chunks ? call.size - first : 0;
    const int count = left < kChunkSymbols ? static_cast<int>(left) : kChunkSymbols;
    bool right = begin <= end && end <= bits && bits <= call.capacity_bits && (begin == 0) == (chunk == 0);
    Window window(call.stream, windows[warp] + lane, right ? begin : 0);
    if (__all_sync(0xffffffff, right && count == kChunkSymbols && aligned)) {
      right = decode_chunks(window, table, call.output + block * 32 * kChunkSymbols, lane, lines[warp]);
    } else {
      right = right && decode_chunk(window, table, call.output + first, count);
    }
    if (count != 0 && !(right && window.position() == end)) report_corrupt(call.result);
  }
}

}  // namespace cu264::vle::gpu_decode
