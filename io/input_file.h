// A file, a pipe or standard input as a sequence of bytes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cu264::io {

class InputFile {
 public:
  // "-" is standard input. Throws Error(bad_input), as read() and peek() do.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Fills the memory; fewer bytes only at the end, or once `stop`, asked now and then while a pipe is silent,
  // says so.
  std::size_t read(std::span<std::uint8_t> memory, const std::function<bool()>& stop = {});

  // The next bytes, `size` of them or all that are left, which stay to be read.
  std::span<const std::uint8_t> peek(std::size_t size);

  // For callers that cannot take exceptions. At least one byte, 0 at the end or once `stop` says so, or
  // -errno.
  ssize_t try_read_some(std::span<std::uint8_t> memory, const std::function<bool()>& stop) noexcept;
  // Of a regular file: as lseek(), or -errno.
  off_t try_seek(off_t offset, int whence) noexcept;

  // Of a regular file.
  std::optional<std::uint64_t> size() const { return size_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;  // for messages
  int descriptor_ = -1;
  std::optional<std::uint64_t> size_;
  std::vector<std::uint8_t> head_;    // taken from a pipe by peek(), still to be read
  std::vector<std::uint8_t> peeked_;  // a copy of what a regular file's reader has before it
};

}  // namespace cu264::io
