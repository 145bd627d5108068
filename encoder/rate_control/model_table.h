// The coefficients of the bits model, fitted to the sizes of coded pictures (bench/results/rate-model.md).
#pragma once

#include "cu264/encoder.h"

namespace cu264::encoder {

// A picture's bits are a weighted sum of, in this order,
//   its macroblocks;
//   luma: 4x4 blocks with levels in two of four groups, in all groups, levels, doublings of levels;
//   macroblocks with Intra_4x4, and those in which it saves much;
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
      {{1567, 1355, 426, 865, 278, 0, 6860, 0, 598, 533}},
      {{1557, 1476, 244, 859, 256, 351, 7463, 0, 616, 576}},
      {{1467, 1460, 0, 845, 249, 938, 9194, 375, 594, 640}},
      {{1746, 1387, 0, 870, 195, 1296, 9530, 1431, 489, 284}},
      {{1874, 1732, 0, 913, 0, 1419, 8861, 2080, 459, 0}},
  };
  static constexpr BitWeights balanced[kWeightRows] = {
      {{1560, 1981, 2212, 587, 313, 0, 6529, 0, 636, 519}},
      {{1536, 2145, 1905, 579, 301, 163, 7376, 0, 625, 567}},
      {{1443, 2251, 1207, 574, 318, 745, 8864, 254, 603, 640}},
      {{1734, 2267, 804, 619, 286, 1171, 8936, 1353, 512, 243}},
      {{1846, 2630, 647, 676, 0, 1301, 7925, 1982, 529, 0}},
  };
  static constexpr BitWeights best[kWeightRows] = {
      {{1574, 2363, 3134, 428, 340, 0, 2314, 0, 810, 459}},
      {{1565, 2583, 2785, 422, 331, 0, 4643, 0, 846, 465}},
      {{1392, 2658, 2244, 412, 353, 0, 7952, 332, 820, 432}},
      {{1756, 2565, 2191, 430, 319, 432, 9660, 1224, 617, 0}},
      {{1894, 2981, 2504, 460, 0, 482, 8649, 1566, 584, 0}},
  };
  return preset == Preset::fast ? fast : preset == Preset::balanced ? balanced : best;
}

}  // namespace cu264::encoder
