// The arithmetic of core/ gives the same numbers on the GPU as on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>
#include <vector>

#include "tests/parity/core_cases.h"
#include "tests/parity/device_runner.h"
#include "tests/parity/device_test.h"

namespace cu264::parity {
namespace {

class CoreParity : public DeviceTest {
 protected:
  int uniform(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  template <class Container>
  void fill(Container& words, int first, int count, int low, int high) {
    for (int i = first; i < first + count; ++i) words.word[i] = uniform(low, high);
  }

  std::mt19937 random_{264};
};

template <int kCount>
std::string text(const Words<kCount>& words) {
  std::ostringstream out;
  for (const std::int32_t word : words.word) out << ' ' << word;
  return out.str();
}

// The device runs three times: a difference between runs would be a race.
template <class Case>
void expect_parity(const std::vector<typename Case::Input>& inputs) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    const std::vector<typename Case::Output> device = on_device<Case>(inputs);
    ASSERT_EQ(device.size(), inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      typename Case::Output host;
      Case::run(inputs[i], host);
      const auto differs = std::mismatch(std::begin(host.word), std::end(host.word), device[i].word);
      ASSERT_EQ(differs.first, std::end(host.word))
          << Case::kName << " run " << repeat << " case " << i << " word " << differs.first - host.word
          << ": host " << *differs.first << ", device " << *differs.second << "\ninput:" << text(inputs[i]);
    }
  }
}

TEST_F(CoreParity, CavlcBlock) {
  const int largest[] = {1, 2, 15, 100, core::kMaxLevel};
  std::vector<CavlcBlock::Input> inputs(40000);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CavlcBlock::Input& in = inputs[i];
    const int max_num_coeff = i % 7 == 0 ? 4 : i % 7 < 3 ? 15 : 16;
    const int magnitude = largest[uniform(0, 4)], density = uniform(0, 16);
    for (int k = 0; k < max_num_coeff; ++k) {
      if (uniform(1, 16) <= density) in.word[k] = uniform(-magnitude, magnitude);
    }
    in.word[16] = max_num_coeff;
    in.word[17] = max_num_coeff == 4 ? core::kChromaDcNc : uniform(0, 16);
  }
  // The longest code: every level is at the limit.
  for (int k = 0; k < 16; ++k) inputs[0].word[k] = k % 2 == 0 ? core::kMaxLevel : -core::kMaxLevel;
  inputs[0].word[16] = 16, inputs[0].word[17] = 0;
  expect_parity<CavlcBlock>(inputs);
}

TEST_F(CoreParity, MacroblockHeader) {
  std::vector<MacroblockHeader::Input> inputs(20000);
  for (MacroblockHeader::Input& in : inputs) {
    for (int record = 0; record < 3; ++record) {
      const int base = record * MacroblockHeader::kRecord;
      const int kind = uniform(0, 2);
      in.word[base] = kind;
      in.word[base + 1] = uniform(0, 3);
      in.word[base + 2] = uniform(0, 3);
      in.word[base + 3] = kind == 1 ? uniform(0, 2) * 16 + uniform(0, 1) * 15 : uniform(0, 47);
      in.word[base + 4] = uniform(-26, 25);
      for (int i = 0; i < 16; ++i) in.word[base + 5 + i] = kind == 0 ? uniform(0, 8) : core::kIntra4x4Dc;
    }
    fill(in, 3 * MacroblockHeader::kRecord, 2, 0, 1);
  }
  expect_parity<MacroblockHeader>(inputs);
}

TEST_F(CoreParity, TransformAndQuantisation) {
  std::vector<TransformQuantise::Input> inputs(52 * 400);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int amplitude = i % 3 == 0 ? 255 : i % 3 == 1 ? 20 : 3;
    fill(inputs[i], 0, 16, -amplitude, amplitude);
    if (i % 10 == 0) {  // saturated samples
      for (int k = 0; k < 16; ++k) inputs[i].word[k] = inputs[i].word[k] < 0 ? -255 : 255;
    }
    inputs[i].word[16] = static_cast<std::int32_t>(i % 52);
  }
  expect_parity<TransformQuantise>(inputs);
}

TEST_F(CoreParity, RateDistortionOptimisedQuantisation) {
  std::vector<Rdoq::Input> inputs(8000);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Rdoq::Input& in = inputs[i];
    const int qp = uniform(0, 51), shift = core::make_quantiser(qp).shift;
    const auto category = static_cast<core::BlockCategory>(i % 5);
    const int max_num_coeff = core::max_num_coeff(category);
    const int largest = uniform(1, 1 << uniform(0, 6));
    for (int k = 0; k < max_num_coeff; ++k) {
      const std::int64_t scaled = (static_cast<std::int64_t>(uniform(0, 64 * largest)) << shift) / 64;
      in.word[k] = static_cast<std::int32_t>(std::min<std::int64_t>(scaled, 1 << 30));
    }
    in.word[16] = uniform(0, 65535);
    in.word[17] = static_cast<std::int32_t>(category);
    in.word[18] = qp;
    in.word[19] = max_num_coeff == 4 ? core::kChromaDcNc : uniform(0, 16);
  }
  expect_parity<Rdoq>(inputs);
}

TEST_F(CoreParity, Intra4x4) {
  std::vector<Intra4x4::Input> inputs(10000);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    fill(inputs[i], 0, 16, 0, 255);
    for (int bit = 0; bit < 3; ++bit) inputs[i].word[16 + bit] = (i >> bit) & 1;
  }
  expect_parity<Intra4x4>(inputs);
}

TEST_F(CoreParity, DcAndPlane) {
  std::vector<IntraPlane::Input> inputs(4000);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    fill(inputs[i], 0, 34, 0, 255);
    if (i % 4 == 0) {  // the steepest planes that there are
      for (std::int32_t& sample : inputs[i].word) sample = sample < 128 ? 0 : 255;
    }
  }
  expect_parity<IntraPlane>(inputs);
}

TEST_F(CoreParity, Deblock) {
  std::vector<Deblock::Input> inputs(52 * 1000);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Deblock::Input& in = inputs[i];
    const int base = uniform(0, 255), spread = 1 << uniform(0, 8);
    for (int k = 0; k < 8; ++k) in.word[k] = std::clamp(base + uniform(-spread, spread), 0, 255);
    in.word[8] = static_cast<std::int32_t>(i % 52);
    in.word[9] = uniform(0, 51);
    in.word[10] = uniform(1, 4);
  }
  expect_parity<Deblock>(inputs);
}

TEST_F(CoreParity, EmulationPrevention) {
  std::vector<NalEscape::Input> inputs;
  for (int zeros = 0; zeros < 3; ++zeros) {
    for (int byte = 0; byte < 256; ++byte) inputs.push_back({{zeros, byte}});
  }
  expect_parity<NalEscape>(inputs);
}

}  // namespace
}  // namespace cu264::parity
