#include "file_output.h"

#include <unistd.h>

#include <cerrno>

#include "released_gil.h"

namespace cu264::python {
namespace {

std::unique_ptr<io::OutputFile> opened(const std::string& path) {
  for (;;) {
    try {
      const ReleasedGil released;
      return std::make_unique<io::OutputFile>(path);
    } catch (const io::OutputError& error) {
      if (error.system_error() != EINTR) throw;
    }
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
  }
}

}  // namespace

FileOutput::FileOutput(const std::string& path) : file_(opened(path)), process_(getpid()) {
  temporary_ = file_->readable_path();
  seekable_ = file_->seekable();
}

io::OutputFile& FileOutput::file() const {
  if (file_ == nullptr) throw Error(ErrorCode::invalid_argument, "the file is closed");
  if (getpid() != process_) {
    throw Error(ErrorCode::invalid_argument, "the file belongs to the process that forked this one",
                "open another one here");
  }
  return *file_;
}

std::int64_t FileOutput::seek(std::int64_t offset, int whence) {
  const std::int64_t at = file().try_seek(offset, whence);
  if (at < 0) throw file().write_error();
  return at;
}

void FileOutput::commit() {
  file().commit();
  committed_ = true;
  file_.reset();
}

void FileOutput::discard() {
  file_.reset();
}

void FileOutput::remove_temporary() const noexcept {
  if (regular() && !committed_ && getpid() == process_) unlink(temporary_.c_str());
}

}  // namespace cu264::python
