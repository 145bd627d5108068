// io::OutputFile for Python: every container is written through it, so that all treat devices, links, modes
// and full disks alike. A child made by fork() can neither write nor remove its parent's file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "io/output_file.h"

namespace cu264::python {

class FileOutput {
 public:
  // With the GIL, which is released while a pipe waits for its reader.
  explicit FileOutput(const std::string& path);

  void write(std::span<const std::uint8_t> bytes) { file().write(bytes.data(), bytes.size()); }
  void insert_front(std::span<const std::uint8_t> bytes) { file().insert_front(bytes.data(), bytes.size()); }
  // Returns the new place; whence is that of lseek.
  std::int64_t seek(std::int64_t offset, int whence);
  void commit();
  void discard();
  // Removes an unfinished file while the interpreter ends, whatever other threads do with it.
  void remove_temporary() const noexcept;

  bool seekable() const { return seekable_; }
  bool regular() const { return !temporary_.empty(); }
  bool closed() const { return file_ == nullptr; }

 private:
  io::OutputFile& file() const;

  std::unique_ptr<io::OutputFile> file_;
  std::string temporary_;
  bool seekable_ = false;
  bool committed_ = false;
  pid_t process_;
};

}  // namespace cu264::python
