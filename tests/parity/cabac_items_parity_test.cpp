// The arithmetic coders of the GPU, by slice and in chunks, give the bytes of core/cabac_encoder.h, of items
// that no picture has: ranges that never become equal, carries through whole chunks, pieces of hardly a bit.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "core/cabac_encoder.h"
#include "core/cabac_item.h"
#include "tests/parity/coded_items.h"
#include "tests/parity/device_test.h"

namespace cu264::parity {
namespace {

class CabacItemsParity : public DeviceTest {
 protected:
  static std::vector<std::uint8_t> expected(const ItemSlice& slice) {
    std::vector<std::uint8_t> bytes(slice.items.size() + 64);
    core::CabacEncoder encoder(bytes.data(), bytes.size(), slice.qp);
    for (const std::uint16_t item : slice.items) core::put_item(encoder, item);
    encoder.finish();
    bytes.resize(encoder.size());
    return bytes;
  }

  static void expect_parity(const std::vector<ItemSlice>& slices, const std::string& what) {
    std::vector<std::vector<std::uint8_t>> wanted;
    for (const ItemSlice& slice : slices) wanted.push_back(expected(slice));
    for (const ItemChunks& chunks : {ItemChunks{0, 0},
                                     {10, 0},
                                     {10, 5},
                                     {11, 2},
                                     {12, 5},
                                     {10, 3, 1},
                                     {11, 5, 2},
                                     {10, 5, 7},
                                     {12, 0, 1}}) {
      const std::vector<CodedItems> coded = code_items_on_device(slices, chunks);
      for (std::size_t i = 0; i < slices.size(); ++i) {
        const std::string where = what + ", chunks of 2^" + std::to_string(chunks.items_log2) + ", " +
                                  std::to_string(chunks.segments) + " segments, slice " + std::to_string(i) +
                                  " of " + std::to_string(slices[i].items.size()) + " items";
        ASSERT_EQ(coded[i].bytes.size(), wanted[i].size()) << where;
        for (std::size_t k = 0; k < wanted[i].size(); ++k) {
          ASSERT_EQ(+coded[i].bytes[k], +wanted[i][k]) << where << ", byte " << k;
        }
      }
    }
  }

  // Ends a slice.
  static ItemSlice slice_of(std::vector<std::uint16_t> items, int qp) {
    items.push_back(core::terminate_item(1));
    return {std::move(items), qp};
  }
  std::uint16_t random_bypass(bool ones) {
    const int count = static_cast<int>(random_() % 9);
    return core::bypass_item((ones ? 255u : static_cast<std::uint32_t>(random_())) & ((1u << count) - 1),
                             count);
  }

  std::uint16_t random_decision(int contexts, bool one) {
    const int context = static_cast<int>(random_() % static_cast<unsigned>(contexts));
    if (random_() % 3 != 0) return core::decision_item(context, one ? 1 : 0);
    return core::signed_item(context, one ? 1 : 0, random_() % 2);
  }

  std::mt19937 random_{264};
};

// Lengths around those of chunks and of what warms up their ranges. `ones` of 256 decisions are ones,
// `bypassed` of 256 items are runs of bypass bins. A third of the decisions have signs.
TEST_F(CabacItemsParity, RandomItems) {
  for (const int contexts : {3, core::kCabacContexts}) {
    for (const int ones : {10, 128, 256}) {
      for (const int bypassed : {0, 2, 40, 250}) {
        std::vector<ItemSlice> slices;
        for (const std::size_t length : {0, 1, 512, 1022, 1023, 1535, 1536, 2050, 4095, 8191, 17000}) {
          std::vector<std::uint16_t> items;
          while (items.size() < length) {
            const int kind = static_cast<int>(random_() % 256);
            items.push_back(kind < bypassed ? random_bypass(ones == 256)
                            : random_() % 200 == 0
                                ? core::terminate_item(0)
                                : random_decision(contexts, static_cast<int>(random_() % 256) < ones));
          }
          slices.push_back(slice_of(std::move(items), static_cast<int>(random_() % 52)));
        }
        ASSERT_NO_FATAL_FAILURE(expect_parity(slices, std::to_string(contexts) + " contexts, " +
                                                          std::to_string(ones) + " ones, " +
                                                          std::to_string(bypassed) + " bypassed"));
      }
    }
  }
}

// Bypass bins keep the range as it is, so that no warm-up finds it: every chunk is coded again.
TEST_F(CabacItemsParity, OnlyBypassBins) {
  std::vector<ItemSlice> slices;
  for (const bool ones : {false, true}) {
    for (int before = 0; before < 6; ++before) {
      std::vector<std::uint16_t> items;
      for (int i = 0; i < before; ++i) items.push_back(core::decision_item(3 * i, i & 1));
      for (int i = 0; i < 12000; ++i) items.push_back(random_bypass(ones));
      slices.push_back(slice_of(std::move(items), 20));
    }
  }
  // More chunks than lanes code at a time.
  std::vector<std::uint16_t> many(3, core::decision_item(0, 1));
  for (int i = 0; i < 50000; ++i) many.push_back(random_bypass(false));
  slices.push_back(slice_of(std::move(many), 20));
  expect_parity(slices, "bypass");
}

// Bins that hardly cost anything, so that pieces of a chunk have a few bits and many overlap in a word; then
// one that does.
TEST_F(CabacItemsParity, HardlyAnyBits) {
  std::vector<ItemSlice> slices;
  for (const int terminating_in : {1, 2, 50}) {
    for (const int rare : {0, 5000, 9000}) {
      std::vector<std::uint16_t> items;
      for (int i = 0; i < 30000; ++i) {
        const bool flips = rare != 0 && i % rare == rare - 1;
        items.push_back(i % terminating_in == 0 ? core::terminate_item(0)
                                                : core::decision_item(40, flips ? 1 : 0));
        if (flips) items.push_back(random_bypass(true));
      }
      slices.push_back(slice_of(std::move(items), 30));
    }
  }
  slices.push_back(slice_of(std::vector<std::uint16_t>(16384, core::kPaddingItem), 30));
  expect_parity(slices, "hardly any bits");
}

// A run of ones for many chunks, and after them a carry that goes through all of them, or not. Bits of the
// run follow from the value that the codeword stands for: the smallest in an interval that shrinks towards
// a point just below or above half of the first.
TEST_F(CabacItemsParity, CarriesThroughChunks) {
  std::vector<ItemSlice> slices;
  for (const int last : {0, 1}) {
    for (const int length : {1500, 5000, 20000}) {
      // With low L and range R after a few items, bypass bins that follow the binary digits of (T - L) / R
      // keep low right below T.
      for (const std::uint32_t range : {510u, 508u}) {
        std::vector<std::uint16_t> items;
        if (range == 508) items.push_back(core::terminate_item(0));
        std::uint64_t rest = 256;  // T - L: the first bit of the run is a one from there on
        for (int i = 0; i < length; ++i) {
          std::uint32_t bins = 0;
          for (int k = 0; k < 8; ++k) {
            rest *= 2;
            const bool one = rest > range;
            bins = bins << 1 | (one ? 1 : 0);
            if (one) rest -= range;
          }
          items.push_back(core::bypass_item(bins, 8));
        }
        for (int i = 0; i < 40; ++i) items.push_back(core::bypass_item(last == 1 ? 255 : 0, 8));
        slices.push_back(slice_of(std::move(items), 30));
        const std::vector<std::uint8_t> bytes = expected(slices.back());
        for (int i = 2; i < length - 2; ++i) {
          ASSERT_EQ(+bytes[static_cast<std::size_t>(i)], last == 1 ? 0 : 255) << "byte " << i;
        }
      }
    }
  }
  expect_parity(slices, "carries");
}

}  // namespace
}  // namespace cu264::parity
