// A bare stream in parts: where it is cut, that nothing is lost, and that it needs no more memory than a
// part.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cu264/status.h"
#include "io/access_unit_reader.h"

namespace cu264::io {
namespace {

using Bytes = std::vector<std::uint8_t>;

void append(Bytes& to, const Bytes& bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// A NAL unit with its start code; of a slice, the first byte after the header tells whether a picture begins.
Bytes nal(int type, std::size_t size, bool first_slice, int zeros, std::mt19937& random) {
  Bytes unit(static_cast<std::size_t>(zeros), 0);
  append(unit, {0, 0, 1, static_cast<std::uint8_t>(0x60 | type)});
  unit.push_back(static_cast<std::uint8_t>(first_slice ? 0x88 : 0x48));
  for (std::size_t i = 1; i < size; ++i) unit.push_back(static_cast<std::uint8_t>(1 + random() % 255));
  return unit;
}

// An access unit as encoders make them: with and without a delimiter, parameter sets, SEI, several slices.
Bytes access_unit(std::size_t slice_bytes, std::mt19937& random) {
  Bytes unit;
  for (const int type : {9, 7, 8, 6}) {
    if (random() % 2 != 0) append(unit, nal(type, 1 + random() % 9, random() % 2 != 0, 1, random));
  }
  const int slices = 1 + static_cast<int>(random() % 3);
  for (int i = 0; i < slices; ++i) {
    append(unit, nal(5, 1 + random() % slice_bytes, i == 0, static_cast<int>(random() % 4), random));
  }
  if (random() % 4 == 0) append(unit, nal(12, 1 + random() % 50, true, 0, random));  // filler data
  return unit;
}

// Returns what a pipe that `write` fills gives, part after part.
std::vector<Bytes> parts_of_pipe(const std::function<void(int)>& write) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  std::thread writer([&] {
    write(ends[1]);
    close(ends[1]);
  });
  std::vector<Bytes> parts;
  {
    InputFile file("/proc/self/fd/" + std::to_string(ends[0]));
    AccessUnitReader reader(file);
    for (auto part = reader.next(); !part.empty(); part = reader.next())
      parts.emplace_back(part.begin(), part.end());
  }
  writer.join();
  close(ends[0]);
  return parts;
}

void write_all(int descriptor, const Bytes& bytes, std::mt19937& random) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t wanted = std::min<std::size_t>(1 + random() % 100000, bytes.size() - at);
    const ssize_t written = ::write(descriptor, bytes.data() + at, wanted);
    ASSERT_GT(written, 0);
    at += static_cast<std::size_t>(written);
  }
}

TEST(AccessUnitReader, CutsOnlyBetweenAccessUnits) {
  std::mt19937 random(264);
  // Small and large ones, up to more than one part holds.
  for (const std::size_t slice_bytes : {3u, 500u, 70000u, 12000000u}) {
    std::vector<std::size_t> begins;
    Bytes stream;
    while (stream.size() < 20000000 || begins.size() < 3) {
      begins.push_back(stream.size());
      append(stream, access_unit(slice_bytes, random));
    }
    append(stream, {0, 0, 0});
    const std::vector<Bytes> parts = parts_of_pipe([&](int to) { write_all(to, stream, random); });
    EXPECT_GT(parts.size(), 1u) << slice_bytes;
    Bytes joined;
    for (const Bytes& part : parts) {
      EXPECT_TRUE(std::binary_search(begins.begin(), begins.end(), joined.size()))
          << "a part begins inside an access unit, at " << joined.size();
      append(joined, part);
    }
    EXPECT_TRUE(joined == stream) << "bytes were lost or changed";
  }
}

TEST(AccessUnitReader, SmallAndOddStreams) {
  std::mt19937 random(1);
  for (const Bytes& stream :
       std::vector<Bytes>{{}, {0}, {0, 0, 1}, {0, 0, 1, 0x65}, {0, 0, 1, 0x65, 0x88}, Bytes(9, 0)}) {
    Bytes joined;
    for (const Bytes& part : parts_of_pipe([&](int to) { write_all(to, stream, random); }))
      append(joined, part);
    EXPECT_EQ(joined, stream);
  }
}

TEST(AccessUnitReader, RefusesWhatNoPictureNeeds) {
  InputFile endless("/dev/zero");
  AccessUnitReader reader(endless);
  try {
    reader.next();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_NE(std::string(error.what()).find("256 MiB"), std::string::npos) << error.what();
  }
}

TEST(AccessUnitReader, EndsWhenAsked) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  InputFile silent("/proc/self/fd/" + std::to_string(ends[0]));
  int asked = 0;
  AccessUnitReader reader(silent, [&] { return ++asked > 2; });
  EXPECT_TRUE(reader.next().empty());
  close(ends[0]), close(ends[1]);
}

}  // namespace
}  // namespace cu264::io
