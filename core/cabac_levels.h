// The cost of a level's magnitude and sign in CABAC (coeff_abs_level_minus1, coeff_sign_flag), and by how
// much the costs of a block's levels change when one of them is lowered by one, which RDOQ asks of every
// level.
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/cabac_block.h"
#include "core/hd.h"

namespace cu264::core {

// Costs are in units of 1/32 of a bit. No bin costs more than 184 of them.
inline constexpr int kCabacFraction = 5;
inline constexpr int kCabacBit = 1 << kCabacFraction;

// The cost of coeff_abs_level_minus1 and the sign. Levels are coded from the highest frequency down, and the
// levels already coded in the block select the contexts (9.3.3.1.3). The first bin's context is 0 after a
// level of magnitude two or more; otherwise it is one more than the number of levels of magnitude one, up to
// 4. The context of the other bins is the number of greater levels, up to 4.
struct LevelCosts {
  std::uint16_t one[5];    // magnitude one
  std::uint16_t first[5];  // the first bin of a greater magnitude
  std::uint16_t more[5];   // each further bin that is a one
  std::uint16_t end[5];    // the zero that ends the prefix
};

// The least magnitude whose prefix has no zero at its end and is followed by a suffix.
inline constexpr int kSuffixMagnitude = kAbsLevelPrefix + 1;

// The same in one context.
struct LevelCost {
  int one, first, more, end;
};

// ones, greater: how many levels of magnitude one and of greater magnitude were coded before this one.
CU264_HD constexpr LevelCost level_cost(const LevelCosts& costs, int ones, int greater) {
  const int first = greater != 0 ? 0 : ones < 3 ? 1 + ones : 4, next = greater < 4 ? greater : 4;
  return {costs.one[first], costs.first[first], costs.more[next], costs.end[next]};
}

// Returns what a level costs without its position and its suffix.
CU264_HD constexpr int cabac_prefix_cost(const LevelCost& cost, int magnitude) {
  if (magnitude == 1) return cost.one;
  if (magnitude >= kSuffixMagnitude) return cost.first + (kSuffixMagnitude - 2) * cost.more;
  return cost.first + (magnitude - 2) * cost.more + cost.end;
}

// Returns what the suffix costs.
CU264_HD int cabac_suffix_cost(int magnitude) {
  if (magnitude < kSuffixMagnitude) return 0;
  const int n = highest_bit(static_cast<std::uint32_t>(magnitude - kSuffixMagnitude + 1));
  return (2 * n + 1) * kCabacBit;  // put_abs_level_suffix
}

CU264_HD int cabac_level_cost(const LevelCost& cost, int magnitude) {
  return cabac_prefix_cost(cost, magnitude) + cabac_suffix_cost(magnitude);
}

// The levels coded before a level, as far as they matter to the functions below: the number of levels of
// magnitude one, up to 4, while there is no greater one; up to 2 with one greater level; or 2 to 5 greater
// levels.
inline constexpr int kLevelContexts = 12;

CU264_HD constexpr int level_context(int ones, int greater) {
  const int most_ones = greater == 0 ? 4 : 2, few = (ones < most_ones ? ones : most_ones) + 5 * greater;
  return greater < 2 ? few : 6 + (greater < 5 ? greater : 5);
}

// The differences of costs in a context, for levels of magnitude one or for greater ones.
struct alignas(16) StepCosts {
  // How the level's own cost changes when its magnitude drops to 0 or 1, drops by one below kSuffixMagnitude,
  // or falls below kSuffixMagnitude.
  std::int16_t own, own_more, own_suffix;
  // How its cost changes when an earlier level goes from one to zero.
  std::int16_t fewer_ones;
  // How its cost changes when an earlier level goes from two to one: at magnitude one or two, for each
  // further bin of the prefix, and with a suffix.
  std::int16_t fewer_greater, fewer_greater_more, fewer_greater_suffix;
  std::int16_t unused;
};

struct StepCostTable {
  StepCosts at[2 * kLevelContexts];  // of levels of magnitude one, then of greater ones
};

constexpr StepCostTable make_step_costs(const LevelCosts& costs) {
  StepCostTable table{};
  for (int context = 0; context < kLevelContexts; ++context) {
    // Levels that lead to the context.
    const int greater = context < 5 ? 0 : context < 8 ? 1 : context - 6;
    const int ones = context < 5 ? context : context < 8 ? context - 5 : 0;
    const LevelCost here = level_cost(costs, ones, greater);
    // Where no earlier level can make the step, nothing changes.
    const LevelCost fewer_ones = ones == 0 ? here : level_cost(costs, ones - 1, greater);
    const LevelCost fewer_greater = greater == 0 ? here : level_cost(costs, ones + 1, greater - 1);
    const auto cost = [&](int magnitude) { return cabac_prefix_cost(here, magnitude); };
    const auto narrow = [](int value) { return static_cast<std::int16_t>(value); };
    const auto change = [&](const LevelCost& to, int magnitude) {
      return narrow(cabac_prefix_cost(to, magnitude) - cost(magnitude));
    };
    StepCosts& one = table.at[context];
    one.own = narrow(-cost(1));
    one.fewer_ones = change(fewer_ones, 1);
    one.fewer_greater = change(fewer_greater, 1);
    StepCosts& more = table.at[kLevelContexts + context];
    more.own = narrow(cost(1) - cost(2));
    more.own_more = narrow(cost(2) - cost(3));
    more.own_suffix = narrow(cost(kSuffixMagnitude - 1) - cost(kSuffixMagnitude) - kCabacBit);
    more.fewer_ones = change(fewer_ones, 2);
    more.fewer_greater = change(fewer_greater, 2);
    more.fewer_greater_more = narrow(change(fewer_greater, 3) - change(fewer_greater, 2));
    more.fewer_greater_suffix = change(fewer_greater, kSuffixMagnitude);
  }
  return table;
}

// How a level's cost changes when it, or a level before it, is lowered.
struct StepChanges {
  int own = 0;            // the level is lowered by one
  int fewer_ones = 0;     // a level before it changes from one to zero
  int fewer_greater = 0;  // a level before it changes from two to one
};

// table: StepCostTable::at.
CU264_HD StepChanges step_changes(const StepCosts* table, int magnitude, int ones, int greater) {
  const StepCosts costs = table[(magnitude == 1 ? 0 : kLevelContexts) + level_context(ones, greater)];
  StepChanges changes;
  changes.fewer_ones = costs.fewer_ones;
  if (magnitude < kSuffixMagnitude) {
    changes.own = magnitude <= 2 ? costs.own : costs.own_more;
    changes.fewer_greater = costs.fewer_greater + (magnitude - 2) * costs.fewer_greater_more;
  } else {
    // A suffix is two bits longer at each power of two.
    const int value = magnitude - kSuffixMagnitude + 1;
    changes.own = value == 1 ? costs.own_suffix : (value & (value - 1)) == 0 ? -2 * kCabacBit : 0;
    changes.fewer_greater = costs.fewer_greater_suffix;
  }
  return changes;
}

// Returns how a block's bits change when a level is lowered by one. step: the level's changes. below: the
// sums of the changes of all levels that are coded after it, which are those of lower frequencies.
// of_position: the change in the cost of its position if it becomes zero.
CU264_HD int cabac_step_bits(const StepChanges& step, int magnitude, const StepChanges& below,
                             int of_position) {
  return step.own + (magnitude == 1   ? below.fewer_ones + of_position
                     : magnitude == 2 ? below.fewer_greater
                                      : 0);
}

}  // namespace cu264::core
