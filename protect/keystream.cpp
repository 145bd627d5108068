// The keystream by itself, made in host or device memory.
#include <algorithm>
#include <cstring>
#include <vector>

#include "cu264/protect.h"
#include "protect/keys.h"
#if defined(CU264_WITH_CUDA)
#include "protect/cuda/keystream.h"
#endif

namespace cu264 {
namespace {

using protect::AesBlock;

void require(bool condition, const char* cause, const char* remedy) {
  if (!condition) throw Error(ErrorCode::invalid_argument, cause, remedy);
}

void check(const KeystreamRange& range) {
  require(range.use <= KeystreamUse::hidden_data, "there is no such use of a keystream",
          "use one of KeystreamUse");
  require(range.macroblocks >= 1 && range.macroblocks <= 1u << 24 && range.pictures >= 1,
          "the keystream's range has no such macroblocks",
          "use one picture or more of 1 to 16777216 macroblocks");
  require(range.blocks >= 1 && range.blocks <= 32, "a macroblock has 1 to 32 blocks of keystream",
          "set KeystreamRange::blocks to that");
  require(std::uint64_t{range.first_picture} + range.pictures <= std::uint64_t{1} << 32,
          "pictures are numbered with 32 bits", "take pictures below 4294967296");
  require(range.bytes() != ~std::uint64_t{0}, "the keystream's range is larger than any memory",
          "take fewer pictures at once");
}

}  // namespace

void make_keystream(const ProtectionKey& key, const KeystreamRange& range, std::span<std::uint8_t> out) {
  check(range);
  require(out.size() == range.bytes(), "the keystream's memory is not as large as its range",
          "give it KeystreamRange::bytes()");
  const protect::StreamKeys keys(key, range.nonce);
  constexpr std::size_t kAtOnce = 1024;
  std::vector<AesBlock> blocks(std::min<std::size_t>(kAtOnce, out.size() / sizeof(AesBlock)));
  for (std::uint64_t first = 0, all = out.size() / sizeof(AesBlock); first < all; first += blocks.size()) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(blocks.size(), all - first));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t at = first + i, mb = at / range.blocks;
      blocks[i] = protect::keystream_counter(
          range.nonce, range.first_picture + static_cast<std::uint32_t>(mb / range.macroblocks),
          static_cast<std::uint32_t>(mb % range.macroblocks), range.use,
          static_cast<std::uint32_t>(at % range.blocks));
    }
    keys.keystream({blocks.data(), count});
    std::uint8_t* to = out.data() + first * sizeof(AesBlock);
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::uint32_t word : blocks[i].words) {
        for (int shift = 24; shift >= 0; shift -= 8) *to++ = static_cast<std::uint8_t>(word >> shift);
      }
    }
  }
}

void make_keystream_on_device([[maybe_unused]] const ProtectionKey& key,
                              [[maybe_unused]] const KeystreamRange& range, [[maybe_unused]] void* d_out,
                              [[maybe_unused]] void* stream) {
#if defined(CU264_WITH_CUDA)
  check(range);
  require(d_out != nullptr && reinterpret_cast<std::uintptr_t>(d_out) % 16 == 0,
          "the keystream's memory is not aligned to 16 bytes", "take it from cudaMalloc");
  const protect::StreamKeys keys(key, range.nonce);
  protect::AesKey expanded = protect::aes_expand_key(keys.keystream_key().data());
  protect::cuda::launch_keystream(expanded, range, d_out, stream);
  protect::wipe(&expanded, sizeof expanded);
#else
  throw Error(ErrorCode::device_unavailable, "this build has no CUDA backend",
              "use make_keystream(), or build with CUDA");
#endif
}

}  // namespace cu264
