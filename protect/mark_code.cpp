#include "protect/mark_code.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace cu264::protect {
namespace {

// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014). It is part of the format.
std::uint64_t scrambled(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

template <class Row>
bool odd_in_common(const Row& a, const Row& b) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum ^= a[i] & b[i];
  return (std::popcount(sum) & 1) != 0;
}

template <class Row>
bool bit_of(const Row& row, std::uint32_t index) {
  return (row[index / 64] >> (index % 64) & 1) != 0;
}

}  // namespace

// Linear equations modulo 2 for the bits of a group, in echelon form.
class MarkCode::Equations {
 public:
  explicit Equations(std::uint32_t bits) : bits_(bits), with_first_(bits), is_set_(bits) {}

  bool complete() const { return count_ == bits_; }

  // Adds "the sum of these bits is `sum`". Equations that follow from earlier ones, or contradict them, are
  // ignored.
  void add(Row row, bool sum) {
    for (std::size_t word = 0; word < row.size(); ++word) {
      while (row[word] != 0) {
        const std::size_t first = 64 * word + static_cast<std::size_t>(std::countr_zero(row[word]));
        if (!is_set_[first]) {
          with_first_[first] = {row, sum};
          is_set_[first] = true;
          ++count_;
          return;
        }
        for (std::size_t i = word; i < row.size(); ++i) row[i] ^= with_first_[first].row[i];
        sum ^= with_first_[first].sum;
      }
    }
  }

  // Returns the bits. The equations must be complete.
  Row solution() const {
    Row found{};
    for (std::uint32_t bit = bits_; bit-- > 0;) {
      const Equation& equation = with_first_[bit];
      const bool value = equation.sum != odd_in_common(equation.row, found);
      found[bit / 64] |= static_cast<std::uint64_t>(value) << (bit % 64);
    }
    return found;
  }

 private:
  struct Equation {
    Row row;
    bool sum;
  };
  std::uint32_t bits_, count_ = 0;
  std::vector<Equation> with_first_;  // [bit]: the equation whose first bit this is
  std::vector<bool> is_set_;
};

MarkCode::MarkCode(std::uint32_t frame_bytes)
    : frame_bytes_(frame_bytes), groups_((frame_bytes + kGroupBytes - 1) / kGroupBytes) {
  const std::uint32_t largest = (frame_bytes_ + groups_ - 1) / groups_;
  coded_bits_of_group_ = 8 * kCodedBits * largest;
}

MarkCode::Row MarkCode::summands(std::uint32_t number, std::uint32_t bits) {
  Row row{};
  if (number < bits) {
    row[number / 64] = std::uint64_t{1} << (number % 64);
    return row;
  }
  for (std::uint32_t word = 0; 64 * word < bits; ++word) {
    row[word] = scrambled(row.size() * std::uint64_t{number} + word);
    const std::uint32_t rest = bits - 64 * word;
    if (rest < 64) row[word] &= (std::uint64_t{1} << rest) - 1;
  }
  return row;
}

Bytes MarkCode::encode(ByteSpan frame) const {
  Bytes coded(static_cast<std::size_t>(coded_bits() / 8));
  for (std::uint32_t group = 0; group < groups_; ++group) {
    Row values{};
    for (std::uint32_t bit = 0; bit < bits(group); ++bit) {
      const std::uint8_t byte = frame[first_byte(group) + bit / 8];
      values[bit / 64] |= std::uint64_t{byte >> (7 - bit % 8) & 1u} << (bit % 64);
    }
    for (std::uint32_t number = 0; number < coded_bits_of_group_; ++number) {
      const std::uint64_t index = std::uint64_t{number} * groups_ + group;
      const bool sum = odd_in_common(summands(number, bits(group)), values);
      coded[static_cast<std::size_t>(index / 8)] |= static_cast<std::uint8_t>(sum << (7 - index % 8));
    }
  }
  return coded;
}

bool MarkCode::determines(std::uint32_t group, const std::vector<bool>& seen) const {
  Equations equations(bits(group));
  for (std::uint32_t number = 0; number < coded_bits_of_group_ && !equations.complete(); ++number) {
    if (seen[std::size_t{number} * groups_ + group]) equations.add(summands(number, bits(group)), false);
  }
  return equations.complete();
}

std::optional<Bytes> MarkCode::decode(std::span<const std::int32_t> votes) const {
  Bytes frame(frame_bytes_);
  std::vector<std::uint32_t> numbers(coded_bits_of_group_);
  for (std::uint32_t group = 0; group < groups_; ++group) {
    const auto vote = [&](std::uint32_t number) { return votes[std::size_t{number} * groups_ + group]; };
    std::iota(numbers.begin(), numbers.end(), 0u);
    std::stable_sort(numbers.begin(), numbers.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return std::abs(vote(a)) > std::abs(vote(b)); });
    Equations equations(bits(group));
    for (const std::uint32_t number : numbers) {
      if (vote(number) == 0 || equations.complete()) break;
      equations.add(summands(number, bits(group)), vote(number) > 0);
    }
    if (!equations.complete()) return std::nullopt;
    const Row values = equations.solution();
    for (std::uint32_t bit = 0; bit < bits(group); ++bit) {
      if (bit_of(values, bit)) {
        frame[first_byte(group) + bit / 8] |= static_cast<std::uint8_t>(0x80 >> (bit % 8));
      }
    }
  }
  return frame;
}

}  // namespace cu264::protect
