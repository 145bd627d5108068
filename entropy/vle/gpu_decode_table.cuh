// What the GPU decoder looks codes up in: a direct table for the first bits, and for longer codes all symbols
// in the order of their codes.
#pragma once

#include <cstdint>

#include "cu264/vle_types.h"

namespace cu264::vle::gpu_decode {

struct Table {
  static constexpr int kDirectBits = 12;
  static constexpr std::uint32_t kLength = 0xff;  // of an entry: the length; above it the symbol
  static constexpr std::uint32_t kLong = 0x80;    // in the length's place: longer codes begin so

  // Entries, 0 where no code begins so. With kLong, the first of those codes stands in the symbol's place.
  std::uint16_t direct[1 << kDirectBits];
  // Codes longer than kDirectBits, ascending: left-aligned to 16 bits, and below that their entries. Behind
  // the last, kNone.
  std::uint32_t long_codes[kSymbols + 1];
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::uint32_t wrong;  // not 0: this is no table of codes

  // The entry of the code that `window` begins with; length 0 if it begins with none.
  __device__ std::uint32_t look_up(std::uint32_t window) const {
    const std::uint32_t entry = direct[window >> (32 - kDirectBits)];
    return entry & kLong ? look_up_long(entry >> 8, window) : entry;
  }

  // Not inline: seldom needed. At most 2^4 codes begin alike. `window` is 32 bits.
  __device__ __noinline__ std::uint32_t look_up_long(std::uint32_t i, std::uint32_t window) const {
    const std::uint32_t last = (window | 0xffff) - 1;  // above what begins no later, below kNone
    std::uint32_t code = long_codes[i];
    for (std::uint32_t next; (next = long_codes[++i]) <= last;) code = next;
    return (window ^ code) >> (32 - (code & kLength)) == 0 ? code & 0xffff : 0;
  }
};

// By one block of kSymbols threads.
__device__ inline void build(const CodeTable& code_table, Table& table) {
  __shared__ std::uint32_t starts[kSymbols];  // left-aligned to 16 bits; above all of them: not a long code
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

// By all threads of a block, before a barrier.
__device__ inline void copy(const Table& from, Table& to) {
  static_assert(sizeof(Table) % sizeof(std::uint32_t) == 0);
  for (std::uint32_t i = threadIdx.x; i < sizeof(Table) / sizeof(std::uint32_t); i += blockDim.x) {
    reinterpret_cast<std::uint32_t*>(&to)[i] = reinterpret_cast<const std::uint32_t*>(&from)[i];
  }
}

}  // namespace cu264::vle::gpu_decode
