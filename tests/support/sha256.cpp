#include "tests/support/sha256.h"

extern "C" {
#include <libavutil/mem.h>
#include <libavutil/sha.h>
}

#include <memory>
#include <stdexcept>

namespace cu264::test {

std::string sha256(std::span<const std::uint8_t> bytes) {
  const std::unique_ptr<AVSHA, decltype(&av_free)> sha(av_sha_alloc(), &av_free);
  if (!sha || av_sha_init(sha.get(), 256) < 0) throw std::runtime_error("libavutil has no SHA-256");
  av_sha_update(sha.get(), bytes.data(), bytes.size());
  std::uint8_t digest[32];
  av_sha_final(sha.get(), digest);
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace cu264::test
