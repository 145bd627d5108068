// Inputs for the tests of the variable-length coder, and a bit-by-bit encoder to compare with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "cu264/vle.h"

namespace cu264::test {

using ByteVector = std::vector<std::uint8_t>;

struct BitByBit {
  ByteVector stream;
  std::uint64_t bits = 0;
  std::vector<std::uint64_t> chunk_index;
};

inline BitByBit encode_bit_by_bit(const vle::CodeTable& table, const ByteVector& input) {
  BitByBit coded;
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (i % vle::kChunkSymbols == 0) coded.chunk_index.push_back(coded.bits);
    for (int bit = table.length[input[i]] - 1; bit >= 0; --bit, ++coded.bits) {
      if (coded.bits % 8 == 0) coded.stream.push_back(0);
      if ((table.code[input[i]] >> bit & 1) != 0) {
        coded.stream.back() = static_cast<std::uint8_t>(coded.stream.back() | 0x80 >> coded.bits % 8);
      }
    }
  }
  return coded;
}

struct NamedInput {
  std::string name;
  ByteVector bytes;
};

inline ByteVector random_bytes(std::size_t size, int symbols, unsigned seed) {
  std::mt19937 random(seed);
  ByteVector bytes(size);
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>(random() % static_cast<unsigned>(symbols));
  return bytes;
}

// Symbol s occurs about half as often as s - 1, so that codes are as long as the limit allows.
inline ByteVector steep_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  ByteVector bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(__builtin_ctz(random() | 1u << 31));
  // Every symbol occurs at least once.
  for (std::size_t s = 0; s < 40 && s < size; ++s) bytes[size - 1 - s] = static_cast<std::uint8_t>(s);
  return bytes;
}

inline std::vector<NamedInput> inputs_of_size(std::size_t size) {
  const auto seed = static_cast<unsigned>(size + 1);
  return {{"all equal", ByteVector(size, 0xff)},
          {"two symbols", random_bytes(size, 2, seed)},
          {"seven symbols", random_bytes(size, 7, seed)},
          {"256 equally probable", random_bytes(size, 256, seed)},
          {"steep", steep_bytes(size, seed)}};
}

// The corpora below CU264_TEST_DATA, decompressed (archives are not unpacked); none without that folder or
// without xz.
inline std::vector<NamedInput> corpora() {
  std::vector<NamedInput> files;
  const char* const folder = std::getenv("CU264_TEST_DATA");
  if (folder == nullptr) return files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(folder) + "/corpora", ignored)) {
    if (entry.path().extension() != ".xz") continue;
    std::FILE* const pipe = popen(("xz -dc '" + entry.path().string() + "'").c_str(), "r");
    if (pipe == nullptr) continue;
    NamedInput file{entry.path().stem().string(), {}};
    std::uint8_t block[1 << 16];
    for (std::size_t got; (got = std::fread(block, 1, sizeof block, pipe)) > 0;) {
      file.bytes.insert(file.bytes.end(), block, block + got);
    }
    if (pclose(pipe) == 0) files.push_back(std::move(file));
  }
  return files;
}

inline constexpr char kNoCorpora[] =
    "no corpora: CU264_TEST_DATA names no folder with corpora/*.xz, or there is no xz";

}  // namespace cu264::test
