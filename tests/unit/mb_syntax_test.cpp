// Macroblock headers agree with the standard's tables and clauses, written out here in the direction of a
// decoder.

#include "core/mb_syntax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "bit_string.h"

namespace {

using namespace cu264::core;
using namespace cu264::test;

// coded_block_pattern by codeNum, Intra_4x4 (table 9-4, ChromaArrayType 1 or 2).
constexpr int kPatternOfCodeNum[48] = {47, 31, 15, 0,  23, 27, 29, 30, 7,  11, 13, 14, 39, 43, 45, 46,
                                       16, 3,  5,  10, 12, 19, 21, 26, 28, 35, 37, 42, 44, 1,  2,  4,
                                       8,  17, 18, 20, 24, 6,  9,  22, 25, 32, 33, 34, 36, 40, 38, 41};

int code_num_of_pattern(int pattern) {
  return static_cast<int>(std::find(std::begin(kPatternOfCodeNum), std::end(kPatternOfCodeNum), pattern) -
                          std::begin(kPatternOfCodeNum));
}

// A macroblock as the mode decision leaves it: in Intra_8x8 an 8x8 block's mode stands at all four of its 4x4
// blocks, and kinds other than Intra_4x4 and Intra_8x8 hold DC. In every other macroblock the picture has the
// 8x8 transform.
MacroblockRecord random_macroblock(std::mt19937& random) {
  MacroblockRecord mb;
  mb.transform_8x8_mode = random() % 2 != 0;
  mb.kind = static_cast<MacroblockKind>(random() % (mb.transform_8x8_mode ? 4 : 3));
  std::fill(std::begin(mb.intra4x4_pred_mode), std::end(mb.intra4x4_pred_mode), std::uint8_t{kIntra4x4Dc});
  mb.mb_qp_delta = static_cast<std::int8_t>(static_cast<int>(random() % 52) - 26);
  if (mb.kind == MacroblockKind::pcm) return mb;
  mb.intra_chroma_pred_mode = static_cast<std::uint8_t>(random() % 4);
  mb.coded_block_pattern = static_cast<std::uint8_t>(random() % 48);
  if (mb.kind == MacroblockKind::intra16x16) {
    mb.intra16x16_pred_mode = static_cast<std::uint8_t>(random() % 4);
    mb.coded_block_pattern =
        static_cast<std::uint8_t>((mb.coded_block_pattern & 0x30) | (random() % 2 != 0 ? 15 : 0));
  } else {
    for (std::uint8_t& mode : mb.intra4x4_pred_mode) mode = static_cast<std::uint8_t>(random() % 9);
  }
  for (int block = 0; mb.kind == MacroblockKind::intra8x8 && block < 16; ++block) {
    mb.intra4x4_pred_mode[block] = mb.intra4x4_pred_mode[block & 12];
  }
  return mb;
}

TEST(MbSyntax, MbTypeIsTable711) {
  MacroblockRecord mb;
  EXPECT_EQ(mb_type(mb), 0);  // I_NxN
  mb.kind = MacroblockKind::intra8x8;
  EXPECT_EQ(mb_type(mb), 0);
  mb.kind = MacroblockKind::pcm;
  EXPECT_EQ(mb_type(mb), 25);
  mb.kind = MacroblockKind::intra16x16;
  int expected = 1;  // I_16x16_0_0_0; the prediction mode varies fastest, then chroma, then luma
  for (const int luma : {0, 15}) {
    for (int chroma = 0; chroma < 3; ++chroma) {
      for (int mode = 0; mode < 4; ++mode, ++expected) {
        mb.intra16x16_pred_mode = static_cast<std::uint8_t>(mode);
        mb.coded_block_pattern = static_cast<std::uint8_t>(luma | chroma << 4);
        EXPECT_EQ(mb_type(mb), expected) << "mode " << mode << ", pattern " << +mb.coded_block_pattern;
      }
    }
  }
}

TEST(MbSyntax, CodedBlockPatternIsTable94) {
  for (int code_num = 0; code_num < 48; ++code_num) {
    EXPECT_EQ(intra_pattern_code_num(kPatternOfCodeNum[code_num]), code_num);
  }
}

// 6.4.11.4 and 8.3.1.1 on a plane of 8x8 blocks, of which the lower right 4x4 are the macroblock's.
int predicted_mode_reference(const MacroblockRecord& mb, const MacroblockRecord* left,
                             const MacroblockRecord* above, int luma4x4BlkIdx) {
  int plane[8][8];
  for (auto& row : plane) std::fill(std::begin(row), std::end(row), -1);  // -1 stands for not available
  for (int block = 0; block < 16; ++block) {
    const int x = 2 * (block / 4 % 2) + block % 2, y = 2 * (block / 8) + block / 2 % 2;
    const auto mode_of = [block](const MacroblockRecord& other) {
      const bool has_modes = other.kind == MacroblockKind::intra4x4 || other.kind == MacroblockKind::intra8x8;
      return has_modes ? static_cast<int>(other.intra4x4_pred_mode[block]) : 2;
    };
    plane[4 + y][4 + x] = mode_of(mb);
    if (left != nullptr) plane[4 + y][x] = mode_of(*left);
    if (above != nullptr) plane[y][4 + x] = mode_of(*above);
  }
  const int x = 4 + 2 * (luma4x4BlkIdx / 4 % 2) + luma4x4BlkIdx % 2;
  const int y = 4 + 2 * (luma4x4BlkIdx / 8) + luma4x4BlkIdx / 2 % 2;
  const int a = plane[y][x - 1], b = plane[y - 1][x];
  return a < 0 || b < 0 ? 2 : std::min(a, b);
}

// 8.3.2.1: an 8x8 block's neighbours are 8x8 blocks, of which Intra_4x4 ones answer with the mode of their
// 4x4 block n, 1 to the left and 2 above.
int predicted_mode8x8_reference(const MacroblockRecord& mb, const MacroblockRecord* left,
                                const MacroblockRecord* above, int luma8x8BlkIdx) {
  const bool inside_a = luma8x8BlkIdx % 2 == 1, inside_b = luma8x8BlkIdx >= 2;
  const MacroblockRecord *const a = inside_a ? &mb : left, *const b = inside_b ? &mb : above;
  if (a == nullptr || b == nullptr) return 2;
  const auto mode_of = [](const MacroblockRecord& other, int block8x8, int n) {
    if (other.kind == MacroblockKind::intra8x8)
      return static_cast<int>(other.intra4x4_pred_mode[4 * block8x8]);
    if (other.kind == MacroblockKind::intra4x4)
      return static_cast<int>(other.intra4x4_pred_mode[4 * block8x8 + n]);
    return 2;
  };
  return std::min(mode_of(*a, luma8x8BlkIdx ^ 1, 1), mode_of(*b, luma8x8BlkIdx ^ 2, 2));
}

std::string mode_reference(int mode, int predicted) {
  if (mode == predicted) return "1";
  std::vector<int>
      others;  // all modes but the predicted one, in order; rem_intra4x4_pred_mode is an index into them
  for (int m = 0; m < 9; ++m) {
    if (m != predicted) others.push_back(m);
  }
  return '0' +
         binary(static_cast<std::uint64_t>(std::find(others.begin(), others.end(), mode) - others.begin()),
                3);
}

TEST(MbSyntax, EveryIntra4x4Mode) {
  for (int predicted = 0; predicted < 9; ++predicted) {
    for (int mode = 0; mode < 9; ++mode) {
      StringSink sink;
      put_intra4x4_mode(sink, mode, predicted);
      EXPECT_EQ(sink.bits, mode_reference(mode, predicted)) << mode << " predicted as " << predicted;
      EXPECT_EQ(intra4x4_mode_bits(mode, predicted), static_cast<int>(sink.bits.size()));
    }
  }
}

TEST(MbSyntax, PredictedIntra4x4Mode) {
  std::mt19937 random(6);
  for (int round = 0; round < 4000; ++round) {
    MacroblockRecord mb = random_macroblock(random);
    while (mb.kind != MacroblockKind::intra4x4) mb = random_macroblock(random);
    const MacroblockRecord left = random_macroblock(random), above = random_macroblock(random);
    const MacroblockRecord* const a = random() % 4 != 0 ? &left : nullptr;
    const MacroblockRecord* const b = random() % 4 != 0 ? &above : nullptr;
    for (int block = 0; block < 16; ++block) {
      ASSERT_EQ(predicted_intra4x4_mode(mb, a, b, block), predicted_mode_reference(mb, a, b, block))
          << "round " << round << ", block " << block;
    }
  }
}

TEST(MbSyntax, PredictedIntra8x8Mode) {
  std::mt19937 random(8);
  for (int round = 0; round < 4000; ++round) {
    MacroblockRecord mb = random_macroblock(random);
    while (mb.kind != MacroblockKind::intra8x8) mb = random_macroblock(random);
    const MacroblockRecord left = random_macroblock(random), above = random_macroblock(random);
    const MacroblockRecord* const a = random() % 4 != 0 ? &left : nullptr;
    const MacroblockRecord* const b = random() % 4 != 0 ? &above : nullptr;
    for (int block = 0; block < 4; ++block) {
      ASSERT_EQ(predicted_intra4x4_mode(mb, a, b, 4 * block), predicted_mode8x8_reference(mb, a, b, block))
          << "round " << round << ", block " << block;
    }
  }
}

// macroblock_layer up to the residual (7.3.5, 7.3.5.1).
std::string header_reference(const MacroblockRecord& mb, const MacroblockRecord* left,
                             const MacroblockRecord* above) {
  if (mb.kind == MacroblockKind::pcm) return "000011010";
  const int luma = mb.coded_block_pattern % 16, chroma = mb.coded_block_pattern / 16;
  std::string bits;
  if (mb.kind == MacroblockKind::intra16x16) {
    bits =
        ue_text(static_cast<std::uint64_t>(1 + mb.intra16x16_pred_mode + 4 * chroma + (luma == 15 ? 12 : 0)));
  } else {
    bits = "1";
    const bool large = mb.kind == MacroblockKind::intra8x8;
    if (mb.transform_8x8_mode) bits += large ? '1' : '0';
    for (int block = 0; block < 16 && !large; ++block) {
      bits += mode_reference(mb.intra4x4_pred_mode[block], predicted_mode_reference(mb, left, above, block));
    }
    for (int block = 0; block < 4 && large; ++block) {
      bits += mode_reference(mb.intra4x4_pred_mode[4 * block],
                             predicted_mode8x8_reference(mb, left, above, block));
    }
  }
  bits += ue_text(mb.intra_chroma_pred_mode);
  if (mb.kind != MacroblockKind::intra16x16) {
    bits += ue_text(static_cast<std::uint64_t>(code_num_of_pattern(mb.coded_block_pattern)));
  }
  if (mb.kind == MacroblockKind::intra16x16 || mb.coded_block_pattern != 0) bits += se_text(mb.mb_qp_delta);
  return bits;
}

TEST(MbSyntax, Headers) {
  std::mt19937 random(7);
  for (int round = 0; round < 10000; ++round) {
    const MacroblockRecord mb = random_macroblock(random);
    const MacroblockRecord left = random_macroblock(random), above = random_macroblock(random);
    const MacroblockRecord* const a = random() % 4 != 0 ? &left : nullptr;
    const MacroblockRecord* const b = random() % 4 != 0 ? &above : nullptr;
    StringSink sink;
    put_macroblock_header(sink, mb, a, b);
    ASSERT_EQ(sink.bits, header_reference(mb, a, b))
        << "kind " << static_cast<int>(mb.kind) << ", pattern " << +mb.coded_block_pattern;

    int bits = mb_type_and_pattern_bits(mb);  // and the bits that it leaves out
    if (mb.kind != MacroblockKind::pcm) bits += ue_length(mb.intra_chroma_pred_mode);
    for (int block = 0; is_i_nxn(mb.kind) && block < 16; block += blocks_of_a_mode(mb.kind)) {
      bits += intra4x4_mode_bits(mb.intra4x4_pred_mode[block], predicted_intra4x4_mode(mb, a, b, block));
    }
    ASSERT_EQ(bits, static_cast<int>(sink.bits.size()));
  }
}

// residual() (7.3.5.3, 7.3.5.3.1): slots and maxNumCoeff in the order of the bitstream.
std::vector<std::pair<int, int>> residual_reference(MacroblockKind kind, int luma, int chroma) {
  std::vector<std::pair<int, int>> blocks;
  if (kind == MacroblockKind::pcm) return blocks;
  if (kind == MacroblockKind::intra16x16) blocks.push_back({0, 16});
  for (int i8x8 = 0; i8x8 < 4; ++i8x8) {
    for (int i4x4 = 0; i4x4 < 4; ++i4x4) {
      if (luma >> i8x8 & 1)
        blocks.push_back({1 + 4 * i8x8 + i4x4, kind == MacroblockKind::intra16x16 ? 15 : 16});
    }
  }
  for (int iCbCr = 0; iCbCr < 2; ++iCbCr) {
    if (chroma & 3) blocks.push_back({17 + iCbCr, 4});
  }
  for (int iCbCr = 0; iCbCr < 2; ++iCbCr) {
    for (int i4x4 = 0; i4x4 < 4; ++i4x4) {
      if (chroma & 2) blocks.push_back({19 + 4 * iCbCr + i4x4, 15});
    }
  }
  return blocks;
}

TEST(MbSyntax, CodedSlots) {
  for (const auto kind : {MacroblockKind::intra4x4, MacroblockKind::intra8x8, MacroblockKind::intra16x16,
                          MacroblockKind::pcm}) {
    for (int pattern = 0; pattern < 48; ++pattern) {
      if (kind == MacroblockKind::intra16x16 && pattern % 16 != 0 && pattern % 16 != 15) continue;
      MacroblockRecord mb;
      mb.kind = kind;
      mb.coded_block_pattern = static_cast<std::uint8_t>(pattern);
      std::vector<std::pair<int, int>> blocks;
      for (int slot = 0; slot < kBlocksPerMacroblock; ++slot) {
        if (slot_is_coded(mb, slot)) blocks.push_back({slot, slot_max_num_coeff(mb, slot)});
      }
      EXPECT_EQ(blocks, residual_reference(kind, pattern % 16, pattern / 16))
          << "kind " << static_cast<int>(kind) << ", pattern " << pattern;
    }
  }
}

}  // namespace
