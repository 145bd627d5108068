// SEI messages and filler data, read back.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "common/bitstream/emulation_prevention.h"
#include "common/bitstream/nal_unit.h"
#include "common/bitstream/rbsp.h"
#include "cu264/sei.h"
#include "cu264/version.h"
#include "encoder/headers.h"
#include "encoder/hrd.h"
#include "tests/unit/header_fields.h"

namespace {

using cu264::Config;
using cu264::test::HeaderReader;
using cu264::test::sized;

TEST(Headers, HrdMessagesReadBack) {
  using cu264::encoder::HrdParams;
  for (const HrdParams& hrd : {HrdParams{1000000, 1000000, false}, HrdParams{64, 64 * 1000, true}}) {
    const int length = hrd.bit_rate == 64 ? 32 : 24;  // 1000 s are 9e7 units
    for (const std::uint32_t delay : {1u, 45000u, 90000u}) {
      for (const std::uint32_t ticks : {0u, 2u, 200u}) {
        const auto nal = cu264::encoder::hrd_sei(hrd, delay, 90000 - delay, ticks);
        EXPECT_LE(nal.size(), cu264::encoder::kMaxHrdSeiBytes);
        const auto units = cu264::bitstream::split_annexb(nal).units;
        ASSERT_EQ(units.size(), 1u);
        EXPECT_EQ(units[0].prefix.size(), 4u);
        EXPECT_EQ(units[0].unit[0], 6);  // nal_ref_idc 0, SEI
        cu264::bitstream::Bytes rbsp;
        cu264::bitstream::unescape(units[0].unit, rbsp);
        const auto payload = cu264::bitstream::without_padding(rbsp);
        HeaderReader r(std::vector<std::uint8_t>(payload.begin(), payload.end()));
        EXPECT_EQ(r.u(8), 0u);  // buffering_period
        EXPECT_EQ(r.u(8), static_cast<std::uint64_t>(2 * length / 8 + 1));
        EXPECT_EQ(r.ue(), 0u);
        EXPECT_EQ(r.u(length), delay);
        EXPECT_EQ(r.u(length), 90000 - delay);
        EXPECT_EQ(r.u(7), 64u);
        EXPECT_EQ(r.u(8), 1u);  // pic_timing
        EXPECT_EQ(r.u(8), 4u);
        EXPECT_EQ(r.u(24), ticks);
        EXPECT_EQ(r.u(8), 0u);
        EXPECT_TRUE(r.at_trailing_bits());
      }
    }
  }
}

TEST(Headers, FillerHasTheBytesAskedFor) {
  for (const std::size_t bytes : {std::size_t{5}, std::size_t{6}, std::size_t{300}, std::size_t{100000}}) {
    std::vector<std::uint8_t> nal = {1, 2, 3};  // stay in front
    cu264::encoder::append_filler(nal, bytes);
    ASSERT_EQ(nal.size(), 3 + bytes);
    EXPECT_EQ(nal[0] + nal[1] + nal[2], 6);
    nal.erase(nal.begin(), nal.begin() + 3);
    const auto found = cu264::bitstream::split_annexb(nal);
    ASSERT_EQ(found.units.size(), 1u);
    EXPECT_TRUE(found.tail.empty());
    EXPECT_EQ(found.units[0].unit[0], 12);
    EXPECT_EQ(found.units[0].unit.size(), bytes - 3);
    for (std::size_t i = 4; i + 1 < bytes; ++i) ASSERT_EQ(nal[i], 0xff);
    EXPECT_EQ(nal.back(), 0x80);
  }
}

std::string sei_text(const Config& config) {
  const auto sei = cu264::encoder::sei_rbsp(config);
  HeaderReader r(sei);
  EXPECT_EQ(r.u(8), 5u);  // user_data_unregistered
  std::uint64_t size = 0;
  std::uint64_t byte = 255;
  while (byte == 255) size += byte = r.u(8);
  for (int i = 0; i < 16; ++i) r.u(8);  // uuid_iso_iec_11578
  std::string text;
  for (std::uint64_t i = 16; i < size; ++i) text += static_cast<char>(r.u(8));
  EXPECT_TRUE(r.at_trailing_bits());
  return text;
}

TEST(Headers, SeiNamesEncoderAndSettings) {
  Config config = sized(64, 64);
  config.qp = 33, config.slices = 3, config.deblock = false, config.preset = cu264::Preset::fast;
  EXPECT_EQ(sei_text(config), std::string("cu264 ") + cu264::version() +
                                  " profile=baseline preset=fast qp=33 slices=3 deblock=off");
}

TEST(Headers, SeiNamesRateControl) {
  Config config = sized(64, 64);
  config.crf = 21.5, config.max_frame_bytes = 9000, config.on_overflow = cu264::OnOverflow::drop;
  EXPECT_NE(sei_text(config).find(" crf=21.5 max-frame-bytes=9000 on-overflow=drop aq=variance slices=1"),
            std::string::npos)
      << sei_text(config);
  config = sized(64, 64);
  config.bitrate = 2000000, config.buffer_bits = 1000000, config.cbr = true;
  EXPECT_NE(sei_text(config).find(" bitrate=2000000 buffer-bits=1000000 cbr=on lookahead=40 aq=variance"),
            std::string::npos)
      << sei_text(config);
}

// The headers have the same bytes for any backend and number of threads.
TEST(Headers, SeiHoldsNothingThatLeavesTheBytesAlone) {
  Config one = sized(64, 64);
  Config other = one;
  other.threads = 9;
  other.backend = cu264::BackendChoice::cpu;
  other.reconstruction = true;
  EXPECT_EQ(sei_text(one), sei_text(other));
}

TEST(Sei, SeveralMessagesHaveTheBytesOfOneCallEach) {
  using Bytes = std::vector<std::uint8_t>;
  const Bytes slice{0, 0, 0, 1, 0x65, 0x88, 0x84}, headers{0, 0, 0, 1, 0x68, 1, 2, 0, 0, 1, 0x65, 0x88};
  const std::vector<Bytes> payloads{{1, 2, 3}, {}, Bytes(300, 0), {0, 0, 1}};
  for (const Bytes& unit : {slice, headers, Bytes(slice.begin() + 1, slice.end()), Bytes{}, Bytes{9, 9}}) {
    Bytes together = unit, single = unit;
    cu264::insert_sei(together, cu264::kSeiUserDataRegistered, payloads);
    for (const Bytes& payload : payloads) cu264::insert_sei(single, cu264::kSeiUserDataRegistered, payload);
    EXPECT_EQ(together, single);
  }
}

// A picture with 4.5 MB of captions has 48000 messages.
TEST(Sei, ManyMessagesTakeTheTimeOfOne) {
  std::vector<std::uint8_t> unit{0, 0, 0, 1, 0x65, 0x88, 0x84};
  const std::vector<std::vector<std::uint8_t>> payloads(100000, std::vector<std::uint8_t>(100, 7));
  const auto begin = std::chrono::steady_clock::now();
  cu264::insert_sei(unit, cu264::kSeiUserDataRegistered, payloads);
  // Moving what follows for each of them would be 5e11 bytes.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
  EXPECT_EQ(unit.size(), 7 + payloads.size() * 107);
}

}  // namespace
