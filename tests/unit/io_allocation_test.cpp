// Files that ask for more memory than a picture needs.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "io/av.h"
#include "io/reader.h"

namespace cu264::io {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string atom(const std::string& type, const std::string& content) {
  return big_endian(static_cast<std::uint32_t>(8 + content.size())) + type + content;
}

// A movie whose table of metadata keys is said to have so many entries, each of a pointer in libav's memory.
std::string movie_with_keys(std::uint32_t entries) {
  const std::string handler = atom("hdlr", std::string(8, '\0') + "mdta" + std::string(13, '\0'));
  const std::string keys = atom("keys", big_endian(0) + big_endian(entries) + atom("mdta", "name"));
  return atom("ftyp", "qt  " + big_endian(0) + "qt  ") + atom("moov", atom("meta", handler + keys));
}

std::string refusal(std::uint32_t entries) {
  set_up_av();
  const auto path = std::filesystem::path(testing::TempDir()) / "cu264_keys.mov";
  std::ofstream(path, std::ios::binary) << movie_with_keys(entries);
  ReaderOptions options;
  options.input.path = path.string();
  std::string message;
  try {
    const Reader reader(options);
  } catch (const Error& error) {
    message = error.what();
  }
  std::filesystem::remove(path);
  return message;
}

TEST(AvAllocation, AFileCannotAskForGigabytes) {
  const std::string of_memory = "Cannot allocate memory";
  EXPECT_NE(refusal(200'000'000).find(of_memory), std::string::npos) << refusal(200'000'000);
  const std::string small = refusal(1);  // is refused because it has no video
  EXPECT_FALSE(small.empty());
  EXPECT_EQ(small.find(of_memory), std::string::npos) << small;
}

}  // namespace
}  // namespace cu264::io
