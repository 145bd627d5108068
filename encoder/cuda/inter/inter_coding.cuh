// An inter macroblock whose vectors are known, on a warp: transform, quantisation and reconstruction, with
// the results of encoder/cpu/inter_coding_inl.h. Nothing depends on a neighbour.
#pragma once

#include <cstdint>

#include "core/cost.h"
#include "core/decimation.h"
#include "core/level_masks.h"
#include "core/p_syntax.h"
#include "core/partitions.h"
#include "core/qp_settings.h"
#include "encoder/cuda/inter/chain_view.h"
#include "encoder/cuda/inter/inter_prediction.cuh"
#include "encoder/cuda/search/chroma_search.cuh"
#include "encoder/cuda/search/intra8x8.cuh"
#include "encoder/cuda/search/macroblock_search.cuh"
#include "encoder/cuda/search/search_rate.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// What a warp needs besides WarpState.
template <bool kTransform8x8>
struct InterSpace {
  alignas(16) std::uint8_t luma[16][16];  // the prediction
  alignas(16) std::uint8_t chroma[2][8][8];
  typename Intra8x8Shared<kTransform8x8>::Space large;
};

// Counts of blocks in other macroblocks are not known when a macroblock is coded.
template <bool kRd>
__device__ void forget_neighbouring_counts(WarpState<kRd>& s, const LaneIndices& lane) {
  const std::int8_t unknown = SearchRate::kFraction > 0 ? 0 : -1;
  const int i = lane.lane & 3;
  if (lane.lane < 4) {
    s.luma_counts.at(-1, i) = unknown;
  } else if (lane.lane < 8) {
    s.luma_counts.at(i, -1) = unknown;
  } else if (lane.lane < 12) {
    s.chroma_counts[i >> 1].at(-1, i & 1) = unknown;
  } else if (lane.lane < 16) {
    s.chroma_counts[i >> 1].at(i & 1, -1) = unknown;
  }
}

// An 8x8 block of luma as it was coded; the same in all lanes.
struct CodedInterBlock {
  bool any;  // whether there are levels
  int squared_error = 0;
  int bits = 0;   // where rate decides
  int score = 0;  // core::decimation_score, where it does not
};

// Luma as it was coded with one size of transform.
struct CodedInterLuma {
  int pattern = 0;  // CodedBlockPatternLuma
  std::int64_t cost = 0;
};

template <bool kRd, bool kRdoq, bool kTransform8x8>
struct InterCoder {
  using Lists = FlatLists;
  WarpState<kRd>& s;
  InterSpace<kTransform8x8>& space;
  Intra8x8Shared<kTransform8x8>& tables;
  const SearchConstants& constants;
  const LaneConstants<Lists>& mine;
  const LaneIndices& lane;

  __device__ WarpRate rate() const { return rate_on_warp(constants.rate(), mine.rate_tables); }

  // ---- luma

  // The level of a block becomes the warp's, and its sample is reconstructed. Blocks of halves that are not
  // `active` are left alone. Returns which lanes have levels.
  __device__ unsigned store_small(int sub, int level, int in_order, int predicted, int& sample, bool active) {
    const unsigned nonzero = __ballot_sync(kWarp, active && in_order != 0);
    const int bx = core::luma_block_x(sub), by = core::luma_block_y(sub);
    const int residual = nonzero != 0 ? inverse_transform(lane, dequantised(mine.luma, level)) : 0;
    sample = core::clip_sample(predicted + residual, 8);
    if (active) {
      const int count = __popc((nonzero >> (16 * lane.half)) & 0xffff);
      s.levels[core::kSlotLuma + sub][lane.coding] = static_cast<std::int16_t>(level);
      *s.canvas.at(4 * bx + lane.x, 4 * by + lane.y) = static_cast<std::uint8_t>(sample);
      if (lane.position == 0) {
        s.counts[core::kSlotLuma + sub] = static_cast<std::uint8_t>(count);
        s.luma_counts.at(bx, by) = static_cast<std::int8_t>(count);
      }
    }
    __syncwarp();
    return nonzero;
  }

  // A block's levels depend on the counts of those to the left and above: first block 0, then 1 and 2,
  // then 3.
  __device__ CodedInterBlock code_small_by_rdoq(int block) {
    int share = 0, error = 0;
    unsigned any = 0;
#pragma unroll 1
    for (int pass = 0; pass < 3; ++pass) {
      const bool active = pass == 1 || lane.half == 0;
      const int sub = 4 * block + (pass == 0 ? 0 : pass == 1 ? 1 + lane.half : 3);
      const int bx = core::luma_block_x(sub), by = core::luma_block_y(sub);
      const int x = 4 * bx + lane.x, y = 4 * by + lane.y;
      const int source = s.luma[y][x], predicted = space.luma[y][x];
      const int scaled = forward_transform(lane, source - predicted) * mine.luma.multiplier;
      const int in_order = __shfl_sync(kWarp, scaled, 16 * lane.half + lane.raster);
      const int context = s.luma_counts.context(rate(), bx, by);
      __syncwarp();  // both halves have read their contexts
      const RdoqLevel chosen =
          choose_level_by_rdoq(s.rd.variants, rate(), lane, core::absolute(in_order), in_order < 0,
                               core::BlockCategory::luma_4x4, mine.luma.shift, context, active);
      const int level = __shfl_sync(kWarp, chosen.level, 16 * lane.half + lane.coding);
      int sample = 0;
      any |= store_small(sub, level, chosen.level, predicted, sample, active);
      if (active) {
        share += chosen.share;
        error += (source - sample) * (source - sample);
      }
    }
    CodedInterBlock coded{any != 0};
    coded.bits = warp_sum(share), coded.squared_error = warp_sum(error);
    return coded;
  }

  __device__ CodedInterBlock code_with_small_transforms(int block) {
    int share = 0, error = 0, score = 0;
    unsigned any = 0;
#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
      const int sub = 4 * block + 2 * pass + lane.half;
      const int bx = core::luma_block_x(sub), by = core::luma_block_y(sub);
      const int x = 4 * bx + lane.x, y = 4 * by + lane.y;
      const int source = s.luma[y][x], predicted = space.luma[y][x];
      const int level = signed_level(mine.luma, forward_transform(lane, source - predicted));
      const int in_order = __shfl_sync(kWarp, level, 16 * lane.half + lane.raster);
      int sample = 0;
      const unsigned nonzero = store_small(sub, level, in_order, predicted, sample, true);
      any |= nonzero;
      if constexpr (kRd) {
        share += rate().share(lane, in_order, core::BlockCategory::luma_4x4,
                              s.luma_counts.context(rate(), bx, by));
        error += (source - sample) * (source - sample);
      } else {
        const unsigned ones = __ballot_sync(kWarp, core::absolute(in_order) == 1);
        core::LevelMasks masks;
        masks.nonzero = (nonzero >> (16 * lane.half)) & 0xffff;
        masks.ones = (ones >> (16 * lane.half)) & 0xffff;
        score += core::decimation_score(masks, false);
      }
    }
    CodedInterBlock coded{any != 0};
    if constexpr (kRd) {
      coded.bits = warp_sum(share), coded.squared_error = warp_sum(error);
    } else {
      coded.score = __shfl_sync(kWarp, score, 0) + __shfl_sync(kWarp, score, 16);
    }
    return coded;
  }

  __device__ CodedInterBlock code_with_large_transform(int block) {
    Coder8x8<kRd> coder(s, space.large, tables.tables.quantisation, constants.qp, lane.lane,
                        core::kDeadZoneInterLuma8x8);
    Block8x8 b{};
    b.block = block;
    b.x = 8 * (block & 1), b.y = 8 * (block >> 1);
    b.grid = BlockGrid<4>::kOwn + (b.y >> 2) * BlockGrid<4>::kPitch + (b.x >> 2);
    Samples8x8 samples;
    coder.load_source(b, samples);
    const LaneIn8x8& place = coder.lane;
    samples.predicted[0] = space.luma[b.y + place.pair][b.x + place.line];
    samples.predicted[1] = space.luma[b.y + 7 - place.pair][b.x + place.line];
    std::int16_t* const levels = s.levels[b.slot()];
    if constexpr (kRdoq) {
      CodedInterBlock coded{};
      coded.bits = quantise_by_rdoq(coder, lane, rate(), b, samples);
      const Coded8x8 result = coder.reconstruct_stored(b, samples);
      coder.store_samples(b, result);
      coded.any = result.counts != 0;
      coded.squared_error = samples.squared_error(result);
      __syncwarp();
      return coded;
    }
    const Coded8x8 result = coder.code(samples, levels);
    coder.store(lane, b, result);
    __syncwarp();
    CodedInterBlock coded{result.counts != 0};
    if constexpr (kRd) {
      coded.bits = trial_bits(s, lane, rate(), b, levels, result.counts);
      coded.squared_error = samples.squared_error(result);
    } else {
      core::LevelMasks8x8 masks{};
      for (int half = 0; half < 2; ++half) {
        const int k = 32 * half + lane.lane;
        const int level = levels[16 * core::interleaved_block(k) + core::interleaved_level(k)];
        masks.nonzero |= static_cast<std::uint64_t>(__ballot_sync(kWarp, level != 0)) << (32 * half);
        masks.ones |= static_cast<std::uint64_t>(__ballot_sync(kWarp, core::absolute(level) == 1))
                      << (32 * half);
      }
      coded.score = core::decimation_score(masks, true);
    }
    return coded;
  }

  // A lane's two samples of an 8x8 block, in row lane / 4.
  __device__ int block_x(int block) const {
    return 8 * (block & 1) + 2 * (lane.lane & 3);
  }
  __device__ int block_y(int block) const {
    return 8 * (block >> 1) + (lane.lane >> 2);
  }

  __device__ int error_of_prediction(int block) const {
    const int x = block_x(block), y = block_y(block);
    int error = 0;
    for (int i = 0; i < 2; ++i) {
      const int difference = s.luma[y][x + i] - space.luma[y][x + i];
      error += difference * difference;
    }
    return warp_sum(error);
  }

  // Copies the prediction of an 8x8 block, and drops its levels.
  __device__ void drop_block(int block) {
    const int x = block_x(block), y = block_y(block);
    __syncwarp();  // all lanes have read their contexts
    for (int i = 0; i < 2; ++i) *s.canvas.at(x + i, y) = space.luma[y][x + i];
    if (lane.lane < 4) {
      const int sub = 4 * block + lane.lane;
      s.counts[core::kSlotLuma + sub] = 0;
      s.luma_counts.at(core::luma_block_x(sub), core::luma_block_y(sub)) = 0;
    }
    __syncwarp();
  }

  template <bool kLarge>
  __device__ CodedInterLuma code_luma() {
    CodedInterLuma luma;
    int score = 0;
#pragma unroll 1
    for (int block = 0; block < 4; ++block) {
      CodedInterBlock coded;
      if constexpr (kLarge) {
        coded = code_with_large_transform(block);
      } else if constexpr (kRdoq) {
        coded = code_small_by_rdoq(block);
      } else {
        coded = code_with_small_transforms(block);
      }
      bool kept = coded.any;
      if constexpr (kRd) {
        const std::int64_t cost =
            core::rd_cost<SearchRate>(coded.squared_error, coded.bits, constants.rd_lambda);
        const std::int64_t dropped =
            core::rd_cost<SearchRate>(error_of_prediction(block), 0, constants.rd_lambda);
        kept = kept && cost < dropped;
        luma.cost += kept ? cost : dropped;
      } else if (kept && coded.score < core::kDroppedBlock) {
        kept = false;
      } else {
        score += coded.score;
      }
      if (kept) {
        luma.pattern |= 1 << block;
      } else if (coded.any) {
        drop_block(block);
      }
    }
    if (!kRd && luma.pattern != 0 && score < core::kDroppedLuma) {
      drop_luma();
      luma.pattern = 0;
    }
    return luma;
  }

  __device__ void drop_luma() {
#pragma unroll 1
    for (int block = 0; block < 4; ++block) drop_block(block);
  }

  // By SATD of the residual with 4x4 transforms, and with 8x8.
  __device__ bool prefers_large_transform() const {
    int small = 0, large = 0;
    for (int pair = 0; pair < 2; ++pair) {
      const int sub = 8 * pair + (lane.lane >> 2);
      const int x = 4 * core::luma_block_x(sub), y = 4 * core::luma_block_y(sub) + (lane.lane & 3);
      const HadamardRows rows =
          hadamard_differences(mine.matrix, *reinterpret_cast<const std::uint32_t*>(&s.luma[y][x]),
                               *reinterpret_cast<const std::uint32_t*>(&space.luma[y][x]));
      small += satd_of_all(rows);
      const int share = static_cast<int>(partial_satd8x8(rows));
      if ((lane.lane & 1) == 0) large += share;
    }
    return warp_sum(large) < warp_sum(small);
  }

  // Returns luma with the transform that is better, which it leaves in the warp's state.
  __device__ CodedInterLuma choose_luma(MacroblockResult& result) {
    if constexpr (!kTransform8x8) {
      return code_luma<false>();
    } else if constexpr (kRd) {
      const CodedInterLuma large = code_luma<true>();
      keep_intra8x8(s, space.large, lane);
      const CodedInterLuma small = code_luma<false>();
      result.record.inter_transform_8x8 = large.cost < small.cost;
      if (!result.record.inter_transform_8x8) return small;
      restore_intra8x8(s, space.large, lane);
      return large;
    } else {
      result.record.inter_transform_8x8 = prefers_large_transform();
      return result.record.inter_transform_8x8 ? code_luma<true>() : code_luma<false>();
    }
  }

  // ---- chroma

  // Returns its cost where rate and distortion decide, and sets CodedBlockPatternChroma.
  __device__ std::int64_t code_chroma(int& pattern) {
    ChromaCoder<kRd, kRdoq, LaneQuantiser, true> coder{s,
                                                       constants,
                                                       lane,
                                                       rate(),
                                                       mine.chroma,
                                                       &space.chroma[0][0][0],
                                                       s.levels + core::kSlotChromaDc,
                                                       s.counts + core::kSlotChromaDc};
    quantise<kRdoq>(coder, true);
    const std::uint32_t row =
        *reinterpret_cast<const std::uint32_t*>(&space.chroma[0][0][0] + chroma_row_offset(lane));
    pattern = coder.pattern();
    std::int64_t least = 0;
    if constexpr (kRd) {
      const int dc_bits = warp_sum(coder.dc_bits), ac_bits = warp_sum(coder.ac_bits);
      least = core::kNothingToBeat;
      int best = 0;
#pragma unroll 1
      for (int tried = pattern; tried >= 0; --tried) {
        const int error =
            warp_sum(tried == 2 ? coder.reconstruct_with_ac(nullptr) : coder.flat_error(tried == 1, row));
        const std::int64_t bits = (tried > 0 ? dc_bits : 0) + (tried == 2 ? ac_bits : 0) +
                                  constants.rate().chroma_pattern_bits(tried);
        const std::int64_t cost =
            core::chroma_rd_cost<SearchRate>(error, bits, constants.rd_lambda, constants.chroma_error_weight);
        if (cost < least) least = cost, best = tried;
      }
      pattern = best;
    } else if (pattern == 2 && score_of_chroma() < core::kDroppedChroma) {
      pattern = __any_sync(kWarp, lane.lane < 2 && s.counts[core::kSlotChromaDc + (lane.lane & 1)] != 0);
    }
    copy_chroma_prediction();
    coder.reconstruct(pattern, row, &s.chroma_out[0][0][0]);
    clear_left_out_chroma(s, lane, pattern);
    __syncwarp();
    return least;
  }

  __device__ int score_of_chroma() const {
    int score = 0;
    if (lane.lane < 8) {
      score = core::decimation_score(core::level_masks(s.levels[core::kSlotChromaAc + lane.lane], 15), false);
    }
    return warp_sum(score);
  }

  __device__ void copy_chroma_prediction() {
    reinterpret_cast<std::uint32_t*>(s.chroma_out)[lane.lane] =
        reinterpret_cast<const std::uint32_t*>(space.chroma)[lane.lane];
    __syncwarp();
  }

  // ---- the macroblock

  // The cost by rate and distortion of what no block codes, and of the header.
  __device__ std::int64_t header_cost(int whole_bits) const {
    return core::bits_cost<SearchRate>(static_cast<std::int64_t>(whole_bits) << SearchRate::kFraction,
                                       constants.rd_lambda);
  }

  // Drops all levels if that is better: always where rate and distortion decide and nothing is left to code.
  __device__ void weigh_without_levels(InterChoice& choice, std::int64_t cost, int& luma_pattern,
                                       int& chroma_pattern) {
    const int pattern = luma_pattern | chroma_pattern << 4;
    const auto header_bits = [&](int coded_block_pattern) {
      return choice.bits +
             core::ue_length(static_cast<std::uint32_t>(core::inter_pattern_code_num(coded_block_pattern)));
    };
    choice.rd_cost = cost + header_cost(header_bits(pattern) + (pattern != 0 ? 1 : 0));
    std::int64_t error = 0;
#pragma unroll 1
    for (int block = 0; block < 4; ++block) error += error_of_prediction(block);
    const int word = lane.lane;
    const int chroma_error =
        warp_sum(squared_error4(reinterpret_cast<const std::uint32_t*>(s.chroma)[word],
                                reinterpret_cast<const std::uint32_t*>(space.chroma)[word]));
    const std::int64_t dropped = (error << core::kRdCostShift) +
                                 static_cast<std::int64_t>(chroma_error) * constants.chroma_error_weight +
                                 header_cost(choice.skips ? 1 : header_bits(0));
    if (pattern != 0 && dropped > choice.rd_cost) return;
    choice.rd_cost = dropped;
    if (pattern == 0) return;
    drop_luma();
    copy_chroma_prediction();
    clear_left_out_chroma(s, lane, 0);
    __syncwarp();
    luma_pattern = chroma_pattern = 0;
  }

  // Codes the macroblock, whose source and prediction are in shared memory. Sets choice.rd_cost where rate
  // and distortion decide.
  __device__ MacroblockResult code(InterChoice& choice) {
    MacroblockResult result;
    forget_neighbouring_counts(s, lane);
    if (lane.lane == 0) s.counts[core::kSlotLumaDc] = 0;
    if (lane.lane < 16) s.modes.at(lane.lane & 3, lane.lane >> 2) = core::kIntra4x4Dc;
    __syncwarp();
    result.record.kind = choice.kind;
    const CodedInterLuma luma = choose_luma(result);
    int luma_pattern = luma.pattern, chroma_pattern = 0;
    result.cost = luma.cost + code_chroma(chroma_pattern);
    if constexpr (kRd) weigh_without_levels(choice, result.cost, luma_pattern, chroma_pattern);
    if (luma_pattern == 0) result.record.inter_transform_8x8 = false;  // as a decoder infers it
    result.record.intra_chroma_pred_mode = core::kIntraChromaDc;
    result.record.coded_block_pattern = static_cast<std::uint8_t>(luma_pattern | chroma_pattern << 4);
    result.mode_bits = core::most_inter_header_bits(choice.bits);
    finish_macroblock<kTransform8x8>(s, constants, mine, result);
    return result;
  }
};

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
