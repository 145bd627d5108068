// The predicted size of one picture as a function of its QP.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include "encoder/rate_control/bits_model.h"

namespace cu264::encoder {

// a * b / c, rounded down, without overflow in between; c > 0.
inline std::int64_t scaled(std::int64_t a, std::int64_t b, std::int64_t c) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(a) * b / c);
}

class BitsCurve {
 public:
  // Bits at a QP from 0 to 51, which do not grow with it. It is asked for each QP once at most.
  using Model = std::function<std::int64_t(int qp)>;

  BitsCurve() = default;
  explicit BitsCurve(Model model) : model_(std::move(model)) { bits_.fill(kUnknown); }

  // Between two QPs the bits are interpolated: the rows of a picture whose QP has a fraction have one or the
  // other. At least 1.
  std::int64_t at(int qp_q8) {
    const int qp = qp_q8 >> 8, fraction = qp_q8 & 255;
    const std::int64_t bits = of(qp);
    return fraction == 0 ? bits : bits - (bits - of(qp + 1)) * fraction / 256;
  }

  // The lowest QP at which the picture has at most `bits`; kMaxQpQ8 if none has.
  int qp_for(std::int64_t bits) {
    if (of(51) >= bits) return kMaxQpQ8;
    int above = -1, below = 51;  // of(below) <= bits
    while (below - above > 1) {
      const int middle = (above + below) / 2;
      (of(middle) <= bits ? below : above) = middle;
    }
    if (below == 0) return 0;
    const std::int64_t step = of(above) - of(below);
    return above * 256 + static_cast<int>(((of(above) - bits) * 256 + step - 1) / step);
  }

 private:
  static constexpr std::int64_t kUnknown = -1;

  std::int64_t of(int qp) {
    std::int64_t& bits = bits_[static_cast<std::size_t>(qp)];
    if (bits == kUnknown) bits = std::max<std::int64_t>(model_(qp), 1);
    return bits;
  }

  Model model_;
  std::array<std::int64_t, 52> bits_{};
};

}  // namespace cu264::encoder
