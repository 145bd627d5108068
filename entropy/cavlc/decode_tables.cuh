// Tables in shared memory that find the codes of 4x4 blocks in one step, for core::cavlc_parse_block. They
// are filled from the tables that the coder writes from.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/bit_ops.h"
#include "core/cavlc_parse.h"
#include "core/cavlc_tables.h"

namespace cu264::cavlc {

struct DecodeTables {
  // Entries are symbol << 5 | number of bits, or 0 if there is no such code. No coeff_token of the first
  // three columns has more than three bits after its first one bit; the index is the number of zeros before
  // that bit, followed by these bits. The fourth column has six bits.
  std::uint16_t token[3][16 * 8];
  std::uint16_t long_token[64];
  // The same in a byte, symbol << 4 | number of bits, by the next nine bits. Rows are TotalCoeff from 1.
  std::uint8_t zeros[15][512];
  // Codes of run_before by zerosLeft and the next three bits; where these are zero and zerosLeft is above 6,
  // by the number of zeros before the first one bit.
  std::uint8_t runs[7][8];
  std::uint8_t long_runs[16];

  // All kThreads threads of a block must call this.
  template <int kThreads>
  __device__ void fill() {
    static_assert(sizeof(DecodeTables) % 4 == 0);
    const int thread = static_cast<int>(threadIdx.x);
    auto* const words = reinterpret_cast<std::uint32_t*>(this);
    for (int i = thread; i < static_cast<int>(sizeof(DecodeTables) / 4); i += kThreads) words[i] = 0;
    __syncthreads();
    for (int i = thread; i < 4 * 17 * 4; i += kThreads) enter_token(i / 68, i % 68);
    for (int i = thread; i < 15 * 16; i += kThreads) enter_zeros(i / 16 + 1, i % 16);
    for (int i = thread; i < 7 * 15; i += kThreads) enter_run(i / 15 + 1, i % 15);
    __syncthreads();
  }

  template <class Reader>
  __device__ core::CoeffToken coeff_token(Reader& reader, int max_num_coeff, int nC) const {
    const std::uint32_t window = reader.peek(16);
    const int column = core::coeff_token_column(nC), prefix = 15 - core::highest_bit(window | 1);
    const std::uint32_t rest = (window << (prefix + 1) & 0xffff) >> 13;
    const std::uint32_t entry = column == 3 ? long_token[window >> 10]
                                            : token[column][static_cast<std::uint32_t>(prefix) << 3 | rest];
    core::CoeffToken found;
    if ((entry & 31) == 0 || static_cast<int>(entry >> 7) > max_num_coeff) return found;
    reader.skip(static_cast<int>(entry & 31));
    return {static_cast<int>(entry >> 7), static_cast<int>(entry >> 5 & 3)};
  }
  template <class Reader>
  __device__ int total_zeros(Reader& reader, int max_num_coeff, int total_coeff) const {
    return found(reader, zeros[total_coeff - 1][reader.peek(9)], max_num_coeff - total_coeff);
  }
  template <class Reader>
  __device__ int run_before(Reader& reader, int zeros_left) const {
    const std::uint32_t window = reader.peek(11);
    const std::uint32_t entry = zeros_left < 7 || window >> 8 != 0
                                    ? runs[min(zeros_left, 7) - 1][window >> 8]
                                    : long_runs[10 - core::highest_bit(window | 1)];
    return found(reader, entry, zeros_left);
  }

 private:
  template <class Reader>
  __device__ static int found(Reader& reader, std::uint32_t entry, int most) {
    const int symbol = static_cast<int>(entry >> 4);
    if ((entry & 15) == 0 || symbol > most) return core::kCavlcParseError;
    reader.skip(static_cast<int>(entry & 15));
    return symbol;
  }
  __device__ void enter_token(int column, int symbol) {
    const core::CodeWord code = core::coeff_token_code(column, symbol >> 2, symbol & 3);
    if (code.length == 0) return;
    const auto entry = static_cast<std::uint16_t>(symbol << 5 | code.length);
    if (column == 3) {
      long_token[code.bits] = entry;
      return;
    }
    const int rest = core::highest_bit(code.bits), prefix = code.length - 1 - rest;
    const std::uint32_t value = code.bits ^ 1u << rest;
    for (std::uint32_t i = 0; i < 8u >> rest; ++i)
      token[column][static_cast<std::uint32_t>(prefix) << 3 | value << (3 - rest) | i] = entry;
  }
  __device__ void enter_zeros(int total_coeff, int total_zeros) {
    const core::CodeWord code = core::total_zeros_code(total_coeff, total_zeros);
    if (code.length == 0) return;
    const int rest = 9 - code.length;
    for (std::uint32_t i = 0; i < 1u << rest; ++i)
      zeros[total_coeff - 1][(code.bits << rest) + i] =
          static_cast<std::uint8_t>(total_zeros << 4 | code.length);
  }
  __device__ void enter_run(int zeros_left, int run_before) {
    const core::CodeWord code = core::run_before_code(zeros_left, run_before);
    const auto entry = static_cast<std::uint8_t>(run_before << 4 | code.length);
    if (code.length > 3) long_runs[code.length - 1] = entry;
    if (code.length == 0 || code.length > 3) return;
    for (std::uint32_t i = 0; i < 8u >> code.length; ++i)
      runs[zeros_left - 1][(code.bits << (3 - code.length)) + i] = entry;
  }
};

}  // namespace cu264::cavlc
