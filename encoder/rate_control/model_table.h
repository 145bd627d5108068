// The coefficients of the bits model.
#pragma once

#include "cu264/encoder.h"

namespace cu264::encoder {

// What a picture's bits are a weighted sum of: its macroblocks, and for luma and for chroma the coded blocks,
// the levels, and the logarithms of the levels' magnitudes.
inline constexpr int kBitWeights = 7;
inline constexpr int kWeightOne = 256;
struct BitWeights {
  int of[kBitWeights];
};

// The weights at these QPs; between them they are interpolated.
inline constexpr int kWeightRows = 5;
inline constexpr int kWeightQps[kWeightRows] = {12, 20, 28, 36, 44};

inline const BitWeights* bit_weights(Preset) {
  static constexpr BitWeights table[kWeightRows] = {{{5000, 700, 900, 400, 500, 1000, 400}},
                                                    {{4000, 700, 950, 400, 500, 1100, 400}},
                                                    {{3000, 700, 1000, 400, 500, 1200, 400}},
                                                    {{2000, 800, 1100, 400, 500, 1300, 400}},
                                                    {{1500, 800, 1200, 400, 500, 1400, 400}}};
  return table;
}

}  // namespace cu264::encoder
