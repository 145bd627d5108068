// The costs that the mode decision minimises: distortion plus lambda times bits, in integers.
//
// Both lambdas follow the quantiser's step (H.264 table 8-15: step = 0.625 * 2^(QP / 6)): linearly for
// absolute differences, and as its square for squared errors. In level units (core/quant.h) the trade-off is
// then the same at every QP.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/hd.h"
#include "core/quant.h"
#include "core/transform.h"

namespace cu264::core {

template <class T>
CU264_HD T absolute(const T& x) {
  return x < 0 ? -x : x;
}

// Returns the sum of absolute Hadamard coefficients of a 4x4 difference, and overwrites `difference`. T as in
// core/transform.h.
template <class T>
CU264_HD T satd4x4(T (&difference)[16]) {
  hadamard4x4(difference);
  T sum = absolute(difference[0]);
  for (int i = 1; i < 16; ++i) sum = sum + absolute(difference[i]);
  return sum;
}

// The same of an 8x8 difference, halved, so that noise costs as much in an 8x8 block as in its four 4x4
// blocks.
CU264_HD int satd8x8(int (&difference)[64]) {
  for (int i = 0; i < 64; i += 8) {
    hadamard8_1d(difference[i], difference[i + 1], difference[i + 2], difference[i + 3], difference[i + 4],
                 difference[i + 5], difference[i + 6], difference[i + 7]);
  }
  int sum = 0;
  for (int i = 0; i < 8; ++i) {
    hadamard8_1d(difference[i], difference[8 + i], difference[16 + i], difference[24 + i], difference[32 + i],
                 difference[40 + i], difference[48 + i], difference[56 + i]);
    for (int k = 0; k < 64; k += 8) sum += absolute(difference[i + k]);
  }
  return (sum + 1) >> 1;
}

// Rate models count bits with Rate::kFraction fractional bits; this is the default where a model is not
// named.
struct WholeBits {
  static constexpr int kFraction = 0;
  static constexpr int kSatdWeight = 32;
};

// Lambda times bits.
template <class Rate = WholeBits, class T = std::int64_t>
CU264_HD T bits_cost(std::type_identity_t<T> bits, int lambda) {
  if constexpr (Rate::kFraction == 0) return static_cast<T>(lambda) * bits;
  return static_cast<T>(static_cast<std::int64_t>(lambda) * static_cast<std::int64_t>(bits) >>
                        Rate::kFraction);
}

// Lambda per bit for SATD as summed above. Rate::kSatdWeight: the weight of the model's bits, in 32nds.
template <class Rate = WholeBits>
CU264_HD int satd_lambda(int qp) {
  static constexpr std::uint16_t sixth_powers[6] = {128, 144, 161, 181, 203, 228};  // 128 * 2^(i / 6)
  const int lambda = ((sixth_powers[qp % 6] << (qp / 6)) * Rate::kSatdWeight) >> 13;
  return lambda > 1 ? lambda : 1;
}

// The same for chroma modes, at chroma's QP. It is half as large, because a chroma error weighs more than a
// luma error (chroma_error_weight). The factor was measured.
CU264_HD int chroma_satd_lambda(int qp) {
  const int lambda = satd_lambda(chroma_qp(qp)) / 2;
  return lambda > 1 ? lambda : 1;
}

// Rate-distortion cost: squared error with 8 fractional bits.
inline constexpr int kRdCostShift = 8;

// Lambda per bit for squared errors, in the same fixed point: about 0.47 * 2^((QP - 12) / 3).
CU264_HD int rd_lambda(int qp) {
  static constexpr std::uint16_t third_powers[3] = {120, 152, 191};
  return (third_powers[qp % 3] << (qp / 3)) >> 4;
}

// Returns the weight of a squared error of chroma in 256ths of one of luma: 7/4 * 2^((QP - QP_C) / 3). The
// power of two adapts lambda to chroma's quantiser step. The factor is the weight that (6 Y + U + V) / 8 of
// the PSNRs gives a sample: 2/3 of the ratio of luma's mean squared error to chroma's, which is two to three
// times smaller.
CU264_HD int chroma_error_weight(int qp) {
  static constexpr std::uint16_t third_powers[3] = {448, 564, 711};
  const int finer = qp - chroma_qp(qp);
  return third_powers[finer % 3] << (finer / 3);
}

// 32 bits suffice for a 4x4 block: 266 million of squared error and less than 2^30 of bits.
template <class Rate = WholeBits, class T = std::int64_t>
CU264_HD T rd_cost(std::type_identity_t<T> squared_error, std::type_identity_t<T> bits, int lambda) {
  return (squared_error << kRdCostShift) + bits_cost<Rate, T>(bits, lambda);
}

// The same for chroma, so that it may be added to luma's.
template <class Rate = WholeBits>
CU264_HD std::int64_t chroma_rd_cost(std::int64_t squared_error, std::int64_t bits, int lambda, int weight) {
  return squared_error * weight + bits_cost<Rate>(bits, lambda);
}

}  // namespace cu264::core
