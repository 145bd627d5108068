// Emulation prevention agrees with a reference that looks back at the output for every byte, and has an
// inverse.

#include "core/nal.h"
#include "common/bitstream/nal_unit.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes escape_reference(const Bytes& rbsp) {
  Bytes out;
  for (const std::uint8_t byte : rbsp) {
    const std::size_t n = out.size();
    if (n >= 2 && out[n - 1] == 0 && out[n - 2] == 0 && byte <= 3) out.push_back(3);
    out.push_back(byte);
  }
  return out;
}

Bytes unescape(const Bytes& payload) {
  Bytes rbsp;
  int zeros = 0;
  for (const std::uint8_t byte : payload) {
    if (zeros >= 2 && byte == 3) {
      zeros = 0;
      continue;
    }
    rbsp.push_back(byte);
    zeros = byte == 0 ? zeros + 1 : 0;
  }
  return rbsp;
}

// Returns the payload that append_nal adds after `before`, after the NAL unit's header, whose framing it
// checks.
Bytes appended_payload(const Bytes& rbsp, bool long_start_code, const Bytes& before) {
  Bytes out = before;
  cu264::bitstream::append_nal(out, 3, 5, rbsp, long_start_code);
  const Bytes start = long_start_code ? Bytes{0, 0, 0, 1, 0x65} : Bytes{0, 0, 1, 0x65};
  EXPECT_TRUE(std::equal(before.begin(), before.end(), out.begin())) << "what was there changed";
  EXPECT_TRUE(std::equal(start.begin(), start.end(), out.begin() + static_cast<long>(before.size())));
  return Bytes(out.begin() + static_cast<long>(before.size() + start.size()), out.end());
}

void expect_escaped(const Bytes& rbsp) {
  for (const bool long_start_code : {false, true}) {
    const Bytes payload = appended_payload(rbsp, long_start_code, {0, 0});
    ASSERT_EQ(payload, escape_reference(rbsp)) << ::testing::PrintToString(rbsp);
    ASSERT_EQ(unescape(payload), rbsp) << ::testing::PrintToString(rbsp);
    for (std::size_t i = 2; i < payload.size(); ++i) {
      ASSERT_FALSE(payload[i - 2] == 0 && payload[i - 1] == 0 && payload[i] < 3)
          << "a start code at " << i << " of " << ::testing::PrintToString(rbsp);
    }
  }
}

TEST(Nal, TheFourSequences) {
  const auto payload = [](const Bytes& rbsp) { return appended_payload(rbsp, false, {}); };
  EXPECT_EQ(payload({0, 0, 0}), (Bytes{0, 0, 3, 0}));
  EXPECT_EQ(payload({0, 0, 1}), (Bytes{0, 0, 3, 1}));
  EXPECT_EQ(payload({0, 0, 2}), (Bytes{0, 0, 3, 2}));
  EXPECT_EQ(payload({0, 0, 3}), (Bytes{0, 0, 3, 3}));
  EXPECT_EQ(payload({0, 0, 4}), (Bytes{0, 0, 4}));
  EXPECT_EQ(payload({0, 0, 0, 0, 0, 1}), (Bytes{0, 0, 3, 0, 0, 3, 0, 1}));
}

TEST(Nal, AllShortPayloads) {
  constexpr std::uint8_t kValues[6] = {0, 1, 2, 3, 4, 255};
  for (int size = 0; size <= 6; ++size) {
    int combinations = 1;
    for (int i = 0; i < size; ++i) combinations *= 6;
    for (int n = 0; n < combinations; ++n) {
      Bytes rbsp;
      for (int i = 0, rest = n; i < size; ++i, rest /= 6) rbsp.push_back(kValues[rest % 6]);
      expect_escaped(rbsp);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Nal, LongPayloads) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Bytes rbsp(random() % 3000);
    const unsigned zeros_in_16 = random() % 17, limit = random() % 2 ? 5 : 256;
    for (std::uint8_t& byte : rbsp) {
      byte = random() % 16 < zeros_in_16 ? 0 : static_cast<std::uint8_t>(random() % limit);
    }
    expect_escaped(rbsp);
    if (HasFatalFailure()) return;
  }
}

TEST(Nal, HeaderFields) {
  for (int ref_idc = 0; ref_idc < 4; ++ref_idc) {
    for (int type = 1; type < 32; ++type) {
      Bytes out;
      cu264::bitstream::append_nal(out, ref_idc, type, Bytes{0x80}, false);
      EXPECT_EQ(out, (Bytes{0, 0, 1, static_cast<std::uint8_t>(ref_idc * 32 + type), 0x80}));
    }
  }
}

}  // namespace
