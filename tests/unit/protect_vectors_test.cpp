// The ciphers and codes against the vectors of their standards, all of them and whole.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "protect/aes.h"
#include "protect/keys.h"

namespace cu264::protect {
namespace {

Bytes bytes_of(std::string_view hex) {
  Bytes bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

Bytes text(std::string_view characters) {
  return {characters.begin(), characters.end()};
}

AesBlock block_of(ByteSpan bytes) {
  AesBlock block{};
  for (std::size_t i = 0; i < 16; ++i) block.words[i / 4] = block.words[i / 4] << 8 | bytes[i];
  return block;
}

Bytes bytes_of(const AesBlock& block) {
  Bytes bytes;
  for (const std::uint32_t word : block.words) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(word >> shift));
  }
  return bytes;
}

// One block by the kernels' function and by libcrypto, which must agree.
Bytes encrypted(const Bytes& key, const Bytes& block) {
  const Bytes own = bytes_of(aes_encrypt(aes_expand_key(key.data()), block_of(block)));
  Digest digest;
  std::copy(key.begin(), key.end(), digest.begin());
  AesBlock theirs = block_of(block);
  KeystreamCipher(digest).keystream({&theirs, 1});
  EXPECT_EQ(own, bytes_of(theirs));
  return own;
}

constexpr std::string_view kKey = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";
constexpr std::string_view kPlain[4] = {
    "6bc1bee22e409f96e93d7e117393172a", "ae2d8a571e03ac9c9eb76fac45af8e51",
    "30c81c46a35ce411e5fbc1191a0a52ef", "f69f2445df4f9b17ad2b417be66c3710"};

TEST(AesVectors, Fips197) {
  // C.3
  EXPECT_EQ(encrypted(bytes_of("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"),
                      bytes_of("00112233445566778899aabbccddeeff")),
            bytes_of("8ea2b7ca516745bfeafc49904b496089"));
  // A.3: the first words of the expanded key that are not the key's own, and the last ones
  const AesKey expanded = aes_expand_key(bytes_of(kKey).data());
  const std::uint32_t first[8] = {0x9ba35411, 0x8e6925af, 0xa51a8b5f, 0x2067fcde,
                                  0xa8b09c1a, 0x93d194cd, 0xbe49846e, 0xb75d5b9a};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(expanded.words[8 + i], first[i]) << i;
  const std::uint32_t last[4] = {0xfe4890d1, 0xe6188d0b, 0x046df344, 0x706c631e};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(expanded.words[56 + i], last[i]) << i;
}

TEST(AesVectors, EcbOfSp80038a) {  // F.1.5
  constexpr std::string_view kCipher[4] = {
      "f3eed1bdb5d2a03c064b5a7e3db181f8", "591ccb10d410ed26dc5ba74a31362870",
      "b6ed21b99ca6f4f9f153e7b1beafed1d", "23304b7a39f9f3ff067d8d8f9e24ecc7"};
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(encrypted(bytes_of(kKey), bytes_of(kPlain[i])), bytes_of(kCipher[i])) << i;
}

TEST(AesVectors, CtrOfSp80038a) {  // F.5.5
  constexpr std::string_view kCipher[4] = {
      "601ec313775789a5b7a7f504bbf3d228", "f443e3ca4d62b59aca84e990cacaf5c5",
      "2b0930daa23de94ce87017ba2d84988d", "dfc9c58db67aada613c2dd08457941a6"};
  constexpr std::string_view kCounter[4] = {
      "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "f0f1f2f3f4f5f6f7f8f9fafbfcfdff00",
      "f0f1f2f3f4f5f6f7f8f9fafbfcfdff01", "f0f1f2f3f4f5f6f7f8f9fafbfcfdff02"};
  for (int i = 0; i < 4; ++i) {
    Bytes keystream = encrypted(bytes_of(kKey), bytes_of(kCounter[i]));
    const Bytes plain = bytes_of(kPlain[i]);
    for (std::size_t k = 0; k < 16; ++k) keystream[k] ^= plain[k];
    EXPECT_EQ(keystream, bytes_of(kCipher[i])) << i;
  }
}

TEST(HmacVectors, Rfc4231) {
  const struct {
    Bytes key, data;
    std::string_view code;
  } cases[7] = {
      {Bytes(20, 0x0b), text("Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {text("Jefe"), text("what do ya want for nothing?"),
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {Bytes(20, 0xaa), Bytes(50, 0xdd), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {bytes_of("0102030405060708090a0b0c0d0e0f10111213141516171819"), Bytes(50, 0xcd),
       "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
      {Bytes(20, 0x0c), text("Test With Truncation"), "a3b6167473100ee06e0c796c2955552b"},
      {Bytes(131, 0xaa), text("Test Using Larger Than Block-Size Key - Hash Key First"),
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {Bytes(131, 0xaa),
       text("This is a test using a larger than block-size key and a larger than block-size data. The key "
            "needs to be hashed before being used by the HMAC algorithm."),
       "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"}};
  for (const auto& [key, data, code] : cases) {
    const Bytes expected = bytes_of(code);
    Hmac hmac(key);
    for (const std::size_t split : {std::size_t{0}, data.size() / 3, data.size()}) {
      hmac.begin();  // the same object again
      hmac.add({data.data(), split});
      hmac.add({data.data() + split, data.size() - split});
      const Digest digest = hmac.take();
      EXPECT_EQ(Bytes(digest.begin(), digest.begin() + static_cast<std::ptrdiff_t>(expected.size())),
                expected);
    }
  }
}

}  // namespace
}  // namespace cu264::protect
