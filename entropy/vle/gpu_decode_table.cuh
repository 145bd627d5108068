// What the GPU decoder looks codes up in: a direct table for the first bits, and for longer codes all symbols
// in the order of their codes.
#pragma once

#include <cstdint>

#include "entropy/vle/code_table.h"

namespace cu264::vle::gpu_decode {

struct Table {
  static constexpr int kDirectBits = 12;
  static constexpr int kLength = 0xff;  // of an entry: the length; above it the symbol. 0: not here

  std::uint16_t direct[1 << kDirectBits];
  // Codes longer than kDirectBits, ascending: left-aligned to 16 bits, and their entries.
  std::uint16_t long_codes[kSymbols];
  std::uint16_t long_entries[kSymbols];
  std::uint32_t long_count;
  std::uint32_t wrong;  // not 0: this is no table of codes

  // The entry of the code that `window` begins with; length 0 if it begins with none.
  __device__ std::uint32_t look_up(std::uint32_t window) const {
    const std::uint32_t entry = direct[window >> (32 - kDirectBits)];
    return entry != 0 ? entry : look_up_long(window >> 16);
  }

  // Not inline: seldom needed.
  __device__ __noinline__ std::uint32_t look_up_long(std::uint32_t window) const {
    // The last code that is not greater.
    std::uint32_t low = 0, high = long_count;
    while (low < high) {
      const std::uint32_t middle = (low + high) / 2;
      if (long_codes[middle] <= window) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == 0) return 0;
    const std::uint32_t entry = long_entries[low - 1];
    return (window ^ long_codes[low - 1]) >> (kShortCode - (entry & kLength)) == 0 ? entry : 0;
  }
};

// By one block of kSymbols threads.
__device__ inline void build(const CodeTable& code_table, Table& table) {
  __shared__ std::uint32_t starts[kSymbols];  // left-aligned to 16 bits; above all of them: not a long code
  constexpr std::uint32_t kNone = 1u << 16;
  const int symbol = threadIdx.x;
  const std::uint32_t length = reinterpret_cast<const std::uint8_t*>(&code_table.length)[symbol];
  const std::uint32_t code = reinterpret_cast<const std::uint32_t*>(&code_table.code)[symbol];
  const bool wrong = length > kShortCode || (length != 0 && code >> length != 0);
  const bool used = length != 0 && !wrong;
  const bool is_long = used && length > Table::kDirectBits;
  const std::uint32_t entry = symbol << 8 | length;
  starts[symbol] = is_long ? code << (kShortCode - length) : kNone;

  for (int i = symbol; i < 1 << Table::kDirectBits; i += kSymbols) table.direct[i] = 0;
  const int long_count = __syncthreads_count(is_long);
  const int wrong_count = __syncthreads_count(wrong);
  if (symbol == 0) {
    table.long_count = long_count;
    table.wrong = wrong_count;
  }
  if (is_long) {
    int rank = 0;
    for (int i = 0; i < kSymbols; ++i) {
      rank += starts[i] < starts[symbol] || (starts[i] == starts[symbol] && i < symbol);
    }
    table.long_codes[rank] = static_cast<std::uint16_t>(starts[symbol]);
    table.long_entries[rank] = static_cast<std::uint16_t>(entry);
  } else if (used) {
    const int unused = Table::kDirectBits - length;
    for (int i = 0; i < 1 << unused; ++i) {
      table.direct[(code << unused) + i] = static_cast<std::uint16_t>(entry);
    }
  }
}

// By all threads of a block, before a barrier.
__device__ inline void copy(const Table& from, Table& to) {
  static_assert(sizeof(Table) % sizeof(std::uint32_t) == 0);
  for (std::uint32_t i = threadIdx.x; i < sizeof(Table) / sizeof(std::uint32_t); i += blockDim.x) {
    reinterpret_cast<std::uint32_t*>(&to)[i] = reinterpret_cast<const std::uint32_t*>(&from)[i];
  }
}

}  // namespace cu264::vle::gpu_decode
