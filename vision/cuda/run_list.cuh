// The components of a map in shared memory, labelled by a thread block. Words have different numbers of runs,
// and a thread that went through all runs of its word would keep its warp waiting. Therefore the runs are
// listed, in any order, and each thread takes runs from the list.
#pragma once

#include <cstdint>

#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"
#include "vision/cuda/components.cuh"

namespace cu264::vision::cuda {

// Bytes of shared memory for each word.
constexpr std::size_t kSharedWordBytes =
    sizeof(std::uint32_t) * (1 + kNodesPerWord) + sizeof(std::uint16_t) * kNodesPerWord;
constexpr std::size_t kMaxSharedWords = 65536 / kNodesPerWord;  // a node in 16 bits

class SharedMap {
 public:
  using Forest = RunForest<::cuda::thread_scope_block>;

  // `listed` counts the runs and must be 0 at first. Both pointers are to shared memory.
  __device__ SharedMap(std::uint32_t* memory, unsigned* listed, std::uint32_t count)
      : forest_(memory + count),
        words_(memory),
        count_(count),
        runs_(
            reinterpret_cast<std::uint16_t*>(memory + static_cast<std::size_t>(count) * (1 + kNodesPerWord))),
        listed_(listed) {}

  __device__ const Forest& forest() const { return forest_; }
  __device__ std::uint32_t word(std::uint32_t index) const { return words_[index]; }

  // Whole warps must call this; `word` is 0 in lanes without a word (`exists` false). A barrier must follow.
  template <class Strength>
  __device__ __forceinline__ void add(std::uint32_t index, bool exists, std::uint32_t word,
                                      const Strength& strength) const {
    if (exists) words_[index] = word;
    if (__ballot_sync(kAllLanes, word != 0) == 0) return;
    const unsigned runs = static_cast<unsigned>(__popc(static_cast<int>(run_starts(word))));
    const unsigned before = scan_lanes(runs, Plus());  // includes the lane's own
    unsigned first = 0;
    if ((threadIdx.x & 31) == 31 && before > 0) first = atomicAdd(listed_, before);
    unsigned at = __shfl_sync(kAllLanes, first, 31) + before - runs;
    for (std::uint32_t rest = word; rest != 0;) {
      const std::uint32_t run = lowest_run(rest);
      rest &= ~run;
      const std::uint32_t node = node_of_start(index, lowest_bit(run));
      forest_.plant(node, strength(run));
      runs_[at++] = static_cast<std::uint16_t>(node);
    }
  }

  // Labels all runs and empties the list. There must be a barrier before; the function ends with one.
  __device__ __forceinline__ void label(std::uint32_t row_words) const {
    const MapView map{words_, count_, row_words};
    const unsigned listed = *listed_;
    for (unsigned i = threadIdx.x; i < listed; i += blockDim.x) {
      const std::uint32_t node = runs_[i], index = node / kNodesPerWord;
      hang_run(forest_, map, index, run_of_node(words_[index], node));
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < listed; i += blockDim.x) forest_.flatten(runs_[i]);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < listed; i += blockDim.x) {
      const std::uint32_t node = runs_[i], index = node / kNodesPerWord;
      join_run(forest_, map, index, run_of_node(words_[index], node));
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < listed; i += blockDim.x) forest_.settle(runs_[i]);
    if (threadIdx.x == 0) *listed_ = 0;
    __syncthreads();
  }

 private:
  Forest forest_;
  std::uint32_t* words_;
  std::uint32_t count_;
  std::uint16_t* runs_;
  unsigned* listed_;
};

}  // namespace cu264::vision::cuda
