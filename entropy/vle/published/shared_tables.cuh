// Code tables in shared memory, in the layouts of the papers. A symbol without a code has length kNoCode
// there: a bit that neither a length of 32 nor the sum of two of 16 sets, so that ORed lengths tell whether
// one was met.
#pragma once

#include <cstdint>

#include "entropy/vle/code_table.h"

namespace cu264::vle {

inline constexpr std::uint32_t kNoCode = 64;

// A CodeTable in device memory; device code cannot index a std::array.
struct DeviceTable {
  const std::uint32_t* code;
  const std::uint8_t* length;

  explicit DeviceTable(const CodeTable* d_table)
      : code(d_table->code.data()), length(d_table->length.data()) {}
  __device__ std::uint32_t length_or_none(std::uint32_t symbol) const {
    const std::uint32_t bits = __ldg(length + symbol);
    return bits == 0 ? kNoCode : bits;
  }
};

// YAVLE: one vector of pairs of words.
struct PairTable {
  uint2 codeword[kSymbols];

  __device__ void load(const DeviceTable& table) {
    for (int i = static_cast<int>(threadIdx.x); i < kSymbols; i += static_cast<int>(blockDim.x))
      codeword[i] = make_uint2(table.code[i], table.length_or_none(i));
  }
  __device__ uint2 operator[](std::uint32_t symbol) const { return codeword[symbol]; }
  __device__ std::uint32_t length(std::uint32_t symbol) const { return codeword[symbol].y; }
};

// GVLE 3.1: two vectors of the smallest types, which meet in fewer banks.
struct SplitTable {
  std::uint16_t code[kSymbols];
  std::uint8_t lengths[kSymbols];

  __device__ void load(const DeviceTable& table) {
    for (int i = static_cast<int>(threadIdx.x); i < kSymbols; i += static_cast<int>(blockDim.x)) {
      code[i] = static_cast<std::uint16_t>(table.code[i]);
      lengths[i] = static_cast<std::uint8_t>(table.length_or_none(i));
    }
  }
  __device__ uint2 operator[](std::uint32_t symbol) const {
    return make_uint2(code[symbol], lengths[symbol]);
  }
  __device__ std::uint32_t length(std::uint32_t symbol) const { return lengths[symbol]; }
};

// CUVLE and PAVLE: two vectors of words.
struct WordTable {
  std::uint32_t code[kSymbols];
  std::uint32_t lengths[kSymbols];

  __device__ void load(const DeviceTable& table) {
    for (int i = static_cast<int>(threadIdx.x); i < kSymbols; i += static_cast<int>(blockDim.x)) {
      code[i] = table.code[i];
      lengths[i] = table.length_or_none(i);
    }
  }
  __device__ uint2 operator[](std::uint32_t symbol) const {
    return make_uint2(code[symbol], lengths[symbol]);
  }
  __device__ std::uint32_t length(std::uint32_t symbol) const { return lengths[symbol]; }
};

// PAVLE without cached look-ups: the table stays in global memory.
struct GlobalTable {
  DeviceTable table;

  __device__ uint2 operator[](std::uint32_t symbol) const {
    return make_uint2(__ldg(table.code + symbol), table.length_or_none(symbol));
  }
  __device__ std::uint32_t length(std::uint32_t symbol) const { return table.length_or_none(symbol); }
};

}  // namespace cu264::vle
