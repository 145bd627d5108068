// Reads the files of a corpus into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cu264::bench {

struct CorpusFile {
  std::string name;  // without folder and .xz
  std::vector<std::uint8_t> bytes;
};

// Reads files as they are, FILE.xz unpacked by xz, every file of an ARCHIVE.tar.xz unpacked by tar, and all
// of these in a folder. Throws std::runtime_error.
std::vector<CorpusFile> read_corpora(const std::vector<std::string>& paths);

// The bytes once and again, until there are at least so many.
std::vector<std::uint8_t> repeated(const std::vector<std::uint8_t>& bytes, std::size_t least);

}  // namespace cu264::bench
