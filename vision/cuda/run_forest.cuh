// Connected components of binary maps on the GPU: a forest over the runs of set bits in 32-pixel words.
//
// Two runs of a word start at least two bits apart, so a word has 16 nodes: node = 16 * word + start / 2. A
// node's entry holds its parent's number in the low bits and a strength in the high bits. The strength is at
// first that of the run; in the end that of a root is the greatest of its component. Parents have larger
// numbers than their children.
#pragma once

#include <cstdint>
#include <cuda/atomic>

#include "vision/cuda/words.h"

namespace cu264::vision::cuda {

constexpr int kNodeBits = 27;  // strengths up to 31, 2^27 nodes
constexpr std::uint32_t kNodeMask = (1u << kNodeBits) - 1;

__device__ __forceinline__ std::uint32_t make_entry(std::uint32_t strength, std::uint32_t parent) {
  return strength << kNodeBits | parent;
}
__device__ __forceinline__ std::uint32_t entry_parent(std::uint32_t entry) {
  return entry & kNodeMask;
}
__device__ __forceinline__ std::uint32_t entry_strength(std::uint32_t entry) {
  return entry >> kNodeBits;
}

__device__ __forceinline__ std::uint32_t run_starts(std::uint32_t word) {
  return word & ~(word << 1);
}
// The run of the lowest set bit; 0 for 0. Adding that bit to the word carries through the run and clears it.
__device__ __forceinline__ std::uint32_t lowest_run(std::uint32_t word) {
  return word & ~(word + (word & (0u - word)));
}
__device__ __forceinline__ std::uint32_t lowest_bit(std::uint32_t word) {
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(word)) - 1);
}
__device__ __forceinline__ std::uint32_t node_of_start(std::uint32_t word_index, std::uint32_t start) {
  return word_index * kNodesPerWord + (start >> 1);
}
// The node of the run of `word` that holds its bit `bit`.
__device__ __forceinline__ std::uint32_t node_of_bit(std::uint32_t word_index, std::uint32_t word,
                                                     std::uint32_t bit) {
  const std::uint32_t clear_below = ~word & ((1u << bit) - 1);
  return node_of_start(word_index, static_cast<std::uint32_t>(32 - __clz(static_cast<int>(clear_below))));
}

// The steps follow one another with a barrier between them: plant, hang, flatten, join, settle, strength.
// Most runs touch only one later run and hang from it without an atomic operation; only those that touch more
// need a join. `kScope` is the scope of all threads that join at the same time.
template <::cuda::thread_scope kScope>
class RunForest {
 public:
  __device__ explicit RunForest(std::uint32_t* entries) : entries_(entries) {}

  __device__ __forceinline__ void plant(std::uint32_t node, std::uint32_t strength) const {
    entries_[node] = make_entry(strength, node);
  }

  // Makes `parent`, which has a larger number, the node's parent.
  __device__ __forceinline__ void hang(std::uint32_t node, std::uint32_t parent) const {
    entries_[node] = make_entry(entry_strength(entries_[node]), parent);
  }

  // Makes the root the node's parent. Threads that do so at the same time shorten each other's paths.
  __device__ __forceinline__ std::uint32_t flatten(std::uint32_t node) const {
    const std::uint32_t own = load(node), strength = entry_strength(own);
    std::uint32_t parent = entry_parent(own), above;
    while ((above = entry_parent(load(parent))) != parent) {
      store(node, make_entry(strength, above));
      parent = above;
    }
    return parent;
  }

  // Joins the components of two nodes, while other threads join others.
  __device__ __forceinline__ void join(std::uint32_t a, std::uint32_t b) const {
    for (;;) {
      const Root root_a = climb(a), root_b = climb(b);
      if (root_a.node == root_b.node) return;
      const Root below = root_a.node < root_b.node ? root_a : root_b;
      const std::uint32_t above = max(root_a.node, root_b.node);
      // The larger of two parents stays. If another thread was first, the parent that it gave to the root
      // must still be joined with `above`.
      const std::uint32_t before =
          entry_parent(atomicMax(entries_ + below.node, make_entry(below.strength, above)));
      if (before == below.node) return;
      a = before, b = above;
    }
  }

  // Flattens the node, and raises the root's strength to the node's.
  __device__ __forceinline__ void settle(std::uint32_t node) const {
    const std::uint32_t root = flatten(node);
    const std::uint32_t mine = make_entry(entry_strength(load(node)), root);
    if (load(root) < mine) atomicMax(entries_ + root, mine);
  }

  // The greatest strength of the node's component; after all have settled.
  __device__ __forceinline__ std::uint32_t strength(std::uint32_t node) const {
    return entry_strength(entries_[entry_parent(entries_[node])]);
  }

 private:
  using Reference = ::cuda::atomic_ref<std::uint32_t, kScope>;
  struct Root {
    std::uint32_t node, strength;
  };

  // compute-sanitizer's racecheck mistakes atomic loads and stores for plain ones. In a build for it they are
  // read-modify-write operations, which it recognises.
#ifdef CU264_RACECHECK
  __device__ __forceinline__ std::uint32_t load(std::uint32_t node) const {
    return atomicOr(entries_ + node, 0u);
  }
  __device__ __forceinline__ void store(std::uint32_t node, std::uint32_t entry) const {
    atomicExch(entries_ + node, entry);
  }
#else
  __device__ __forceinline__ std::uint32_t load(std::uint32_t node) const {
    return Reference(entries_[node]).load(::cuda::memory_order_relaxed);
  }
  __device__ __forceinline__ void store(std::uint32_t node, std::uint32_t entry) const {
    Reference(entries_[node]).store(entry, ::cuda::memory_order_relaxed);
  }
#endif
  __device__ __forceinline__ Root climb(std::uint32_t node) const {
    std::uint32_t entry = load(node);
    while (entry_parent(entry) != node) {
      node = entry_parent(entry);
      entry = load(node);
    }
    return {node, entry_strength(entry)};
  }

  std::uint32_t* entries_;
};

}  // namespace cu264::vision::cuda
