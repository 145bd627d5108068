#include "bench/corpora.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace cu264::bench {
namespace {

namespace fs = std::filesystem;

std::string shell_word(const std::string& text) {
  std::string shell = "'";
  for (const char c : text) shell += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return shell + "'";
}

std::vector<std::uint8_t> output_of(const std::string& command) {
  const auto close = [](std::FILE* pipe) { return pclose(pipe); };
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run: " + command);
  std::vector<std::uint8_t> bytes;
  std::uint8_t part[65536];
  for (std::size_t got; (got = std::fread(part, 1, sizeof part, pipe)) > 0;)
    bytes.insert(bytes.end(), part, part + got);
  if (close(pipe) != 0) throw std::runtime_error("failed: " + command);
  return bytes;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void read_path(const fs::path& path, std::vector<CorpusFile>& files) {
  const std::string name = path.filename().string(), file = shell_word(path.string());
  if (fs::is_directory(path)) {
    std::vector<fs::path> entries(fs::directory_iterator(path), fs::directory_iterator{});
    std::sort(entries.begin(), entries.end());
    for (const fs::path& entry : entries) read_path(entry, files);
  } else if (ends_with(name, ".tar.xz")) {
    const std::vector<std::uint8_t> list = output_of("tar -tJf " + file);
    std::istringstream members(std::string(list.begin(), list.end()));
    for (std::string member; std::getline(members, member);) {
      if (member.empty() || member.back() == '/') continue;
      files.push_back(
          {fs::path(member).filename().string(), output_of("tar -xJOf " + file + " " + shell_word(member))});
    }
  } else if (ends_with(name, ".xz")) {
    files.push_back({path.stem().string(), output_of("xz -dc " + file)});
  } else {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + path.string());
    files.push_back({name, {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()}});
  }
}

}  // namespace

std::vector<CorpusFile> read_corpora(const std::vector<std::string>& paths) {
  std::vector<CorpusFile> files;
  for (const std::string& path : paths) read_path(path, files);
  std::erase_if(files, [](const CorpusFile& file) { return file.bytes.empty(); });
  if (files.empty()) throw std::runtime_error("no files to encode");
  return files;
}

std::vector<std::uint8_t> repeated(const std::vector<std::uint8_t>& bytes, std::size_t least) {
  std::vector<std::uint8_t> all;
  while (all.size() < least) all.insert(all.end(), bytes.begin(), bytes.end());
  return all;
}

}  // namespace cu264::bench
