// The files of a corpus, in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cu264::bench {

struct CorpusFile {
  std::string name;  // without folder and .xz
  std::vector<std::uint8_t> bytes;
};

// Files as they are, FILE.xz unpacked by xz, every file of an ARCHIVE.tar.xz by tar, and all these of a
// folder. Throws std::runtime_error.
std::vector<CorpusFile> read_corpora(const std::vector<std::string>& paths);

}  // namespace cu264::bench
