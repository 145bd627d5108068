#include "vision/published/pass_hysteresis.h"

namespace cu264::vision {
namespace {

constexpr int kWordBits = 32;

}  // namespace

void PassHysteresis::run(const LevelView& levels, int low, int high) {
  words_ = (levels.width + kWordBits - 1) / kWordBits + 2;
  rows_ = levels.height + 2;
  const std::size_t size = static_cast<std::size_t>(words_) * static_cast<std::size_t>(rows_);
  high_.assign(size, 0);
  instability_.assign(size, 0);
  for (int y = 0; y < levels.height; ++y) {
    const std::uint8_t* const row = levels.row(y);
    const std::size_t begin = static_cast<std::size_t>(y + 1) * words_ + 1;
    for (int x = 0; x < levels.width; ++x) {
      const std::uint32_t mask = 1u << (x % kWordBits);
      if (row[x] >= high) {
        high_[begin + x / kWordBits] |= mask;
      } else if (row[x] > low) {
        instability_[begin + x / kWordBits] |= mask;
      }
    }
  }
  hysteresis_ = high_;
  passes_ = 0;
  do {
    ++passes_;
  } while (pass());
}

// All pixels see the map as it was before the pass, as if at once.
bool PassHysteresis::pass() {
  before_ = hysteresis_;
  bool updated = false;
  for (int y = 1; y < rows_ - 1; ++y) {
    for (int word = 1; word < words_ - 1; ++word) {
      const std::size_t at = static_cast<std::size_t>(y) * words_ + word;
      if (instability_[at] == 0) continue;
      std::uint32_t link = 0;
      for (const std::size_t row : {at - words_, at, at + words_}) {
        const std::uint32_t middle = before_[row];
        link |= middle | middle << 1 | middle >> 1 | before_[row - 1] >> (kWordBits - 1) |
                before_[row + 1] << (kWordBits - 1);
      }
      const std::uint32_t added = instability_[at] & link;
      hysteresis_[at] |= added;
      instability_[at] &= ~added;
      updated = updated || added != 0;
    }
  }
  return updated;
}

bool PassHysteresis::bit(const std::vector<std::uint32_t>& map, int x, int y) const {
  return map[static_cast<std::size_t>(y + 1) * words_ + 1 + x / kWordBits] >> (x % kWordBits) & 1;
}

void published_sums(const LevelView& levels, const CandidateSet& set, PassHysteresis& hysteresis,
                    std::uint16_t* sm, std::ptrdiff_t sm_pitch) {
  for (int y = 0; y < levels.height; ++y) {
    for (int x = 0; x < levels.width; ++x) sm[y * sm_pitch + x] = 0;
  }
  for (int low = 0; low < set.count; ++low) {
    for (int high = low + 1; high < set.count; ++high) {
      hysteresis.run(levels, set.level[low], set.level[high]);
      for (int y = 0; y < levels.height; ++y) {
        for (int x = 0; x < levels.width; ++x) {
          sm[y * sm_pitch + x] = static_cast<std::uint16_t>(sm[y * sm_pitch + x] + hysteresis.linked(x, y));
        }
      }
    }
  }
}

}  // namespace cu264::vision
