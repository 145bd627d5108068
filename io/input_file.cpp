#include "io/input_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cu264/status.h"

namespace cu264::io {
namespace {

constexpr int kPatienceMs = 100;

Error read_error(const std::string& name, const std::string& why) {
  return Error(ErrorCode::bad_input, name + ": cannot read: " + why);
}

}  // namespace

InputFile::InputFile(const std::string& path) : name_(path == "-" ? "standard input" : path) {
  descriptor_ = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw read_error(name_, std::strerror(errno));
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) throw read_error(name_, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw read_error(name_, "it is a directory");
  if (S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
}

InputFile::~InputFile() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
}

std::size_t InputFile::read(std::span<std::uint8_t> memory, const std::function<bool()>& stop) {
  std::size_t filled = 0;
  while (filled < memory.size()) {
    if (stop && stop()) break;
    if (!size_ && stop) {
      pollfd waiting{descriptor_, POLLIN, 0};
      const int ready = poll(&waiting, 1, kPatienceMs);
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    }
    const ssize_t got = ::read(descriptor_, memory.data() + filled, memory.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw read_error(name_, std::strerror(errno));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

}  // namespace cu264::io
