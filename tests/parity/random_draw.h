// Numbers drawn at random, the same on every machine (distributions of the standard library are not).
#pragma once

#include <cstdint>
#include <iterator>
#include <random>

namespace cu264::parity {

class RandomDraw {
 public:
  // `purpose` keeps what is drawn for different things under one seed and number apart.
  RandomDraw(std::uint64_t seed, int number, int purpose) {
    std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                        static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(purpose)};
    engine_.seed(words);
  }

  std::uint64_t word() { return engine_(); }
  int between(int first, int last) {
    return first + static_cast<int>(engine_() % static_cast<std::uint64_t>(last - first + 1));
  }
  // True once in `count` times.
  bool once_in(int count) { return between(1, count) == 1; }
  template <class Container>
  auto one_of(const Container& values) {
    return values[static_cast<std::size_t>(between(0, static_cast<int>(std::size(values)) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace cu264::parity
