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

  // Fills the memory. Reads fewer bytes only at the end, or if `stop`, which is called now and then while a
  // pipe is silent, returns true.
  std::size_t read(std::span<std::uint8_t> memory, const std::function<bool()>& stop = {});

  // Returns the next `size` bytes, or all that are left; they remain to be read.
  std::span<const std::uint8_t> peek(std::size_t size);

  // Reads for callers that cannot take exceptions. Returns the number of bytes read, at least one; 0 at the
  // end or if `stop` returns true; or -errno.
  ssize_t try_read_some(std::span<std::uint8_t> memory, const std::function<bool()>& stop) noexcept;
  // Works for a regular file: like lseek(), but returns -errno on failure.
  off_t try_seek(off_t offset, int whence) noexcept;

  // Reads a regular file from `offset` on, independently of its reading position. Returns how many bytes were
  // there.
  std::size_t try_read_at(std::span<std::uint8_t> memory, std::uint64_t offset) const noexcept;

  // Known for a regular file only.
  std::optional<std::uint64_t> size() const { return size_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;  // for messages
  int descriptor_ = -1;
  std::optional<std::uint64_t> size_;
  std::vector<std::uint8_t> head_;    // bytes that peek() took from a pipe and that are still to be read
  std::vector<std::uint8_t> peeked_;  // a copy of the next bytes of a regular file
};

}  // namespace cu264::io
