#include "tests/support/altered_streams.h"

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <sstream>
#include <utility>

#include "common/bitstream/emulation_prevention.h"
#include "tests/support/unit_lists.h"

namespace cu264::test {
namespace {

using Units = std::vector<ByteVector>;

std::size_t header_of(const ByteVector& unit) {
  return static_cast<std::size_t>(std::find(unit.begin(), unit.end(), 1) - unit.begin()) + 1;
}

class Changer {
 public:
  Changer(const ByteVector& stream, const Units& others, std::uint32_t seed)
      : units_(units_of(stream)), others_(others), random_(seed) {}

  Alteration change() {
    Alteration result;
    const std::uint32_t changes = 1 + below(4) / 2;
    for (std::uint32_t i = 0; i < changes; ++i) {
      if (units_.empty()) break;
      const auto& [name, apply] = kChanges[below(kChanges.size())];
      if (i != 0) what_ << ", ";
      what_ << name;
      (this->*apply)();
    }
    result.stream = joined(units_);
    if (below(12) == 0) cut(result);
    result.what = what_.str();
    return result;
  }

  ByteVector enrich(int most) {
    for (std::uint32_t i = 0, count = below(static_cast<std::uint32_t>(most) + 1); i < count; ++i)
      insert_made();
    return joined(units_);
  }

 private:
  std::uint32_t below(std::size_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  std::size_t any_unit() { return below(units_.size()); }
  auto place(std::size_t index) { return units_.begin() + static_cast<std::ptrdiff_t>(index); }
  void insert(ByteVector unit) {
    const std::size_t at = below(units_.size() + 1);
    what_ << " type " << type_of(unit) << " before unit " << at;
    units_.insert(place(at), std::move(unit));
  }

  void flip_bits() {
    ByteVector& unit = units_[any_unit()];
    for (std::uint32_t i = 0, count = 1 + below(4); i < count; ++i)
      unit[below(unit.size())] ^= static_cast<std::uint8_t>(1u << below(8));
  }
  void flip_early_bit() {
    ByteVector& unit = units_[any_unit()];
    unit[below(std::min<std::size_t>(unit.size(), 12))] ^= static_cast<std::uint8_t>(1u << below(8));
  }
  void remove() {
    const std::size_t from = any_unit(), count = 1 + below(8) / 4 * below(6);
    what_ << " from " << from;
    units_.erase(place(from), place(std::min(units_.size(), from + count)));
  }
  void repeat() { insert(units_[any_unit()]); }
  void move() {
    const std::size_t from = any_unit();
    ByteVector unit = units_[from];
    units_.erase(place(from));
    insert(std::move(unit));
    what_ << " from " << from;
  }
  void exchange() {
    const std::size_t a = any_unit(), b = any_unit();
    what_ << " " << a << " and " << b;
    std::swap(units_[a], units_[b]);
  }
  void insert_foreign() {
    if (!others_.empty()) insert(others_[below(others_.size())]);
  }
  void insert_made() {
    switch (below(5)) {
      case 0:
        return insert({0, 0, 0, 1, 9, 0x10});
      case 1:
        return insert({0, 0, 1, 12, 0xff, 0xff, 0x80});
      case 2: {  // of any type, with any content
        ByteVector unit{0, 0, 1};
        const std::uint32_t header = below(4) << 5 | below(32);
        ByteVector content(below(30));
        for (std::uint8_t& byte : content) byte = static_cast<std::uint8_t>(random_());
        content.push_back(0x80);
        bitstream::append_escaped(unit, static_cast<std::uint8_t>(header), content);
        return insert(std::move(unit));
      }
      case 3:
        return insert_set(8);
      default:
        return insert_set(7);
    }
  }
  // A parameter set of the stream, perhaps with bits that are changed: its identifiers are among the first.
  void insert_set(int type) {
    Units sets;
    std::ranges::copy_if(units_, std::back_inserter(sets),
                         [type](const ByteVector& u) { return type_of(u) == type; });
    if (sets.empty()) return;
    ByteVector set = sets[below(sets.size())];
    const std::size_t content = header_of(set) + (type == 7 ? 4 : 1);
    if (below(3) != 0 && content < set.size()) {
      for (std::uint32_t i = 0, count = 1 + below(2); i < count; ++i)
        set[content + below(std::min<std::size_t>(2, set.size() - content))] ^=
            static_cast<std::uint8_t>(1u << below(8));
    }
    insert(std::move(set));
  }
  void change_start_code() {
    ByteVector& unit = units_[any_unit()];
    if (below(2) == 0 && unit[0] == 0 && unit[1] == 0 && unit[2] == 0) {
      unit.erase(unit.begin());
    } else {
      unit.insert(unit.begin(), 1 + below(4),
                  below(4) == 0 ? static_cast<std::uint8_t>(random_()) : std::uint8_t{0});
    }
  }
  void change_header() {
    ByteVector& unit = units_[any_unit()];
    const std::size_t header = header_of(unit);
    if (header >= unit.size()) return;
    if (below(2) == 0) {
      unit[header] = static_cast<std::uint8_t>((unit[header] & 31) | below(8) << 5);
    } else {
      unit[header] = static_cast<std::uint8_t>((unit[header] & 0xe0) | below(32));
    }
  }
  void remove_type() {
    const int type = type_of(units_[any_unit()]);
    const std::size_t from = any_unit();
    what_ << " " << type << " from " << from;
    units_.erase(
        std::remove_if(place(from), units_.end(), [type](const ByteVector& u) { return type_of(u) == type; }),
        units_.end());
  }
  void cut(Alteration& result) {
    if (result.stream.empty()) return;
    const std::size_t from = below(result.stream.size());
    const std::size_t count = below(2) == 0
                                  ? result.stream.size() - from
                                  : std::min<std::size_t>(1 + below(300), result.stream.size() - from);
    const auto begin = result.stream.begin() + static_cast<std::ptrdiff_t>(from);
    result.stream.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
    what_ << ", cut at " << from;
  }

  using Apply = void (Changer::*)();
  static constexpr std::array<std::pair<const char*, Apply>, 14> kChanges{{
      {"bits changed", &Changer::flip_bits},
      {"a bit changed", &Changer::flip_early_bit},
      {"removed", &Changer::remove},
      {"repeated", &Changer::repeat},
      {"repeated", &Changer::repeat},
      {"moved", &Changer::move},
      {"moved", &Changer::move},
      {"exchanged", &Changer::exchange},
      {"inserted", &Changer::insert_made},
      {"inserted", &Changer::insert_made},
      {"inserted of another stream", &Changer::insert_foreign},
      {"start code changed", &Changer::change_start_code},
      {"header changed", &Changer::change_header},
      {"type removed", &Changer::remove_type},
  }};

  Units units_;
  const Units& others_;
  std::mt19937 random_;
  std::ostringstream what_;
};

}  // namespace

Alteration altered(const ByteVector& stream, const std::vector<ByteVector>& others, std::uint32_t seed) {
  return Changer(stream, others, seed).change();
}

ByteVector enriched(const ByteVector& stream, const std::vector<ByteVector>& others, int most,
                    std::uint32_t seed) {
  return Changer(stream, others, seed).enrich(most);
}

}  // namespace cu264::test
