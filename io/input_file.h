// A file, a pipe or standard input as a sequence of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace cu264::io {

class InputFile {
 public:
  // "-" is standard input. Throws Error(bad_input), as read() does.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Fills the memory; fewer bytes only at the end, or once `stop`, asked now and then while a pipe is silent,
  // says so.
  std::size_t read(std::span<std::uint8_t> memory, const std::function<bool()>& stop = {});

  // Of a regular file.
  std::optional<std::uint64_t> size() const { return size_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;  // for messages
  int descriptor_ = -1;
  std::optional<std::uint64_t> size_;
};

}  // namespace cu264::io
