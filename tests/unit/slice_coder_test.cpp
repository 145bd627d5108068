// Slices of invented pictures, read back by a parser that keeps blocks in planes and finds macroblocks by
// address.

#include "entropy/cavlc/slice_coder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bit_string.h"
#include "core/block.h"
#include "core/cavlc_parse.h"
#include "made_up_picture.h"

namespace {

using namespace cu264::core;
using cu264::entropy::SliceStats;
using cu264::test::MadeUpPicture, cu264::test::make_picture;

// slice_data of an I slice with the residual in planes of 4x4 blocks.

class SliceParser {
 public:
  SliceParser(const MadeUpPicture& expected, int first_row, int end_row, BitReader reader)
      : expected_(expected), first_row_(first_row), end_row_(end_row), reader_(reader) {
    for (int c = 0; c < 3; ++c) {
      blocks_wide_[c] = (c == 0 ? 4 : 2) * expected.view.mb_width;
      counts_[c].assign(
          static_cast<std::size_t>(blocks_wide_[c]) * (c == 0 ? 4 : 2) * expected.view.mb_height, -1);
    }
    modes_.assign(counts_[0].size(), -1);
  }

  void run() {
    for (mb_y_ = first_row_; mb_y_ < end_row_; ++mb_y_) {
      for (mb_x_ = 0; mb_x_ < expected_.view.mb_width; ++mb_x_) {
        SCOPED_TRACE("macroblock " + std::to_string(mb_x_) + ", " + std::to_string(mb_y_));
        macroblock();
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
    ASSERT_EQ(u(1), 1u) << "rbsp_stop_one_bit";
    while (reader_.bit_position() % 8 != 0) ASSERT_EQ(u(1), 0u) << "rbsp_alignment_zero_bit";
    ASSERT_EQ(reader_.bits_left(), 0u);
    ASSERT_FALSE(reader_.failed());
  }

  int kinds[3] = {};
  std::uint64_t header_bits = 0, residual_bits = 0;

 private:
  std::uint32_t u(int length) { return reader_.get(length); }
  int ue() {
    int zeros = 0;
    while (zeros < 32 && u(1) == 0) ++zeros;
    return static_cast<int>((1u << zeros) - 1 + u(zeros));
  }
  int se() {
    const int k = ue();
    return k % 2 != 0 ? (k + 1) / 2 : -k / 2;
  }

  int& at(std::vector<int>& plane, int component, int bx, int by) {
    return plane[static_cast<std::size_t>(by) * blocks_wide_[component] + bx];
  }
  // -1 outside the picture and the slice, where nothing else is ever stored.
  int value(std::vector<int>& plane, int component, int bx, int by) {
    return bx < 0 || by < 0 ? -1 : at(plane, component, bx, by);
  }
  int nC(int component, int bx, int by) {
    const int nA = value(counts_[component], component, bx - 1, by);
    const int nB = value(counts_[component], component, bx, by - 1);
    if (nA < 0 && nB < 0) return 0;
    return nA < 0 ? nB : nB < 0 ? nA : (nA + nB + 1) / 2;
  }

  void macroblock() {
    const std::uint64_t start = reader_.bit_position();
    const std::size_t index = static_cast<std::size_t>(mb_y_) * expected_.view.mb_width + mb_x_;
    const MacroblockRecord& mb = expected_.macroblocks[index];
    const int type = ue();
    ASSERT_LE(type, 25);
    const bool pcm = type == 25, whole = type > 0 && !pcm;
    ASSERT_EQ(static_cast<int>(mb.kind), pcm ? 2 : whole ? 1 : 0);
    ++kinds[static_cast<int>(mb.kind)];
    if (pcm) {
      header_bits += reader_.bit_position() - start;
      pcm_samples();
      return;
    }
    int pattern = 0;
    if (whole) {
      ASSERT_EQ(mb.intra16x16_pred_mode, (type - 1) % 4);
      pattern = (type - 1) / 4 % 3 << 4 | (type > 12 ? 15 : 0);
    }
    for (int block = 0; block < 16; ++block) intra4x4_mode(mb, block, whole);
    ASSERT_EQ(mb.intra_chroma_pred_mode, ue());
    if (!whole) {
      static constexpr int kPatterns[48] = {47, 31, 15, 0,  23, 27, 29, 30, 7,  11, 13, 14, 39, 43, 45, 46,
                                            16, 3,  5,  10, 12, 19, 21, 26, 28, 35, 37, 42, 44, 1,  2,  4,
                                            8,  17, 18, 20, 24, 6,  9,  22, 25, 32, 33, 34, 36, 40, 38, 41};
      const int code_num = ue();
      ASSERT_LT(code_num, 48);
      pattern = kPatterns[code_num];
    }
    ASSERT_EQ(mb.coded_block_pattern, pattern);
    const int mb_qp_delta = whole || pattern != 0 ? se() : 0;
    ASSERT_EQ(mb.mb_qp_delta, mb_qp_delta);
    header_bits += reader_.bit_position() - start;
    residual(index, whole, pattern % 16, pattern / 16);
  }

  void intra4x4_mode(const MacroblockRecord& mb, int block, bool whole) {
    const int bx = 4 * mb_x_ + 2 * (block / 4 % 2) + block % 2,
              by = 4 * mb_y_ + 2 * (block / 8) + block / 2 % 2;
    int mode = 2;
    if (!whole) {
      const int a = value(modes_, 0, bx - 1, by), b = value(modes_, 0, bx, by - 1);
      const int predicted = a < 0 || b < 0 ? 2 : std::min(a, b);
      mode = predicted;
      if (u(1) == 0) {
        const int rem = static_cast<int>(u(3));
        mode = rem < predicted ? rem : rem + 1;
      }
      ASSERT_EQ(mb.intra4x4_pred_mode[block], mode) << "block " << block;
    }
    at(modes_, 0, bx, by) = mode;
  }

  void pcm_samples() {
    const std::uint64_t start = reader_.bit_position();
    while (reader_.bit_position() % 8 != 0) ASSERT_EQ(u(1), 0u) << "pcm_alignment_zero_bit";
    for (int c = 0; c < 3; ++c) {
      const int size = c == 0 ? 16 : 8;
      for (int i = 0; i < size * size; ++i) {
        const int x = size * mb_x_ + i % size, y = size * mb_y_ + i / size;
        ASSERT_EQ(u(8), expected_.source[c][y * expected_.view.source_pitch[c] + x])
            << "sample " << x << ", " << y << " of component " << c;
      }
      const int blocks = size / 4;
      for (int i = 0; i < blocks * blocks; ++i) {
        const int bx = blocks * mb_x_ + i % blocks, by = blocks * mb_y_ + i / blocks;
        at(counts_[c], c, bx, by) = 16;  // 9.2.1
        if (c == 0) at(modes_, 0, bx, by) = 2;
      }
    }
    residual_bits += reader_.bit_position() - start;
  }

  void residual(std::size_t index, bool whole, int luma, int chroma) {
    const std::uint64_t start = reader_.bit_position();
    const std::int16_t* const levels = &expected_.levels[index * kLevelsPerMacroblock];
    if (whole) block(levels, 16, nC(0, 4 * mb_x_, 4 * mb_y_), "Intra16x16DCLevel");
    for (int i = 0; i < 16; ++i) {
      const int bx = 4 * mb_x_ + 2 * (i / 4 % 2) + i % 2, by = 4 * mb_y_ + 2 * (i / 8) + i / 2 % 2;
      const bool coded = (luma >> i / 4 & 1) != 0;
      at(counts_[0], 0, bx, by) =
          coded ? block(levels + 16 * (1 + i), whole ? 15 : 16, nC(0, bx, by), "luma " + std::to_string(i))
                : 0;
    }
    for (int c = 1; c < 3; ++c) {
      if (chroma > 0) block(levels + 16 * (16 + c), 4, -1, "ChromaDCLevel");
    }
    for (int i = 0; i < 8; ++i) {
      const int c = 1 + i / 4, bx = 2 * mb_x_ + i % 2, by = 2 * mb_y_ + i / 2 % 2;
      at(counts_[c], c, bx, by) =
          chroma == 2 ? block(levels + 16 * (19 + i), 15, nC(c, bx, by), "ChromaACLevel " + std::to_string(i))
                      : 0;
    }
    residual_bits += reader_.bit_position() - start;
  }

  int block(const std::int16_t* expected, int max_num_coeff, int nC, const std::string& name) {
    std::array<std::int16_t, 16> levels = {};
    const int total_coeff = cavlc_parse_block(reader_, levels.data(), max_num_coeff, nC);
    EXPECT_GE(total_coeff, 0) << name << ", nC " << nC;
    EXPECT_TRUE(std::equal(levels.begin(), levels.end(), expected))
        << name << ", nC " << nC << ": " << ::testing::PrintToString(levels);
    return total_coeff;
  }

  const MadeUpPicture& expected_;
  int first_row_, end_row_;
  BitReader reader_;
  int mb_x_ = 0, mb_y_ = 0;
  int blocks_wide_[3] = {};
  std::vector<int> counts_[3];  // total_coeff of every 4x4 block; -1 where none was read
  std::vector<int> modes_;      // Intra4x4PredMode likewise
};

std::vector<std::uint8_t> code(const MadeUpPicture& picture, int slice, std::uint64_t header,
                               int header_length, SliceStats& stats) {
  std::vector<std::uint8_t> rbsp(1 << 16);
  BitWriter writer(rbsp.data(), rbsp.size());
  cu264::entropy::code_slice(picture.view, slice, header, header_length, writer, stats);
  EXPECT_TRUE(writer.aligned());
  EXPECT_FALSE(writer.overflowed());
  rbsp.resize(writer.size());
  return rbsp;
}

void check_picture(std::mt19937& random, int mb_width, int mb_height, int slices) {
  const MadeUpPicture picture = make_picture(random, mb_width, mb_height, slices);
  int row = 0;
  for (int slice = 0; slice < slices; ++slice) {
    SCOPED_TRACE("slice " + std::to_string(slice));
    const int header_length = static_cast<int>(random() % 65);
    std::uint64_t header = random() | static_cast<std::uint64_t>(random()) << 32;
    if (header_length < 64) header &= (std::uint64_t{1} << header_length) - 1;
    SliceStats stats;
    const std::vector<std::uint8_t> rbsp = code(picture, slice, header, header_length, stats);
    const int end_row = (slice + 1) * mb_height / slices;
    const std::string text = cu264::test::text_of(rbsp);
    ASSERT_EQ(text.substr(0, static_cast<std::size_t>(header_length)),
              cu264::test::binary(header, header_length));

    BitReader reader(rbsp.data(), rbsp.size());
    reader.skip(header_length);
    SliceParser parser(picture, row, end_row, reader);
    parser.run();
    if (::testing::Test::HasFailure()) return;
    ASSERT_EQ(stats.intra4x4_mbs, static_cast<unsigned>(parser.kinds[0]));
    ASSERT_EQ(stats.intra16x16_mbs, static_cast<unsigned>(parser.kinds[1]));
    ASSERT_EQ(stats.pcm_mbs, static_cast<unsigned>(parser.kinds[2]));
    ASSERT_EQ(stats.header_bits, parser.header_bits);
    ASSERT_EQ(stats.residual_bits, parser.residual_bits);
    row = end_row;
  }
}

TEST(SliceCoder, PicturesOfEveryShape) {
  std::mt19937 random(8);
  constexpr int kShapes[][3] = {{1, 1, 1}, {2, 2, 1}, {2, 2, 2}, {1, 4, 4},
                                {4, 1, 1}, {3, 5, 2}, {3, 5, 3}, {5, 4, 1}};
  for (int round = 0; round < 60; ++round) {
    for (const auto& [width, height, slices] : kShapes) {
      SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + ", " + std::to_string(slices) +
                   " slices, round " + std::to_string(round));
      check_picture(random, width, height, slices);
      if (HasFailure()) return;
    }
  }
}

// A slice of nothing but I_PCM is the largest there is: it fits, whatever the length of the header.
TEST(SliceCoder, TheBoundHoldsForPcm) {
  std::mt19937 random(9);
  for (int header_length = 0; header_length <= 64; ++header_length) {
    MadeUpPicture picture = make_picture(random, 3, 2, 1);
    for (MacroblockRecord& mb : picture.macroblocks) mb.kind = MacroblockKind::pcm;
    SliceStats stats;
    const std::size_t size = code(picture, 0, 0, header_length, stats).size();
    EXPECT_LE(size, cu264::entropy::max_slice_rbsp_bytes(6)) << header_length;
    EXPECT_EQ(stats.pcm_mbs, 6u);
  }
  // 3200 bits for each macroblock (A.3.1), a header of 64 bits and the trailing bits.
  for (int mbs = 1; mbs < 300; ++mbs) {
    EXPECT_GE(8 * cu264::entropy::max_slice_rbsp_bytes(mbs), 3200u * static_cast<unsigned>(mbs) + 64 + 8);
  }
}

TEST(SliceCoder, TooLittleMemoryIsReported) {
  std::mt19937 random(10);
  const MadeUpPicture picture = make_picture(random, 2, 2, 1);
  SliceStats stats;
  const std::vector<std::uint8_t> whole = code(picture, 0, 5, 3, stats);
  for (const std::size_t capacity : {std::size_t{0}, std::size_t{1}, whole.size() / 2, whole.size() - 1}) {
    std::vector<std::uint8_t> memory(capacity);
    BitWriter writer(memory.data(), capacity);
    cu264::entropy::code_slice(picture.view, 0, 5, 3, writer, stats);
    EXPECT_TRUE(writer.overflowed()) << capacity << " of " << whole.size();
    EXPECT_TRUE(std::equal(memory.begin(), memory.end(), whole.begin())) << capacity;
  }
}

}  // namespace
