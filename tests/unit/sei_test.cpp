// SEI messages in access units: where they stand, and that their bytes come back.
#include "cu264/sei.h"

#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <vector>

#include "cu264/encoder.h"

namespace {

using Bytes = std::vector<std::uint8_t>;

// The NAL units of a stream with every emulation prevention byte taken out, by the syntax of H.264 B.1.1
// and 7.3.1.
std::vector<Bytes> units_of(const Bytes& stream) {
  std::vector<Bytes> units;
  std::size_t zeros = 0;
  for (const std::uint8_t byte : stream) {
    if (zeros >= 2 && byte == 1) {
      if (!units.empty()) {
        while (!units.back().empty() && units.back().back() == 0) units.back().pop_back();
      }
      units.emplace_back();
    } else if (!units.empty() && !(zeros == 2 && byte == 3)) {
      units.back().push_back(byte);
    }
    zeros = byte == 0 ? zeros + 1 : 0;
  }
  return units;
}

std::vector<int> types_of(const Bytes& stream) {
  std::vector<int> types;
  for (const Bytes& unit : units_of(stream)) types.push_back(unit.at(0) & 31);
  return types;
}

Bytes access_unit(cu264::HeaderPlacement headers, int slices) {
  cu264::Config config;
  config.width = 32, config.height = 32, config.headers = headers, config.slices = slices;
  config.backend = cu264::BackendChoice::cpu;
  cu264::Encoder encoder(config);
  const Bytes gray(32 * 32, 100);
  cu264::Frame frame;
  frame.format = cu264::PixelFormat::gray8, frame.width = frame.height = 32;
  frame.plane[0] = gray.data(), frame.pitch[0] = 32;
  encoder.send(frame);
  encoder.flush();
  return encoder.receive()->data;
}

TEST(Sei, StandsBeforeTheFirstSlice) {
  Bytes unit = access_unit(cu264::HeaderPlacement::first_packet, 2);
  ASSERT_EQ(types_of(unit), (std::vector<int>{7, 8, 6, 5, 5}));
  const Bytes before = unit;
  cu264::insert_sei(unit, cu264::kSeiUserDataRegistered, Bytes{0xb5, 1, 2});
  EXPECT_EQ(types_of(unit), (std::vector<int>{7, 8, 6, 6, 5, 5}));
  EXPECT_EQ(units_of(unit)[3], (Bytes{6, 4, 3, 0xb5, 1, 2, 0x80}));
  std::vector<Bytes> rest = units_of(unit);
  rest.erase(rest.begin() + 3);
  EXPECT_EQ(rest, units_of(before));
  cu264::insert_sei(unit, cu264::kSeiUserDataUnregistered, Bytes(16, 7));
  EXPECT_EQ(units_of(unit)[4].at(1), 5) << "the second message stands behind the first";
}

TEST(Sei, TakesTheBytesThatWereSaid) {
  for (const auto headers : {cu264::HeaderPlacement::separate, cu264::HeaderPlacement::every_packet}) {
    Bytes unit = access_unit(headers, 2);
    for (const Bytes& payload : {Bytes{0xb5, 0, 0, 0, 0}, Bytes{}, Bytes(300, 3), Bytes(300, 0)}) {
      const std::size_t before = unit.size();
      cu264::insert_sei(unit, 4, payload);
      EXPECT_EQ(unit.size() - before, cu264::sei_bytes(4, payload));
      EXPECT_EQ(Bytes(unit.begin(), unit.begin() + 4), (Bytes{0, 0, 0, 1}));
    }
  }
}

TEST(Sei, FirstUnitOfAnAccessUnitHasTheLongStartCode) {
  Bytes unit = access_unit(cu264::HeaderPlacement::separate, 1);
  cu264::insert_sei(unit, 4, Bytes{1});
  EXPECT_EQ(Bytes(unit.begin(), unit.begin() + 5), (Bytes{0, 0, 0, 1, 6}));
  EXPECT_EQ(types_of(unit), (std::vector<int>{6, 5}));
}

TEST(Sei, AnyTypeSizeAndBytes) {
  for (const std::size_t size : {0u, 1u, 254u, 255u, 256u, 600u}) {
    for (const int type : {4, 254, 255, 300}) {
      for (const bool zeros : {true, false}) {
        Bytes payload(size);
        if (!zeros) std::iota(payload.begin(), payload.end(), std::uint8_t{0});
        Bytes unit;
        cu264::insert_sei(unit, type, payload);
        const std::vector<Bytes> units = units_of(unit);
        ASSERT_EQ(units.size(), 1u);
        std::size_t at = 1;
        const auto number = [&] {
          std::size_t value = 0;
          while (units[0].at(at) == 255) value += 255, ++at;
          return value + units[0].at(at++);
        };
        EXPECT_EQ(number(), static_cast<std::size_t>(type));
        EXPECT_EQ(number(), size);
        const auto begin = units[0].begin() + static_cast<std::ptrdiff_t>(at);
        EXPECT_EQ(Bytes(begin, units[0].end() - 1), payload);
        EXPECT_EQ(units[0].back(), 0x80);
      }
    }
  }
  Bytes unit;
  EXPECT_THROW(cu264::insert_sei(unit, -1, {}), cu264::Error);
}

}  // namespace
