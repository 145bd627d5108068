#include "io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>
#include <vector>

namespace cu264::io {
namespace {

constexpr int kMaxLinks = 40;  // as Linux follows

// remove_temporaries() may read these names at any moment, so nothing here is ever allocated or freed.
struct TemporaryName {
  std::atomic<bool> taken{false};
  std::atomic<bool> valid{false};
  char name[4096] = {};
};
TemporaryName temporaries[16];

void remember(const std::string& temporary) {
  if (temporary.size() >= sizeof temporaries[0].name) return;
  for (TemporaryName& slot : temporaries) {
    if (slot.taken.exchange(true)) continue;
    std::memcpy(slot.name, temporary.c_str(), temporary.size() + 1);
    slot.valid = true;
    return;
  }
}

void forget(const std::string& temporary) {
  for (TemporaryName& slot : temporaries) {
    if (slot.valid && temporary == slot.name) slot.valid = false, slot.taken = false;
  }
}

// Returns the beginning of `name` that has at most `size` bytes, without a part of a UTF-8 character at its
// end.
std::string beginning(const std::string& name, std::size_t size) {
  if (name.size() <= size) return name;
  while (size > 0 && (static_cast<unsigned char>(name[size]) & 0xC0) == 0x80) --size;
  return name.substr(0, size);
}

// Creates a new file beside `path`, under an unpredictable name that begins like that of `path`. Returns its
// descriptor, or -1 and errno. The kernel applies the process's umask to the mode.
int create_hidden(const std::filesystem::path& path, mode_t mode, std::string& created) {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr int kAttempts = 100;
  constexpr std::size_t kRandomLetters = 12;
  const std::string visible = beginning(path.filename().string(), NAME_MAX - kRandomLetters - 2);
  std::random_device random;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string hidden = "." + visible + ".";
    for (std::size_t i = 0; i < kRandomLetters; ++i) hidden += kLetters[random() % (sizeof kLetters - 1)];
    created = (path.parent_path() / hidden).string();
    const int descriptor = open(created.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

// True for a link that another user may have put there: in a folder where all may write but only owners may
// remove, such as /tmp, links are followed only if they are one's own or the folder owner's. Linux has the
// same rule (fs.protected_symlinks) for whoever lets it follow links.
bool is_planted(const std::filesystem::path& link) {
  struct stat of_link {
  }, of_folder{};
  const std::filesystem::path folder = link.has_parent_path() ? link.parent_path() : ".";
  if (lstat(link.c_str(), &of_link) != 0 || !S_ISLNK(of_link.st_mode)) return false;
  if (stat(folder.c_str(), &of_folder) != 0) return false;
  const bool shared = (of_folder.st_mode & S_ISVTX) != 0 && (of_folder.st_mode & S_IWOTH) != 0;
  return shared && of_link.st_uid != geteuid() && of_link.st_uid != of_folder.st_uid;
}

// Returns a planted link among those that lead to the content of `path`, its folders included; empty if there
// is none. `links_left` bounds how many are followed.
std::filesystem::path planted_link(const std::filesystem::path& path, int& links_left) {
  std::filesystem::path so_far;
  for (const std::filesystem::path& part : path) {
    so_far /= part;
    std::error_code error;
    if (!std::filesystem::is_symlink(so_far, error) || links_left-- <= 0) continue;
    if (is_planted(so_far)) return so_far;
    const std::filesystem::path target = std::filesystem::read_symlink(so_far, error);
    if (error) continue;
    std::filesystem::path planted = planted_link(so_far.parent_path() / target, links_left);
    if (!planted.empty()) return planted;
  }
  return {};
}

// Returns where the content of `path` is or would be. Links are followed, even one to a file that does not
// exist yet. Returns an empty path if the links lead nowhere.
std::filesystem::path place_of(std::filesystem::path path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);  // also after another chdir
  if (!error) path = whole;
  for (int links = 0; std::filesystem::is_symlink(path, error); ++links) {
    if (links == kMaxLinks) return {};
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) return {};
    path = path.parent_path() / target;  // an absolute target replaces the folder
  }
  std::filesystem::path place = std::filesystem::weakly_canonical(path, error);
  return error ? path : place;
}

// True if the file may not be written. Its permission bits count for root too, who could write anyway,
// because somebody took them away on purpose.
bool is_write_protected(const std::string& path, const struct stat& status) {
  constexpr mode_t kWriteBits = S_IWUSR | S_IWGRP | S_IWOTH;
  return (status.st_mode & kWriteBits) == 0 || faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0;
}

}  // namespace

OutputFile::OutputFile(const std::string& path)
    : path_(path), name_(path == "-" ? "standard output" : path), process_(getpid()) {
  const auto refuse = [&](int error, const std::string& why, const std::string& remedy = {}) {
    throw OutputError(name_ + ": cannot write: " + why, remedy, error);
  };
  int links_left = kMaxLinks;
  if (const auto link = path == "-" ? std::filesystem::path() : planted_link(path, links_left); !link.empty())
    refuse(EACCES, "the link " + link.string() + " belongs to another user, in a folder where all may write",
           "remove the link, or name another output");
  struct stat status {};
  const bool exists = path != "-" && stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) refuse(EISDIR, "it is a directory");
  if (exists && S_ISREG(status.st_mode) && is_write_protected(path, status)) {
    refuse(EACCES, "it is write-protected", "chmod +w allows it, or name another output");
  }
  if (path == "-" || (exists && !S_ISREG(status.st_mode))) {
    descriptor_ = path == "-" ? STDOUT_FILENO : open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) refuse(errno, std::strerror(errno));
    seekable_ = fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
    return;
  }
  // A link stays; the file that it points at is replaced or made.
  path_ = place_of(path).string();
  if (path_.empty()) refuse(ELOOP, "its links lead nowhere");
  std::string temporary;
  // The new file must never be more open than the one it replaces. It gets that file's permission bits
  // afterwards, but neither set-user-ID nor set-group-ID, which were granted to other content.
  descriptor_ = create_hidden(path_, exists ? 0600 : 0666, temporary);
  if (descriptor_ < 0) refuse(errno, std::strerror(errno), "the folder must exist and be writable");
  temporary_ = temporary;
  remember(temporary_);
  seekable_ = true;
  // File systems without permission bits refuse this, and then there is nothing to keep.
  if (exists && fchmod(descriptor_, status.st_mode & 0777) != 0 && errno != EPERM && errno != ENOTSUP) {
    const int error = errno;
    discard();
    refuse(error, std::strerror(error));
  }
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::discard() noexcept {
  if (descriptor_ > STDERR_FILENO) ::close(std::exchange(descriptor_, -1));
  if (regular() && !committed_ && getpid() == process_) {
    unlink(temporary_.c_str());
    forget(temporary_);
  }
}

int OutputFile::try_write(const void* data, std::size_t size) noexcept {
  const auto* from = static_cast<const std::uint8_t*>(data);
  while (size > 0 && error_ == 0) {
    const ssize_t written = ::write(descriptor_, from, size);
    if (written < 0) {
      if (errno != EINTR) error_ = errno;
      continue;
    }
    from += written, size -= static_cast<std::size_t>(written), bytes_ += static_cast<std::uint64_t>(written);
  }
  return -error_;
}

std::int64_t OutputFile::try_seek(std::int64_t offset, int whence) noexcept {
  const off_t at = lseek(descriptor_, offset, whence);
  if (at < 0) error_ = errno;
  return at < 0 ? -error_ : at;
}

OutputError OutputFile::write_error() const {
  const char* remedy = error_ == ENOSPC ? "free some space, or write elsewhere" : "";
  return OutputError(name_ + ": cannot write: " + std::strerror(error_), remedy, error_);
}

void OutputFile::write(const void* data, std::size_t size) {
  if (try_write(data, size) < 0) throw write_error();
}

void OutputFile::insert_front(const void* head, std::size_t size) {
  const auto transfer = [&](auto call, auto* bytes, std::size_t count, std::uint64_t at) {
    while (count > 0) {
      const ssize_t done = call(descriptor_, bytes, count, static_cast<off_t>(at));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) {
        error_ = done < 0 ? errno : EIO;
        throw write_error();
      }
      bytes += done, count -= static_cast<std::size_t>(done), at += static_cast<std::uint64_t>(done);
    }
  };
  // Works from the end backwards, so that nothing is overwritten before it has been moved.
  std::vector<char> block(std::size_t{1} << 20);
  for (std::uint64_t end = bytes_; end > 0;) {
    const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), end));
    end -= count;
    transfer(pread, block.data(), count, end);
    transfer(pwrite, static_cast<const char*>(block.data()), count, end + size);
  }
  transfer(pwrite, static_cast<const char*>(head), size, 0);
  bytes_ += size;
}

void OutputFile::close() {
  if (descriptor_ < 0) return;
  const int descriptor = std::exchange(descriptor_, -1);
  // Some file systems report a full disk only when a file is closed.
  if (::close(descriptor) != 0 && errno != EINTR) error_ = errno;
  if (error_ != 0) throw write_error();
}

void OutputFile::commit() {
  close();
  if (!regular()) return;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    error_ = errno;
    throw write_error();
  }
  committed_ = true;
  forget(temporary_);
}

void OutputFile::remove_temporaries() noexcept {
  for (const TemporaryName& slot : temporaries) {
    if (slot.valid) unlink(slot.name);
  }
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {
  }, second{};
  const bool a_exists = stat(a.c_str(), &first) == 0, b_exists = stat(b.c_str(), &second) == 0;
  if (a_exists && b_exists) {
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino && S_ISREG(first.st_mode);
  }
  return !a_exists && !b_exists && place_of(a) == place_of(b);
}

}  // namespace cu264::io
