// Decisions by rate and distortion between whole candidates, each a prediction mode with a pattern: those of
// Intra_16x16 (its AC levels coded or not) and of chroma (CodedBlockPatternChroma).
#pragma once

#include <cstdint>

#include "core/candidates.h"
#include "core/cost.h"
#include "core/hd.h"

namespace cu264::core {

// RDOQ is tried on Intra_16x16 only if its cost without RDOQ is at most this many 16ths of Intra_4x4's cost.
inline constexpr int kWorthRdoq = 17;

inline constexpr std::int64_t kNothingToBeat = INT64_MAX;

CU264_HD bool rdoq_is_worth(std::int64_t cost, std::int64_t cost_to_beat) {
  return cost_to_beat == kNothingToBeat || 16 * cost <= cost_to_beat * kWorthRdoq;
}

// CodedBlockPatternChroma that the levels call for (H.264 7.4.5).
CU264_HD int chroma_pattern(bool any_dc, bool any_ac) {
  return any_ac ? 2 : any_dc ? 1 : 0;
}

// Where SATD decides, patterns are not compared. Instead, AC levels are dropped if their magnitudes add up to
// no more than this. Either all AC blocks are coded or none, and a few levels that noise lifts just above the
// dead zone are not worth the bits of the many empty blocks.
inline constexpr int kTooFewLumaAc = 3;  // of Intra_16x16
inline constexpr int kTooFewChromaAc = 1;

CU264_HD bool ac_is_worth_coding(int sum_of_magnitudes, int too_few) {
  return sum_of_magnitudes > too_few;
}

// Bits of Intra_16x16 luma with its header. with_ac: 0 or 1.
template <class Rate>
CU264_HD std::int64_t intra16x16_bits(const Rate& rate, int mode, int with_ac, int chroma_pattern,
                                      std::int64_t dc_bits, std::int64_t ac_bits) {
  return dc_bits + (with_ac ? ac_bits : 0) +
         rate.intra16x16_header_bits(mode, with_ac ? 15 : 0, chroma_pattern);
}

// Bits of chroma with its share of the header.
template <class Rate>
CU264_HD std::int64_t chroma_bits(const Rate& rate, int mode, int pattern, std::int64_t dc_bits,
                                  std::int64_t ac_bits) {
  return rate.chroma_mode_bits(mode) + rate.chroma_pattern_bits(pattern) + (pattern > 0 ? dc_bits : 0) +
         (pattern == 2 ? ac_bits : 0);
}

struct ModeChoice {
  int mode = 0;
  int pattern = 0;  // with_ac of Intra_16x16, CodedBlockPatternChroma
  std::int64_t cost = 0;
};

// Tries the sorted modes that are worth it, at most `most`, each with the pattern that its levels call for
// and with all lower patterns. Then tries the chosen mode once more with RDOQ, if the preset has it. On a tie
// the higher pattern of a mode wins, and the lower mode. cost_to_beat: see rdoq_is_worth.
//
// Trials computes:
//   rdoq()                     what the preset asks for
//   cost(squared_error, bits)  by rate and distortion
//   code(mode, by_rdoq)        predicts and quantises; gives a trial
//   keep(trial, pattern)       makes this the best so far
// and a trial: highest_pattern(), squared_error(pattern), bits(pattern). Patterns are asked for from the
// highest down.
template <class Trials>
CU264_FLOW ModeChoice choose_mode(Trials& trials, const SatdRank (&ranks)[4], int most,
                                  std::int64_t cost_to_beat) {
  ModeChoice choice;
  RdRank best = kNoRdRank;
  const int tried = count_worth(ranks, most, kWorthMode);
  CU264_ROLLED
  for (int i = 0; i < tried + trials.rdoq(); ++i) {
    const bool by_rdoq = i == tried;
    if (by_rdoq && !rdoq_is_worth(cost_of_rank(best), cost_to_beat)) break;
    if (by_rdoq) best = kNoRdRank;
    const int mode = by_rdoq ? choice.mode : nth_mode(ranks, i);
    auto trial = trials.code(mode, by_rdoq);
    bool better = false;
    CU264_ROLLED
    for (int pattern = trial.highest_pattern(); pattern >= 0; --pattern) {
      const std::int64_t cost = trials.cost(trial.squared_error(pattern), trial.bits(pattern));
      const RdRank rank = rd_rank(cost, mode);
      if (rank >= best) continue;
      best = rank;
      choice.mode = mode;
      choice.pattern = pattern;
      better = true;
    }
    if (better) trials.keep(trial, choice.pattern);
  }
  choice.cost = cost_of_rank(best);
  return choice;
}

}  // namespace cu264::core
