// Whether an inter macroblock becomes P_Skip, decided when the vectors of the macroblocks before it are
// final. Vectors are chosen with those that the neighbours had in the pass before (core/motion_merge.h), so
// where P_Skip would do as well, many macroblocks have a vector beside it.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/cost.h"
#include "core/hd.h"
#include "core/motion_prediction.h"
#include "core/motion_vector.h"
#include "core/partitions.h"

namespace cu264::core {

// The vector of P_Skip, and whether the macroblock is P_Skip already.
struct SkipOffer {
  MotionVector vector;
  bool taken;
};

// Whether a macroblock will be an I macroblock, as far as is known before the search for those: where SATD
// decides, most that are likely to be will.
CU264_HD bool will_be_intra(MacroblockKind kind, bool intra_is_likely, bool by_rd) {
  return !is_inter(kind) || (intra_is_likely && !by_rd);
}

// `first`: the vector of the macroblock's first 8x8 block. field(offset, block): as for motion_neighbours.
template <class Field>
CU264_HD SkipOffer offer_skip(const MotionPlace& place, MacroblockKind kind, int coded_block_pattern,
                              MotionVector first, const Field& field) {
  const MotionVector vector = skip_vector(motion_neighbours(place, 0, 2, field));
  return {vector, kind == MacroblockKind::p16x16 && coded_block_pattern == 0 && first == vector};
}

// Bits of mb_type and mvd of a macroblock as it is. vectors[block] are its vectors.
template <class Vectors, class Field>
CU264_HD int inter_header_bits(const MotionPlace& place, MacroblockKind kind, const Vectors& vectors,
                               const Field& field) {
  int bits = inter_type_bits(kind);
  for (int block = 0; block < 4; ++block) {
    if (!begins_partition(kind, block)) continue;
    const MotionNeighbours n = motion_neighbours(place, block, partition_width(kind), field);
    bits += mvd_bits(vectors[block] - predicted_vector(n, kind, block));
  }
  return bits;
}

// The cost of P_Skip by rate and distortion, given the squared errors of its prediction. It takes a bit.
CU264_HD std::int64_t skip_rd_cost(int luma_error, int chroma_error, int rd_lambda, int chroma_error_weight) {
  return rd_cost(luma_error, 1, rd_lambda) + chroma_rd_cost(chroma_error, 0, rd_lambda, chroma_error_weight);
}

// The cost of a macroblock whose header was thought to take `bits`.
CU264_HD std::int64_t with_header(std::int64_t rd_cost, int bits, int header_bits, int rd_lambda) {
  return rd_cost + bits_cost(header_bits - bits, rd_lambda);
}

}  // namespace cu264::core
