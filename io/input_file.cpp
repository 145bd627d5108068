#include "io/input_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

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

ssize_t InputFile::try_read_some(std::span<std::uint8_t> memory, const std::function<bool()>& stop) noexcept {
  if (!head_.empty()) {
    const std::size_t taken = std::min(head_.size(), memory.size());
    std::copy_n(head_.begin(), taken, memory.begin());
    head_.erase(head_.begin(), head_.begin() + static_cast<std::ptrdiff_t>(taken));
    return static_cast<ssize_t>(taken);
  }
  while (true) {
    if (stop && stop()) return 0;
    if (!size_) {
      pollfd waiting{descriptor_, POLLIN, 0};
      const int ready = poll(&waiting, 1, kPatienceMs);
      if (ready < 0 && errno != EINTR) return -errno;
      if (ready <= 0) continue;
    }
    const ssize_t got = ::read(descriptor_, memory.data(), memory.size());
    if (got >= 0) return got;
    if (errno != EINTR && errno != EAGAIN) return -errno;
  }
}

std::size_t InputFile::read(std::span<std::uint8_t> memory, const std::function<bool()>& stop) {
  std::size_t filled = 0;
  while (filled < memory.size()) {
    const ssize_t got = try_read_some(memory.subspan(filled), stop);
    if (got < 0) throw read_error(name_, std::strerror(static_cast<int>(-got)));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

std::span<const std::uint8_t> InputFile::peek(std::size_t size) {
  std::vector<std::uint8_t> seen(size);
  seen.resize(read(seen));
  if (!size_) {
    head_ = std::move(seen);
    return head_;
  }
  const off_t back = try_seek(-static_cast<off_t>(seen.size()), SEEK_CUR);
  if (back < 0) throw read_error(name_, std::strerror(static_cast<int>(-back)));
  peeked_ = std::move(seen);
  return peeked_;
}

std::size_t InputFile::try_read_at(std::span<std::uint8_t> memory, std::uint64_t offset) const noexcept {
  std::size_t filled = 0;
  while (filled < memory.size()) {
    const ssize_t got = pread(descriptor_, memory.data() + filled, memory.size() - filled,
                              static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

off_t InputFile::try_seek(off_t offset, int whence) noexcept {
  const off_t at = lseek(descriptor_, offset, whence);
  return at >= 0 ? at : -errno;
}

}  // namespace cu264::io
