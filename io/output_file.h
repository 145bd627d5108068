// A file that is either complete or absent: it is written under a temporary name in the same folder, renamed
// by commit(), and removed otherwise. Pipes, devices and standard output are written directly.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "cu264/status.h"

namespace cu264::io {

// An Error(bad_output) with the errno of what failed.
class OutputError : public Error {
 public:
  OutputError(const std::string& cause, const std::string& remedy, int system_error)
      : Error(ErrorCode::bad_output, cause, remedy), system_error_(system_error) {}
  int system_error() const noexcept { return system_error_; }

 private:
  int system_error_;
};

class OutputFile {
 public:
  // "-" is standard output. A link is written through. A write-protected file is refused. Throws OutputError,
  // as every function here does.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t size);
  // Moves what was written so far back and writes `head` before it. For regular() files only.
  void insert_front(const void* head, std::size_t size);
  void close();   // nothing may be written after it; readable_path() then has the whole content
  void commit();  // closes, and gives the file its name

  // Writes for callers that cannot take exceptions. Returns 0 or a positive result, or -errno, which is also
  // kept.
  int try_write(const void* data, std::size_t size) noexcept;
  std::int64_t try_seek(std::int64_t offset, int whence) noexcept;
  int error() const { return error_; }
  OutputError write_error() const;

  bool seekable() const { return seekable_; }
  bool regular() const { return !temporary_.empty(); }
  const std::string& name() const { return name_; }
  const std::string& readable_path() const { return temporary_; }  // before commit()
  std::uint64_t bytes() const { return bytes_; }                   // written so far

  // Removes the temporary files of all open outputs. It is safe in a signal handler, after which the process
  // must end.
  static void remove_temporaries() noexcept;

 private:
  void discard() noexcept;

  std::string path_;
  std::string name_;       // for messages
  std::string temporary_;  // empty if written directly
  pid_t process_;          // that made it: a forked child must not remove its parent's file
  int descriptor_ = -1;
  int error_ = 0;
  bool seekable_ = false;
  bool committed_ = false;
  std::uint64_t bytes_ = 0;
};

// Returns true if both paths name one existing file, or would be the same new one.
bool same_file(const std::string& a, const std::string& b);

}  // namespace cu264::io
