// Inputs made by code, of given entropy or with runs of given length.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace cu264::bench {

// The probabilities of 256 symbols, falling by one factor from each to the next, whose entropy is `bits` a
// symbol: one symbol alone for 0, all alike for 8.
inline std::vector<double> probabilities_of_entropy(double bits) {
  const auto with_factor = [](double factor) {
    std::vector<double> p(256);
    double sum = 0, next = 1;
    for (double& value : p) sum += value = next, next *= factor;
    for (double& value : p) value /= sum;
    return p;
  };
  const auto entropy = [](const std::vector<double>& p) {
    double sum = 0;
    for (const double value : p) sum -= value > 0 ? value * std::log2(value) : 0;
    return sum;
  };
  double low = 0, high = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (entropy(with_factor(middle)) < bits ? low : high) = middle;
  }
  return with_factor(bits <= 0 ? 0 : high);
}

inline std::vector<std::uint8_t> bytes_of_entropy(double bits, std::size_t size) {
  const std::vector<double> p = probabilities_of_entropy(bits);
  // 65536 symbols in proportion, from which the input is drawn: faster than a distribution object.
  std::vector<std::uint8_t> urn;
  double before = 0;
  for (int symbol = 0; symbol < 256; ++symbol) {
    before += p[static_cast<std::size_t>(symbol)];
    const auto end = static_cast<std::size_t>(std::lround(before * 65536));
    while (urn.size() < end) urn.push_back(static_cast<std::uint8_t>(symbol));
  }
  std::mt19937 random(11);
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) byte = urn[random() % urn.size()];
  return bytes;
}

// Runs of 1 to 2 * average - 1 symbols, each unlike the run before. Where `average` is 1, symbols are random
// digits instead, of which one in ten repeats the one before.
inline std::vector<std::int32_t> symbols_in_runs(std::size_t count, unsigned average) {
  std::mt19937 random(7);
  std::vector<std::int32_t> symbols(count);
  std::int32_t symbol = 0;
  for (std::size_t i = 0; i < count;) {
    std::size_t end = i + 1;
    if (average == 1) {
      symbol = static_cast<std::int32_t>(random() % 10);
    } else {
      symbol += static_cast<std::int32_t>(1 + random() % 100);
      end += random() % (2 * average - 1);
    }
    for (; i < end && i < count; ++i) symbols[i] = symbol;
  }
  return symbols;
}

}  // namespace cu264::bench
