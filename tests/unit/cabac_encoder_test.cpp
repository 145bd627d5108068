// The arithmetic coder against a coder written bit by bit from H.264 9.3.4.2, its tables against the
// probabilities that they stand for, and items against what they stand for.

#include "core/cabac_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "core/cabac_contexts.h"
#include "core/cabac_item.h"
#include "core/cabac_states.h"

namespace {

using namespace cu264::core;

// codILow of 10 bits, bits outstanding, one bit at a time.
class ReferenceEncoder {
 public:
  explicit ReferenceEncoder(int slice_qp) {
    for (int context = 0; context < kCabacContexts; ++context) {
      const ContextInit init = context_init(context);
      const int pre = std::min(std::max(1, ((init.m * slice_qp) >> 4) + init.n), 126);
      mps_.push_back(pre > 63);
      index_.push_back(pre > 63 ? pre - 64 : 63 - pre);
    }
  }

  void decision(int context, int bin) {
    const auto c = static_cast<std::size_t>(context);
    const int lps = range_lps(2 * index_[c], range_);
    range_ -= lps;
    if (bin != mps_[c]) {
      low_ += range_, range_ = lps;
      const int after = next_state(2 * index_[c], 1);  // the least probable symbol of MPS 0
      if (index_[c] == 0) mps_[c] = 1 - mps_[c];
      index_[c] = after >> 1;
    } else if (index_[c] < 62) {
      ++index_[c];
    }
    renormalise();
  }

  void bypass(std::uint32_t value, int count) {
    for (int i = count - 1; i >= 0; --i) {
      low_ <<= 1;
      if ((value >> i) & 1) low_ += range_;
      if (low_ >= 1024) {
        put(1), low_ -= 1024;
      } else if (low_ < 512) {
        put(0);
      } else {
        low_ -= 512, ++outstanding_;
      }
    }
  }

  void terminate(int bin) {
    range_ -= 2;
    if (bin == 0) return renormalise();
    low_ += range_;
    range_ = 2;
    renormalise();
    put((low_ >> 9) & 1);
    write((low_ >> 8) & 1), write(1);
  }

  void align_and_restart() {
    while (bits_.size() % 8 != 0) write(0);
    low_ = 0, range_ = 510, outstanding_ = 0, first_ = true;
  }

  std::vector<std::uint8_t> bytes() {
    align_and_restart();
    std::vector<std::uint8_t> bytes(bits_.size() / 8);
    for (std::size_t i = 0; i < bits_.size(); ++i)
      bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] << 1 | (bits_[i] ? 1 : 0));
    return bytes;
  }

 private:
  void renormalise() {
    while (range_ < 256) {
      if (low_ < 256) {
        put(0);
      } else if (low_ >= 512) {
        low_ -= 512, put(1);
      } else {
        low_ -= 256, ++outstanding_;
      }
      range_ <<= 1, low_ <<= 1;
    }
  }
  void put(int bit) {
    if (first_) {
      first_ = false;
    } else {
      write(bit);
    }
    for (; outstanding_ > 0; --outstanding_) write(1 - bit);
  }
  void write(int bit) { bits_.push_back(bit != 0); }

  std::vector<int> index_, mps_;
  int low_ = 0, range_ = 510, outstanding_ = 0;
  bool first_ = true;
  std::vector<bool> bits_;
};

std::string compare(const std::vector<std::uint8_t>& actual, const std::vector<std::uint8_t>& expected) {
  for (std::size_t i = 0; i < std::max(actual.size(), expected.size()); ++i) {
    if (i >= actual.size() || i >= expected.size() || actual[i] != expected[i])
      return "byte " + std::to_string(i) + " of " + std::to_string(actual.size()) + " and " +
             std::to_string(expected.size());
  }
  return "";
}

// `ones` of 256 decisions are 1, `bypassed` of 256 calls are runs of bypass bins, whose bins are mostly ones
// if `skewed`: low then stays near a carry for long.
void compare_codewords(unsigned seed, int calls, int ones, int bypassed, bool skewed) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", calls " + std::to_string(calls) + ", ones " +
               std::to_string(ones) + ", bypassed " + std::to_string(bypassed));
  std::mt19937 random(seed);
  const int qp = static_cast<int>(random() % 52);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(calls) * 8 + 64);
  CabacEncoder encoder(bytes.data(), bytes.size(), qp);
  ReferenceEncoder reference(qp);
  std::uint64_t bins = 0;
  for (int codeword = 0; codeword < 3; ++codeword) {
    for (int i = 0; i < calls; ++i) {
      if (static_cast<int>(random() % 256) < bypassed) {
        const int count = 1 + static_cast<int>(random() % 32);
        const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1);
        const std::uint32_t value = (skewed ? ~0u : static_cast<std::uint32_t>(random())) & mask;
        encoder.bypass(value, count), reference.bypass(value, count);
        bins += static_cast<std::uint64_t>(count);
      } else if (random() % 64 == 0) {
        encoder.terminate(0), reference.terminate(0);
        ++bins;
      } else {
        const int context = static_cast<int>(random() % kCabacContexts);
        const int bin = static_cast<int>(random() % 256) < ones ? 1 : 0;
        encoder.decision(context, bin), reference.decision(context, bin);
        ++bins;
      }
    }
    encoder.terminate(1), reference.terminate(1);
    ++bins;
    encoder.finish(), encoder.restart(), reference.align_and_restart();
  }
  ASSERT_FALSE(encoder.overflowed());
  EXPECT_EQ(encoder.bins(), bins);
  bytes.resize(encoder.size());
  EXPECT_EQ(compare(bytes, reference.bytes()), "");
}

TEST(CabacEncoder, GivesTheBytesOfTheStandardsProcess) {
  unsigned seed = 0;
  for (const int calls : {0, 1, 2, 3, 10, 100, 20000}) {
    for (const int ones : {0, 3, 128, 250, 256}) {
      for (const int bypassed : {0, 40, 256}) {
        compare_codewords(++seed, calls, ones, bypassed, false);
        compare_codewords(++seed, calls, ones, bypassed, true);
      }
    }
  }
}

// Bins that keep low just below a carry, which then runs through many stored words.
TEST(CabacEncoder, CarriesThroughManyBytes) {
  for (int length = 1; length < 400; length += 7) {
    std::vector<std::uint8_t> bytes(4096);
    CabacEncoder encoder(bytes.data(), bytes.size(), 26);
    ReferenceEncoder reference(26);
    // The first bin halves the interval; ones keep its upper end, where the output is all ones below a carry.
    encoder.bypass(0, 1), reference.bypass(0, 1);
    for (int i = 0; i < length; ++i) encoder.bypass(0xff, 8), reference.bypass(0xff, 8);
    for (int i = 0; i < 6; ++i) encoder.decision(i, 1), reference.decision(i, 1);
    encoder.terminate(1), reference.terminate(1);
    encoder.finish();
    bytes.resize(encoder.size());
    ASSERT_EQ(compare(bytes, reference.bytes()), "") << "length " << length;
  }
}

TEST(CabacEncoder, StopsAtTheEndOfItsMemory) {
  std::vector<std::uint8_t> bytes(16, 0xee);
  CabacEncoder encoder(bytes.data(), 8, 26);
  for (int i = 0; i < 40; ++i) encoder.bypass(0x5a, 8);
  EXPECT_TRUE(encoder.overflowed());
  EXPECT_EQ(encoder.size(), 8u);
  for (std::size_t i = 8; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], 0xee);
}

TEST(CabacStates, RangesAreTheProbabilitiesOfTheirStates) {
  const double alpha = std::pow(0.01875 / 0.5, 1.0 / 63);
  for (int index = 0; index < 63; ++index) {
    const double p = 0.5 * std::pow(alpha, index);
    for (int quarter = 0; quarter < 4; ++quarter) {
      const int range = 256 + 64 * quarter;
      const int lps = range_lps(2 * index, range);
      EXPECT_EQ(lps, range_lps(2 * index + 1, range + 63));
      EXPECT_GE(lps, 6);
      // At most 128, so that an LPS always shifts.
      EXPECT_NEAR(lps, quarter == 0 ? std::min(128.0, p * 288) : p * (range + 32), 1.01)
          << "state " << index << ", quarter " << quarter;
    }
    // An LPS raises its probability to alpha * p + 1 - alpha.
    const double after = alpha * p + 1 - alpha;
    const int expected = std::max(0, static_cast<int>(std::lround(std::log(after / 0.5) / std::log(alpha))));
    EXPECT_NEAR(next_state(2 * index, 1) >> 1, expected, 1.0) << "state " << index;
    EXPECT_EQ(next_state(2 * index, 1) & 1, index == 0 ? 1 : 0);
    EXPECT_EQ(next_state(2 * index + 1, 0) & 1, index == 0 ? 0 : 1);
    EXPECT_EQ(next_state(2 * index, 0) >> 1, std::min(index + 1, 62));
  }
}

// The most bits that a long sequence of bins takes on average, whatever the sequence and the ranges are: the
// states are a graph whose edges cost bits, and a walk of n steps costs no more than n times the mean of the
// most expensive cycle, and a constant.
TEST(CabacStates, NoSequenceOfBinsIsMuchLongerThanItself) {
  double mps[63] = {}, lps[63] = {};
  for (int index = 0; index < 63; ++index) {
    for (int range = 256; range <= 510; ++range) {
      const int less = range_lps(2 * index, range);
      mps[index] = std::max(mps[index], std::log2(static_cast<double>(range) / (range - less)));
      lps[index] = std::max(lps[index], std::log2(static_cast<double>(range) / less));
    }
  }
  constexpr int kSteps = 20000;
  double most[63] = {};
  for (int step = 0; step < kSteps; ++step) {
    double next[63];
    for (int index = 0; index < 63; ++index) {
      next[index] = std::max(mps[index] + most[next_state(2 * index, 0) >> 1],
                             lps[index] + most[next_state(2 * index, 1) >> 1]);
    }
    std::copy(std::begin(next), std::end(next), std::begin(most));
  }
  EXPECT_LT(*std::max_element(std::begin(most), std::end(most)) / kSteps, 1.32);
}

TEST(CabacContexts, AreNumberedLikeTheStandard) {
  for (int context = 1; context < kCabacContexts; ++context)
    ASSERT_GT(ctx_idx(context), ctx_idx(context - 1));
  EXPECT_EQ(ctx_idx(kCtxMbType), 3);
  EXPECT_EQ(ctx_idx(kCtxMbQpDelta), 60);
  EXPECT_EQ(ctx_idx(kCtxIntraChromaMode), 64);
  EXPECT_EQ(ctx_idx(kCtxPrevIntraMode), 68);
  EXPECT_EQ(ctx_idx(kCtxRemIntraMode), 69);
  EXPECT_EQ(ctx_idx(kCtxPatternLuma), 73);
  EXPECT_EQ(ctx_idx(kCtxPatternChroma), 77);
  EXPECT_EQ(ctx_idx(kCtxCodedBlockFlag), 85);
  EXPECT_EQ(ctx_idx(kCtxSignificant), 105);
  EXPECT_EQ(ctx_idx(kCtxLast), 166);
  EXPECT_EQ(ctx_idx(kCtxAbsLevel), 227);
  EXPECT_EQ(ctx_idx(kCtxTransformSize), 399);
  EXPECT_EQ(ctx_idx(kCtxSignificant8x8), 402);
  EXPECT_EQ(ctx_idx(kCtxLast8x8), 417);
  EXPECT_EQ(ctx_idx(kCtxAbsLevel8x8), 426);
  EXPECT_EQ(ctx_idx(kCabacContexts - 1), 435);
}

TEST(CabacContexts, BeginInStatesThatDecisionsCanHave) {
  for (int context = 0; context < kCabacContexts; ++context) {
    for (int qp = 0; qp <= 51; ++qp) ASSERT_LT(initial_state(context, qp), 2 * 63) << context << " " << qp;
  }
}

TEST(CabacItem, HoldsWhatWasPutIntoIt) {
  std::vector<std::uint16_t> items(32);
  CabacItemWriter writer{items.data()};
  CabacItemCounter counter;
  const auto put = [](auto& sink) {
    sink.decision(257, 1);
    sink.decision(3, 0);
    sink.bypass(0x155aau, 17);
    sink.bypass(1, 1);
    sink.terminate(0);
    sink.terminate(1);
    sink.pcm(262143);
    sink.signed_decision(130, 0, 1);
  };
  put(writer), put(counter);
  ASSERT_EQ(writer.next - items.data(), counter.items);
  ASSERT_EQ(counter.items, 11u);
  EXPECT_EQ(counter.bins, 24u);
  EXPECT_EQ(item_kind(items[0]), CabacItemKind::decision);
  EXPECT_EQ(item_context(items[0]), 257);
  EXPECT_EQ(item_bin(items[0]), 1);
  EXPECT_EQ(item_context(items[1]), 3);
  EXPECT_EQ(item_bin(items[1]), 0);
  std::uint32_t value = 0;
  int count = 0;
  for (int i = 2; i < 5; ++i) {
    EXPECT_EQ(item_kind(items[static_cast<std::size_t>(i)]), CabacItemKind::bypass);
    const int length = item_bypass_count(items[static_cast<std::size_t>(i)]);
    value = value << length | item_bypass_value(items[static_cast<std::size_t>(i)]);
    count += length;
  }
  EXPECT_EQ(value, 0x155aau);
  EXPECT_EQ(count, 17);
  EXPECT_EQ(items[5], bypass_item(1, 1));
  EXPECT_EQ(item_kind(items[6]), CabacItemKind::terminate);
  EXPECT_EQ(item_bin(items[6]), 0);
  EXPECT_EQ(item_bin(items[7]), 1);
  EXPECT_EQ(item_kind(items[8]), CabacItemKind::pcm);
  EXPECT_EQ((items[8] & 0x3fff) | (items[9] & 0x3fff) << 14, 262143);
  EXPECT_EQ(item_kind(items[10]), CabacItemKind::decision);
  EXPECT_EQ(item_context(items[10]), 130);
  EXPECT_EQ(item_bin(items[10]), 0);
  EXPECT_EQ(items[10] & (kItemSigned | kItemSign), kItemSigned | kItemSign);
  EXPECT_EQ(items[1] & (kItemSigned | kItemSign), 0u);
  EXPECT_EQ(item_kind(kPaddingItem), CabacItemKind::bypass);
  EXPECT_EQ(item_bypass_count(kPaddingItem), 0);
}

TEST(CabacZeroWords, KeepToTheNumberOfBinsOfAByte) {
  for (const std::uint64_t macroblocks : {1u, 396u, 8160u}) {
    for (const std::uint64_t bytes : {10u, 1000u, 99999u}) {
      for (std::uint64_t bins = 0; bins < 4000000; bins = bins * 3 / 2 + 1) {
        const auto fits = [&](std::uint64_t words) {
          return 3 * bins <= 32 * (bytes + kCabacZeroWordBytes * words) + 3 * 96 * macroblocks;
        };
        const std::uint64_t words = cabac_zero_words(bins, bytes, macroblocks);
        ASSERT_TRUE(fits(words));
        ASSERT_TRUE(words == 0 || !fits(words - 1));
      }
    }
  }
}

}  // namespace
