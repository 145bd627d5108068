#include "entropy/vle/gpu_decode.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "cu264/status.h"
#include "entropy/vle/gpu_decode_index.cuh"

namespace cu264::vle {
namespace {

using namespace gpu_decode;

struct DecodeScratch {
  DecodeScratch(void* memory, std::size_t stream_size, std::size_t size, bool with_index) {
    Arena arena(memory);
    table = arena.take<Table>(1);
    if (!with_index) {
      call.stretches = (std::uint64_t{stream_size} * 8 + kStretch - 1) / kStretch;
      call.maps = arena.take<std::uint16_t>(call.stretches * kEntries);
      std::uint64_t count = call.stretches;
      for (int level = 0; level < kLevels; ++level) {
        count = (count + kGroup - 1) / kGroup;
        call.group_counts[level] = count;
        call.groups[level] = arena.take<Step>(count * kEntries);
        call.entries[level] = arena.take<Step>(count);
      }
      call.chunks = chunk_count(size);
      call.index = arena.take<std::uint64_t>(call.chunks);
    }
    bytes = arena.bytes();
  }

  Table* table;
  IndexCall call{};
  std::size_t bytes;
};

__global__ void __launch_bounds__(kSymbols)
    prepare_kernel(const CodeTable* code_table, Table* table, DecodeResult* result, std::uint64_t size) {
  build(*code_table, *table);
  if (threadIdx.x == 0) *result = {size, 0, 0};
}

// If there are no symbols, there must be no bits.
__global__ void judge_empty_kernel(const std::uint64_t* bits, DecodeResult* result) {
  if (*bits != 0) result->corrupt = 1;
}

__global__ void judge_symbols_kernel(DecodeResult* result) {
  if (result->corrupt != 0) result->symbols = 0;
}

int blocks_for(std::uint64_t threads, int block, int most) {
  return static_cast<int>(std::min<std::uint64_t>((threads + block - 1) / block, most));
}

void find_index(const IndexCall& call, int most_blocks, cudaStream_t stream) {
  map_stretches_kernel<<<blocks_for(call.stretches * kEntries, 256, most_blocks), 256, 0, stream>>>(call);
  check_launch("map_stretches_kernel");
  const auto& counts = call.group_counts;
  compose_kernel<<<blocks_for(counts[0] * kEntries, 256, 1 << 30), 256, 0, stream>>>(
      call.maps, call.stretches, call.groups[0], counts[0]);
  check_launch("compose_kernel");
  compose_kernel<<<blocks_for(counts[1] * kEntries, 256, 1 << 30), 256, 0, stream>>>(
      call.groups[0], counts[0], call.groups[1], counts[1]);
  check_launch("compose_kernel");
  enter_kernel<<<1, 1, 0, stream>>>(call);
  check_launch("enter_kernel");
  descend_kernel<<<blocks_for(counts[1] * kEntries, 256, 1 << 30), 256, 0, stream>>>(call);
  check_launch("descend_kernel");
  index_kernel<<<blocks_for(counts[0], 1, most_blocks), kGroup, 0, stream>>>(call);
  check_launch("index_kernel");
}

}  // namespace

std::size_t decode_scratch_bytes(std::size_t stream_size, std::size_t size, bool with_index) {
  return DecodeScratch(nullptr, stream_size, size, with_index).bytes;
}

void decode(const DecodeCall& call) {
  DecodeScratch scratch(call.d_scratch, call.stream_size, call.size, call.d_chunk_index != nullptr);
  if (call.scratch_size < scratch.bytes) {
    throw Error(ErrorCode::invalid_argument,
                "decode: " + std::to_string(call.scratch_size) + " bytes of scratch are not enough",
                "it needs the " + std::to_string(scratch.bytes) + " bytes that decode_scratch_bytes returns");
  }
  int device = 0, processors = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) {
    throw Error(ErrorCode::device_unavailable, "no CUDA device", "check the GPU and its driver");
  }
  auto* const stream = static_cast<cudaStream_t>(call.stream);
  prepare_kernel<<<1, kSymbols, 0, stream>>>(call.d_table, scratch.table, call.d_result, call.size);
  check_launch("prepare_kernel");
  if (call.size == 0) {
    judge_empty_kernel<<<1, 1, 0, stream>>>(call.d_bits, call.d_result);
    return check_launch("judge_empty_kernel");
  }
  const StreamView view{reinterpret_cast<const std::uint32_t*>(call.d_stream), call.stream_size / 4,
                        reinterpret_cast<std::uintptr_t>(call.d_stream) % 16 == 0};
  const std::uint64_t* index = call.d_chunk_index;
  const int most_blocks = 8 * processors;
  if (index == nullptr && scratch.call.stretches != 0) {
    IndexCall& find = scratch.call;
    find.stream = view;
    find.bits = call.d_bits;
    find.capacity_bits = std::uint64_t{call.stream_size} * 8;
    find.table = scratch.table;
    find.size = call.size;
    find.result = call.d_result;
    find_index(find, most_blocks, stream);
  }
  if (index == nullptr) index = scratch.call.index;
  const ChunkCall chunks{view,
                         call.d_bits,
                         index,
                         scratch.table,
                         call.d_output,
                         call.size,
                         call.d_result,
                         std::uint64_t{call.stream_size} * 8,
                         chunk_count(call.size)};
  decode_chunks_kernel<<<blocks_for(chunk_count(call.size), kChunkThreads, kChunkBlocks * processors),
                         kChunkThreads, 0, stream>>>(chunks);
  check_launch("decode_chunks_kernel");
  judge_symbols_kernel<<<1, 1, 0, stream>>>(call.d_result);
  check_launch("judge_symbols_kernel");
}

}  // namespace cu264::vle
