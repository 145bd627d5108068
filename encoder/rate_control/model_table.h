// The coefficients of the bits model, fitted to the sizes of coded pictures (bench/results/rate-model.md).
#pragma once

#include "cu264/encoder.h"

namespace cu264::encoder {

// A picture's bits are a weighted sum of, in this order,
//   its macroblocks;
//   luma: 4x4 blocks with levels in two of four groups, in all groups, levels, doublings of levels;
//   DC of Intra_16x16: levels, doublings;
//   chroma: coded blocks, levels, doublings.
inline constexpr int kBitWeights = 10;
inline constexpr int kWeightOne = 256;
struct BitWeights {
  int of[kBitWeights];
};

// The weights at these QPs; between them they are interpolated.
inline constexpr int kWeightRows = 5;
inline constexpr int kWeightQps[kWeightRows] = {12, 20, 28, 36, 44};

inline const BitWeights* bit_weights(Preset preset) {
  static constexpr BitWeights fast[kWeightRows] = {
      {{2449, 287, 69, 1134, 197, 1383, 0, 0, 205, 613}},
      {{1526, 241, 81, 1131, 128, 1460, 0, 163, 239, 614}},
      {{1968, 142, 0, 1121, 37, 1602, 0, 778, 172, 502}},
      {{2146, 0, 0, 1053, 0, 1781, 0, 1540, 0, 0}},
      {{2269, 803, 0, 1030, 0, 1857, 0, 2110, 0, 0}},
  };
  static constexpr BitWeights balanced[kWeightRows] = {
      {{0, 1120, 9138, 1, 349, 1376, 0, 0, 605, 456}},
      {{1412, 1648, 8442, 0, 315, 1425, 0, 0, 477, 415}},
      {{1702, 2228, 7118, 0, 288, 1488, 0, 369, 354, 317}},
      {{1938, 2918, 5213, 23, 252, 1368, 0, 694, 192, 11}},
      {{1985, 3229, 7168, 0, 0, 1186, 0, 349, 0, 0}},
  };
  static constexpr BitWeights best[kWeightRows] = {
      {{0, 1093, 9028, 5, 356, 1247, 0, 0, 628, 448}},
      {{1380, 1608, 8252, 0, 329, 1316, 0, 0, 519, 415}},
      {{1695, 2110, 6850, 0, 317, 1385, 0, 455, 408, 317}},
      {{1922, 2725, 5082, 15, 305, 1265, 0, 779, 228, 39}},
      {{1942, 3178, 7124, 0, 0, 1066, 0, 382, 0, 0}},
  };
  return preset == Preset::fast ? fast : preset == Preset::balanced ? balanced : best;
}

}  // namespace cu264::encoder
