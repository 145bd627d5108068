// Reads the files of a corpus into memory.
#pragma once

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

}  // namespace cu264::bench
