// Where a user's key comes from: text, a file, the environment, chance.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "cu264/protect.h"
#include "cu264/status.h"
#include "protect/keys.h"

namespace cu264 {
namespace {

constexpr const char* kKeyRemedy = "a key is 32 bytes, or 64 hexadecimal digits";

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Wipes memory when it goes out of scope.
struct Wiped {
  void* memory;
  std::size_t size;
  ~Wiped() { protect::wipe(memory, size); }
};

// `source` says where the digits come from; the digits themselves never appear in a message.
ProtectionKey key_of_hex(std::string_view hex, const std::string& source) {
  while (!hex.empty() && (hex.back() == '\n' || hex.back() == '\r')) hex.remove_suffix(1);
  std::array<std::uint8_t, ProtectionKey::kBytes> bytes;
  const Wiped wiped{bytes.data(), bytes.size()};
  if (hex.size() != 2 * bytes.size()) {
    throw Error(ErrorCode::invalid_argument, source + " is no key: its length is wrong", kKeyRemedy);
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) {
      throw Error(ErrorCode::invalid_argument, source + " is no key: not all its characters are digits",
                  kKeyRemedy);
    }
    bytes[i] = static_cast<std::uint8_t>(16 * high + low);
  }
  return ProtectionKey(bytes);
}

}  // namespace

ProtectionKey::ProtectionKey(std::span<const std::uint8_t, kBytes> bytes) {
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

ProtectionKey::~ProtectionKey() {
  protect::wipe(bytes_.data(), bytes_.size());
}

ProtectionKey ProtectionKey::from_hex(std::string_view hex) {
  return key_of_hex(hex, "the text");
}

// It does not use a stream, whose buffer would keep the key.
ProtectionKey ProtectionKey::from_file(const std::string& path) {
  // The buffer holds one character more than a key and its line end can have.
  char text[2 * kBytes + 3];
  const Wiped wiped{text, sizeof text};
  std::size_t size = 0;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw Error(ErrorCode::bad_input, path + ": the key file cannot be read");
  ssize_t got = 0;
  while (size < sizeof text) {
    got = ::read(file, text + size, sizeof text - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  ::close(file);
  if (got < 0) throw Error(ErrorCode::bad_input, path + ": the key file cannot be read");
  if (size != kBytes) return key_of_hex({text, size}, path);
  if (std::all_of(text, text + size, [](char c) { return digit(c) >= 0; })) {
    throw Error(ErrorCode::invalid_argument, path + " is no key: it holds 32 hexadecimal digits, half a key",
                "a key is 64 hexadecimal digits, or 32 bytes that are not text");
  }
  return ProtectionKey(
      std::span<const std::uint8_t, kBytes>(reinterpret_cast<const std::uint8_t*>(text), kBytes));
}

bool ProtectionKey::file_is_open_to_others(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         (status.st_mode & (S_IRWXG | S_IRWXO)) != 0;
}

ProtectionKey ProtectionKey::random() {
  std::array<std::uint8_t, kBytes> bytes;
  const Wiped wiped{bytes.data(), bytes.size()};
  protect::fill_with_secret(bytes);
  return ProtectionKey(bytes);
}

void ProtectionKey::write_new_file(const std::string& path) const {
  char text[2 * kBytes + 1];
  const Wiped wiped{text, sizeof text};
  for (std::size_t i = 0; i < kBytes; ++i) {
    text[2 * i] = "0123456789abcdef"[bytes_[i] >> 4];
    text[2 * i + 1] = "0123456789abcdef"[bytes_[i] & 15];
  }
  text[2 * kBytes] = '\n';
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) {
    const bool exists = errno == EEXIST;
    throw Error(ErrorCode::bad_output,
                path + (exists ? ": there is a file of this name already" : ": the key file cannot be made"),
                exists ? "a key is never overwritten: name another file"
                       : "name a file in a folder that can be written");
  }
  const bool written =
      ::write(file, text, sizeof text) == static_cast<ssize_t>(sizeof text) && ::fsync(file) == 0;
  if (::close(file) != 0 || !written) {
    ::unlink(path.c_str());
    throw Error(ErrorCode::bad_output, path + ": the key file cannot be written", "no file was left");
  }
}

ProtectionKey ProtectionKey::from_environment() {
  const char* const hex = std::getenv("CU264_KEY");
  if (hex == nullptr || *hex == 0) {
    throw Error(ErrorCode::invalid_argument, "there is no key",
                "give --key-file, or CU264_KEY in the environment");
  }
  return key_of_hex(hex, "CU264_KEY");
}

}  // namespace cu264
