// Connected components of binary maps on the GPU: a forest over the runs of set bits in 32-pixel words.
//
// Two runs of a word start at least two bits apart, so a word has 16 nodes: node = 16 * word + start / 2. A
// node's value is a key: the run's strength above, the node below. Parents have larger keys, so that a root is
// the strongest run of its component and needs no search for its maximum.
#pragma once

#include <cstdint>
#include <cuda/atomic>

#include "vision/cuda/words.h"

namespace cu264::vision::cuda {

constexpr int kNodeBits = 27;  // strengths up to 31, 2^27 nodes
constexpr std::uint32_t kNodeMask = (1u << kNodeBits) - 1;

__device__ __forceinline__ std::uint32_t make_key(std::uint32_t strength, std::uint32_t node) {
  return strength << kNodeBits | node;
}
__device__ __forceinline__ std::uint32_t key_node(std::uint32_t key) {
  return key & kNodeMask;
}
__device__ __forceinline__ std::uint32_t key_strength(std::uint32_t key) {
  return key >> kNodeBits;
}

__device__ __forceinline__ std::uint32_t run_starts(std::uint32_t word) {
  return word & ~(word << 1);
}
// The run of the lowest set bit; 0 for 0. Adding that bit carries through the run.
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

// `kScope`: of all threads that join at the same time.
template <::cuda::thread_scope kScope>
class RunForest {
 public:
  __device__ explicit RunForest(std::uint32_t* parents) : parents_(parents) {}

  // Before any other thread sees the node.
  __device__ __forceinline__ void plant(std::uint32_t node, std::uint32_t strength) const {
    parents_[node] = make_key(strength, node);
  }

  // Joins the components of two nodes, while other threads do the same.
  __device__ __forceinline__ void join(std::uint32_t node_a, std::uint32_t node_b) const {
    std::uint32_t a = climb(node_a), b = climb(node_b);
    while (a != b) {
      const std::uint32_t below = min(a, b), above = max(a, b);
      const std::uint32_t before = raise(key_node(below), above);
      if (before == below) return;
      // No root any more: what it hung from must be joined instead.
      a = before, b = above;
    }
  }

  // Hangs the node from its root, once all joins are done. Threads that do so at the same time halve each
  // other's paths.
  __device__ __forceinline__ void flatten(std::uint32_t node) const {
    std::uint32_t parent = load(node), above;
    while ((above = load(key_node(parent))) != parent) {
      store(node, above);
      parent = above;
    }
  }
  // The root's key, once all nodes are flat.
  __device__ __forceinline__ std::uint32_t root(std::uint32_t node) const { return parents_[node]; }

 private:
  using Reference = ::cuda::atomic_ref<std::uint32_t, kScope>;

  __device__ __forceinline__ std::uint32_t load(std::uint32_t node) const {
    return Reference(parents_[node]).load(::cuda::memory_order_relaxed);
  }
  __device__ __forceinline__ void store(std::uint32_t node, std::uint32_t key) const {
    Reference(parents_[node]).store(key, ::cuda::memory_order_relaxed);
  }
  // A parent's key only ever grows.
  __device__ __forceinline__ std::uint32_t raise(std::uint32_t node, std::uint32_t key) const {
    return atomicMax(parents_ + node, key);
  }
  __device__ __forceinline__ std::uint32_t climb(std::uint32_t node) const {
    std::uint32_t parent = load(node), above;
    while ((above = load(key_node(parent))) != parent) {
      raise(node, above);
      node = key_node(parent), parent = above;
    }
    return parent;
  }

  std::uint32_t* parents_;
};

}  // namespace cu264::vision::cuda
