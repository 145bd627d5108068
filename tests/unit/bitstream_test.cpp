// NAL units, RBSPs and the tables that decode CAVLC's codes.
#include <gtest/gtest.h>

#include <random>

#include "common/bitstream/emulation_prevention.h"
#include "common/bitstream/rbsp_reader.h"
#include "common/bitstream/splice.h"
#include "common/bitstream/vlc_tables.h"
#include "core/cavlc_block.h"
#include "core/cavlc_tables.h"

namespace cu264::bitstream {
namespace {

Bytes padded(Bytes bytes) {
  bytes.resize(bytes.size() + kRbspPadding);
  return bytes;
}

TEST(Rbsp, EscapesAndBack) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    Bytes rbsp(random() % 40);
    for (std::uint8_t& byte : rbsp) byte = static_cast<std::uint8_t>(random() % 3 != 0 ? 0 : random() % 5);
    rbsp.push_back(0x80);
    Bytes unit;
    append_escaped(unit, 0x65, rbsp);
    Bytes expected{0x65};
    int zeros = 0;
    for (const std::uint8_t byte : rbsp) {
      if (zeros >= 2 && byte <= 3) expected.push_back(3), zeros = 0;
      expected.push_back(byte);
      zeros = byte == 0 ? zeros + 1 : 0;
    }
    ASSERT_EQ(unit, expected);
    Bytes back;
    unescape(unit, back);
    ASSERT_EQ(back, padded(rbsp));
  }
}

TEST(Rbsp, UnitsDoNotEndInZero) {
  for (const Bytes& rbsp : {Bytes{0x80, 0, 0}, Bytes{0x80}, Bytes{}}) {
    Bytes unit, back;
    append_escaped_with_end(unit, 0x65, rbsp);
    EXPECT_NE(unit.back(), 0);
    unescape(unit, back);
    EXPECT_EQ(back, padded(rbsp));
  }
}

TEST(Rbsp, SplitsIntoUnitsThatMakeTheStreamAgain) {
  const Bytes stream{0, 0, 0, 1, 0x67, 5, 0, 0, 1, 0x68, 9, 0, 0, 0, 0, 1, 0x65, 7, 7, 0, 0};
  const NalUnits found = split_annexb(stream);
  ASSERT_EQ(found.units.size(), 3u);
  EXPECT_EQ(found.units[0].type(), kNalSps);
  EXPECT_EQ(found.units[2].unit.size(), 3u);
  EXPECT_EQ(found.tail.size(), 2u);
  Bytes again;
  for (const NalUnit& nal : found.units) {
    again.insert(again.end(), nal.prefix.begin(), nal.prefix.end());
    again.insert(again.end(), nal.unit.begin(), nal.unit.end());
  }
  again.insert(again.end(), found.tail.begin(), found.tail.end());
  EXPECT_EQ(again, stream);
  for (std::size_t size = 0; size < stream.size(); ++size) split_annexb({stream.data(), size});
  EXPECT_TRUE(split_annexb({}).units.empty());
}

TEST(Rbsp, ReaderAndEdits) {
  Bytes bytes = padded({0xff, 0x00, 0xff, 0x00, 0xaa});
  set_bits(bytes, 5, 7, 0b0101010);
  EXPECT_EQ(bytes[0], 0b11111010);
  EXPECT_EQ(bytes[1], 0b10100000);
  flip_bit(bytes.data(), 0, 1);
  EXPECT_EQ(bytes[0], 0b01111010);
  RbspReader bits(bytes);
  bits.skip(39);
  EXPECT_FALSE(bits.failed());
  EXPECT_EQ(bits.get(32), 0u);
  EXPECT_TRUE(bits.failed());
  bits.skip(std::uint64_t{1} << 40);
  EXPECT_EQ(bits.window(), 0u);
  EXPECT_EQ(stop_bit_position(Bytes{0x10, 0, 0}), 3u);
  EXPECT_EQ(stop_bit_position(Bytes{0, 0}), 0u);
}

TEST(Rbsp, Splice) {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    Bytes source(60);
    for (std::uint8_t& byte : source) byte = static_cast<std::uint8_t>(random());
    source.back() |= 1;
    source = padded(source);
    const std::uint64_t at = random() % 200, out = random() % 100;
    const int length = 1 + static_cast<int>(random() % 20);
    Splice splice(source, 200);
    splice.copy_to(at);
    splice.leave_out(out);
    splice.writer().put(1, length);
    const Bytes result = splice.finish(479);
    std::vector<int> expected;
    for (std::uint64_t b = 0; b < at; ++b) expected.push_back(bit_at(source, b));
    for (int b = 1; b <= length; ++b) expected.push_back(b == length);
    for (std::uint64_t b = at + out; b < 480; ++b) expected.push_back(bit_at(source, b));
    for (std::size_t b = 0; b < expected.size(); ++b) ASSERT_EQ(bit_at(result, b), expected[b]) << b;
  }
}

// Each table finds every code, whatever follows it.
TEST(VlcTables, FindEveryCode) {
  const VlcTables& tables = vlc_tables();
  const auto expect = [](core::CodeWord code, auto&& find, int symbol) {
    for (const std::uint64_t after :
         {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x5555555555555555}}) {
      const std::uint64_t window =
          static_cast<std::uint64_t>(code.bits) << (64 - code.length) | after >> code.length;
      const VlcEntry entry = find(window);
      EXPECT_EQ(entry.symbol, symbol);
      EXPECT_EQ(entry.length, code.length);
    }
  };
  for (int column = 0; column < 5; ++column) {
    for (int total = 0; total <= (column == 4 ? 4 : 16); ++total) {
      for (int ones = 0; ones <= 3 && ones <= total; ++ones) {
        expect(
            core::coeff_token_code(column, total, ones),
            [&](std::uint64_t window) { return tables.coeff_token(window, column); }, 4 * total + ones);
      }
    }
  }
  for (int total = 1; total <= 15; ++total) {
    for (int zeros = 0; zeros <= 16 - total; ++zeros) {
      expect(
          core::total_zeros_code(total, zeros),
          [&](std::uint64_t window) { return tables.total_zeros(window, total, false); }, zeros);
    }
  }
  for (int left = 1; left <= 14; ++left) {
    for (int run = 0; run <= left; ++run) {
      expect(
          core::run_before_code(left, run),
          [&](std::uint64_t window) { return tables.run_before(window, left); }, run);
    }
  }
  EXPECT_EQ(tables.coeff_token(0, 0).length, 0);
}

}  // namespace
}  // namespace cu264::bitstream
