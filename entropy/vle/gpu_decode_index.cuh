// Computes the chunk index of a stream that came without one.
//
// The stream is cut into stretches of kStretch bits. A code that began in the stretch before may reach up to
// 15 bits into a stretch, so that the first code of the stretch itself begins at one of 16 entries. From
// each entry one lane decodes the stretch, which gives the entry of the next stretch and the number of
// symbols: a map. Maps of consecutive stretches compose to maps of groups of stretches, and these to maps of
// larger groups. From the top down every group, and in the end every stretch, then learns its true entry and
// the number of its first symbol. The work does not depend on the data: it does not matter how slowly a code
// synchronises.
#pragma once

#include <cstdint>

#include "entropy/vle/fast.h"
#include "entropy/vle/gpu_decode.h"
#include "entropy/vle/gpu_decode_chunks.cuh"
#include "entropy/vle/gpu_decode_reader.cuh"
#include "entropy/vle/gpu_decode_table.cuh"

namespace cu264::vle::gpu_decode {

constexpr int kStretch = 1024;  // bits; not more than kChunkSymbols, so that at most one chunk begins in one
constexpr int kEntries = 16;
constexpr int kGroup = 256;  // maps of one level that make one map of the next
constexpr int kLevels = 2;
static_assert(kStretch <= kChunkSymbols);

// The result of an entry: the next entry in the lowest bits, the number of symbols above.
using Step = std::uint64_t;
constexpr int kEntryBits = 5;
constexpr std::uint32_t kNowhere = 31;  // there is no code
__device__ inline std::uint32_t exit_of(Step step) {
  return static_cast<std::uint32_t>(step & 31);
}
__device__ inline std::uint64_t symbols_of(Step step) {
  return step >> kEntryBits;
}
__device__ inline Step step_to(std::uint32_t exit, std::uint64_t symbols) {
  return symbols << kEntryBits | exit;
}

// The state between two stretches: the entry of the next stretch, and the number of symbols before it.
struct State {
  std::uint64_t symbols;
  std::uint32_t entry;

  __device__ void follow(Step step) {
    if (entry == kNowhere) return;
    symbols += symbols_of(step);
    entry = exit_of(step);
  }
};

struct IndexCall {
  StreamView stream;
  const std::uint64_t* bits;
  std::uint64_t capacity_bits;
  const Table* table;
  std::uint16_t* maps;      // kEntries steps for each stretch
  std::uint64_t stretches;  // the number of stretches of the capacity
  Step* groups[kLevels];    // maps of groups of stretches, and of groups of those
  Step* entries[kLevels];   // the true state before each group
  std::uint64_t group_counts[kLevels];
  std::uint64_t* index;
  std::uint64_t chunks;
  std::uint64_t size;
  DecodeResult* result;
};

// Each lane takes one entry of a stretch.
__global__ void __launch_bounds__(256) map_stretches_kernel(const __grid_constant__ IndexCall call) {
  __shared__ Table table;
  copy(*call.table, table);
  __syncthreads();
  const std::uint64_t bits = min(*call.bits, call.capacity_bits);
  const std::uint64_t lanes = call.stretches * kEntries;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < lanes;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    const std::uint64_t begin = i / kEntries * kStretch;
    const std::uint32_t entry = i % kEntries;
    // Beyond the end of the stream there is nothing to decode.
    const int length = begin >= bits ? 0 : static_cast<int>(min(bits - begin, std::uint64_t{kStretch}));
    int at = entry;
    std::uint32_t symbols = 0, exit = kNowhere;
    if (table.wrong == 0) {
      CodeReader reader(call.stream, begin + entry);
      bool valid = true;
      while (valid && at < length) {
        const std::uint32_t code = table.look_up(reader.window());
        valid = (code & Table::kLength) != 0;
        at += code & Table::kLength;
        ++symbols;
        reader.skip(code);
      }
      if (valid) exit = at - length;
    }
    // The last code of a stream must end with it.
    if (length < kStretch && at > length && length > 0) exit = kNowhere;
    if (length == 0) exit = entry;
    call.maps[i] = static_cast<std::uint16_t>(symbols << kEntryBits | exit);
  }
}

// kEntries lanes go through the next group of at most `count` maps, each with a state of its own. A lane
// reads the step of the entry that has its number, before it is known which entry is needed.
template <class From, class Visit>
__device__ inline void walk(const From* maps, int count, int lane, State& state, const Visit& visit) {
#pragma unroll 8
  for (int i = 0; i < kGroup; ++i) {
    const Step own = i < count ? Step{maps[i * kEntries + lane]} : step_to(lane, 0);
    const Step step = __shfl_sync(0xffffffff, own, static_cast<int>(state.entry % kEntries), kEntries);
    if (i < count) visit(i);
    state.follow(step);
  }
}

__device__ inline int group_size(std::uint64_t group, std::uint64_t count) {
  const std::uint64_t first = group * kGroup;
  return first >= count ? 0 : static_cast<int>(min(count - first, std::uint64_t{kGroup}));
}

// Makes maps of groups of maps; each lane takes one entry of a group. `From` is the type of the level below.
template <class From>
__global__ void __launch_bounds__(256)
    compose_kernel(const From* maps, std::uint64_t count, Step* groups, std::uint64_t group_count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t group = i / kEntries;
  const int lane = i % kEntries;
  State state{0, static_cast<std::uint32_t>(lane)};
  walk(maps + group * kGroup * kEntries, group_size(group, count), lane, state, [](int) {});
  if (group < group_count) groups[i] = step_to(state.entry, state.symbols);
}

// Computes the states before the groups of the highest level. One thread does this, and checks the end of the
// stream.
__global__ void enter_kernel(const __grid_constant__ IndexCall call) {
  constexpr int kTop = kLevels - 1;
  State state{0, 0};
  for (std::uint64_t group = 0; group < call.group_counts[kTop]; ++group) {
    call.entries[kTop][group] = step_to(state.entry, state.symbols);
    state.follow(call.groups[kTop][group * kEntries + state.entry % kEntries]);
  }
  if (state.entry != 0 || state.symbols != call.size || *call.bits > call.capacity_bits) {
    report_corrupt(call.result);
  }
}

// Computes the states before the groups of the lower level, with kEntries lanes for each group of the higher
// level.
__global__ void __launch_bounds__(256) descend_kernel(const __grid_constant__ IndexCall call) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t above = i / kEntries;
  const int lane = i % kEntries;
  const Step start = above < call.group_counts[1] ? call.entries[1][above] : 0;
  State state{symbols_of(start), exit_of(start)};
  const std::uint64_t first = above * kGroup;
  walk(call.groups[0] + first * kEntries, group_size(above, call.group_counts[0]), lane, state,
       [&](int group) {
         if (lane == 0) call.entries[0][first + group] = step_to(state.entry, state.symbols);
       });
}

// Writes the index. A thread takes each group of stretches and finds those in which a chunk begins; the
// block then decodes these.
__global__ void __launch_bounds__(kGroup) index_kernel(const __grid_constant__ IndexCall call) {
  __shared__ Table table;
  __shared__ std::uint64_t symbols_before[kGroup];
  __shared__ std::uint32_t entry_of[kGroup];
  __shared__ std::uint16_t maps[kGroup * kEntries];
  copy(*call.table, table);
  for (std::uint64_t group = blockIdx.x; group < call.group_counts[0]; group += gridDim.x) {
    const std::uint64_t first = group * kGroup;
    const int count = group_size(group, call.stretches);
    for (int i = threadIdx.x; i < count * kEntries; i += kGroup) maps[i] = call.maps[first * kEntries + i];
    __syncthreads();
    if (threadIdx.x == 0) {
      State state{symbols_of(call.entries[0][group]), exit_of(call.entries[0][group])};
      for (int i = 0; i < count; ++i) {
        symbols_before[i] = state.symbols;
        entry_of[i] = state.entry;
        state.follow(maps[i * kEntries + state.entry % kEntries]);
      }
    }
    __syncthreads();
    const int i = threadIdx.x;
    if (i < count && entry_of[i] < kEntries && table.wrong == 0) {
      const std::uint64_t before = symbols_before[i];
      const std::uint64_t chunk = (before + kChunkSymbols - 1) / kChunkSymbols;
      const std::uint64_t symbols = symbols_of(maps[i * kEntries + entry_of[i]]);
      if (chunk < call.chunks && chunk * kChunkSymbols < before + symbols) {
        CodeReader reader(call.stream, (first + i) * kStretch + entry_of[i]);
        for (std::uint64_t skip = chunk * kChunkSymbols - before; skip != 0; --skip) {
          reader.skip(table.look_up(reader.window()));
        }
        call.index[chunk] = reader.position();
      }
    }
    __syncthreads();
  }
}

}  // namespace cu264::vle::gpu_decode
