// Steps over parts of a string against a walk through them bit by bit.
#include "core/string_step.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

using namespace cu264::core;

// A part of a string: the lengths of its codewords, with I_PCM samples between them.
using Part = std::vector<std::uint32_t>;

constexpr std::uint32_t kSamples = 3072;

std::uint32_t walk(std::uint32_t place, const Part& part) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (i > 0) {
      while (place % 8 != 0) ++place;
      place += kSamples;
    }
    place += part[i];
  }
  return place;
}

StringStep step_of(const Part& part) {
  StringStep step{part[0], 0};
  for (std::size_t i = 1; i < part.size(); ++i) step = joined_step(step, {0, kSamples + part[i]});
  return step;
}

std::vector<Part> random_parts(std::mt19937& random) {
  std::vector<Part> parts(1 + random() % 9);
  for (Part& part : parts) {
    part.resize(1 + random() % 3);
    for (std::uint32_t& bits : part) bits = random() % 40;
  }
  return parts;
}

TEST(StringStep, FollowsEachPart) {
  std::mt19937 random(264);
  for (int round = 0; round < 2000; ++round) {
    const std::uint32_t begin = random() % 100;
    std::uint32_t place = begin;
    StringStep all;
    for (const Part& part : random_parts(random)) {
      place = walk(place, part);
      all = joined_step(all, step_of(part));
      ASSERT_EQ(all.place_behind(begin), place);
    }
  }
}

TEST(StringStep, IsAssociative) {
  std::mt19937 random(265);
  for (int round = 0; round < 2000; ++round) {
    StringStep from_left, from_right;
    const std::vector<Part> parts = random_parts(random);
    for (const Part& part : parts) from_left = joined_step(from_left, step_of(part));
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      from_right = joined_step(step_of(*part), from_right);
    ASSERT_EQ(from_left.front, from_right.front);
    ASSERT_EQ(from_left.behind, from_right.behind);
  }
}

}  // namespace
