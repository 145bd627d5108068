// Stands in for CUB's block-wide prefix sums, as far as kernels use them. Each thread adds up all values
// itself.
#pragma once

#include "device_code.h"

namespace cub {

template <class T, int kThreads>
class BlockScan {
 public:
  struct TempStorage {
    alignas(T) unsigned char items[kThreads * sizeof(T)];
  };
  explicit BlockScan(TempStorage& storage) : items_(reinterpret_cast<T*>(storage.items)) {}

  template <class Operation>
  void ExclusiveScan(T in, T& out, T initial, Operation operation, T& all) {
    const int own = static_cast<int>(cu264::emulator::here->thread.x);
    items_[own] = in;
    cu264::emulator::wait_for_block();
    T before = initial;
    for (int i = 0; i < own; ++i) before = operation(before, items_[i]);
    all = items_[0];
    for (int i = 1; i < kThreads; ++i) all = operation(all, items_[i]);
    out = before;
  }
  template <class Operation>
  void ExclusiveScan(T in, T& out, T initial, Operation operation) {
    T all;
    ExclusiveScan(in, out, initial, operation, all);
  }
  void ExclusiveSum(T in, T& out, T& all) {
    ExclusiveScan(
        in, out, T{}, [](const T& a, const T& b) { return a + b; }, all);
  }
  void ExclusiveSum(T in, T& out) {
    T all;
    ExclusiveSum(in, out, all);
  }
  template <int kItems>
  void ExclusiveSum(T (&in)[kItems], T (&out)[kItems], T& all) {
    T sum{}, before;
    for (const T& item : in) sum = sum + item;
    ExclusiveSum(sum, before, all);
    for (int i = 0; i < kItems; ++i) {
      const T item = in[i];
      out[i] = before;
      before = before + item;
    }
  }
  template <class Operation>
  void InclusiveScan(T in, T& out, Operation operation) {
    T before, all;
    ExclusiveScan(in, before, T{}, operation, all);
    out = operation(before, in);
  }

 private:
  T* items_;
};

}  // namespace cub
