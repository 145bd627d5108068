// The tables of the GPU decoder: a direct table for the first bits, and for longer codes a list of all
// symbols in the order of their codes.
#pragma once

#include <cstdint>

#include "cu264/vle_types.h"

namespace cu264::vle::gpu_decode {

struct Table {
  static constexpr int kDirectBits = 12;
  static constexpr std::uint32_t kLength = 0xff;  // mask of an entry's length; the symbol is above it
  static constexpr std::uint32_t kLong = 0x80;  // in place of the length: longer codes begin with these bits

  // An entry is 0 if no code begins with these bits. With kLong, the index of the first of the longer codes
  // takes the place of the symbol.
  std::uint16_t direct[1 << kDirectBits];
  // Codes longer than kDirectBits, in ascending order: left-aligned to 16 bits, with their entries below.
  // kNone follows the last one.
  std::uint32_t long_codes[kSymbols + 1];
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::uint32_t wrong;  // not 0: the table is not a prefix code

  // Returns the entry of the code that `window` begins with, or an entry of length 0 if there is none.
  __device__ std::uint32_t look_up(std::uint32_t window) const {
    const std::uint32_t entry = direct[window >> (32 - kDirectBits)];
    return entry & kLong ? look_up_long(entry >> 8, window) : entry;
  }

  // Not inlined because it is rarely needed. At most 2^4 codes begin alike. `window` has 32 bits.
  __device__ __noinline__ std::uint32_t look_up_long(std::uint32_t i, std::uint32_t window) const {
    const std::uint32_t last = (window | 0xffff) - 1;  // above what begins no later, below kNone
    std::uint32_t code = long_codes[i];
    for (std::uint32_t next; (next = long_codes[++i]) <= last;) code = next;
    return (window ^ code) >> (32 - (code & kLength)) == 0 ? code & 0xffff : 0;
  }
};

// Called by one block of kSymbols threads.
__device__ inline void build(const CodeTable& code_table, Table& table) {
  // Left-aligned to 16 bits; codes that are not long have a larger value.
  __shared__ std::uint32_t starts[kSymbols];
  constexpr std::uint32_t kNotLong = 1u << 16;
  const int symbol = threadIdx.x;
  const std::uint32_t length = reinterpret_cast<const std::uint8_t*>(&code_table.length)[symbol];
  const std::uint32_t code = reinterpret_cast<const std::uint32_t*>(&code_table.code)[symbol];
  const bool wrong = length > kShortCode || (length != 0 && code >> length != 0);
  const bool used = length != 0 && !wrong;
  const bool is_long = used && length > Table::kDirectBits;
  const std::uint32_t entry = symbol << 8 | length;
  starts[symbol] = is_long ? code << (kShortCode - length) : kNotLong;

  for (int i = symbol; i < 1 << Table::kDirectBits; i += kSymbols) table.direct[i] = 0;
  const int long_count = __syncthreads_count(is_long);
  const int wrong_count = __syncthreads_count(wrong);
  if (symbol == 0) {
    table.long_codes[long_count] = Table::kNone;
    table.wrong = wrong_count;
  }
  if (is_long) {
    constexpr int kRest = kShortCode - Table::kDirectBits;
    int rank = 0, rank_in_prefix = 0;
    for (int i = 0; i < kSymbols; ++i) {
      const bool before = starts[i] < starts[symbol] || (starts[i] == starts[symbol] && i < symbol);
      rank += before;
      rank_in_prefix += before && starts[i] >> kRest == starts[symbol] >> kRest;
    }
    if (rank_in_prefix == 0) {
      table.direct[starts[symbol] >> kRest] = static_cast<std::uint16_t>(rank << 8 | Table::kLong);
    }
    table.long_codes[rank] = starts[symbol] << 16 | entry;
  } else if (used) {
    const int unused = Table::kDirectBits - length;
    for (int i = 0; i < 1 << unused; ++i) {
      table.direct[(code << unused) + i] = static_cast<std::uint16_t>(entry);
    }
  }
}

// All threads of a block must call this, before a barrier.
__device__ inline void copy(const Table& from, Table& to) {
  static_assert(sizeof(Table) % sizeof(std::uint32_t) == 0);
  for (std::uint32_t i = threadIdx.x; i < sizeof(Table) / sizeof(std::uint32_t); i += blockDim.x) {
    reinterpret_cast<std::uint32_t*>(&to)[i] = reinterpret_cast<const std::uint32_t*>(&from)[i];
  }
}

}  // namespace cu264::vle::gpu_decode
