// AES-256 of kernels against FIPS 197's example and against libcrypto; keys and their files.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <vector>

#include "cu264/protect.h"
#include "protect/aes.h"
#include "protect/keys.h"

namespace cu264::protect {
namespace {

ProtectionKey key_of(std::uint32_t seed) {
  std::mt19937 random(seed);
  std::array<std::uint8_t, 32> bytes;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return ProtectionKey(bytes);
}

TEST(ProtectAes, ExampleOfFips197) {  // C.3
  std::uint8_t key[32];
  for (int i = 0; i < 32; ++i) key[i] = static_cast<std::uint8_t>(i);
  const AesBlock block = aes_encrypt(aes_expand_key(key), {{0x00112233, 0x44556677, 0x8899aabb, 0xccddeeff}});
  EXPECT_EQ(block.words[0], 0x8ea2b7cau);
  EXPECT_EQ(block.words[1], 0x516745bfu);
  EXPECT_EQ(block.words[2], 0xeafc4990u);
  EXPECT_EQ(block.words[3], 0x4b496089u);
}

TEST(ProtectAes, EqualToLibcrypto) {
  std::mt19937 random(7);
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const StreamKeys keys(key_of(seed), std::uint64_t{random()} << 32 | random());
    const AesKey expanded = aes_expand_key(keys.keystream_key().data());
    AesBlock blocks[29];
    std::uint32_t places[29][3];
    for (int i = 0; i < 29; ++i) {
      std::uint32_t* const place = places[i];
      place[0] = random(), place[1] = random() % 139264, place[2] = random() % 32;
      blocks[i] = keystream_counter(keys.nonce(), place[0], place[1], kKeystreamWatermark, place[2]);
    }
    keys.keystream(blocks);
    for (int i = 0; i < 29; ++i) {
      const AesBlock expected = keystream_block(expanded, keys.nonce(), places[i][0], places[i][1],
                                                kKeystreamWatermark, places[i][2]);
      for (int w = 0; w < 4; ++w)
        EXPECT_EQ(blocks[i].words[w], expected.words[w]) << "block " << i << " word " << w;
    }
  }
}

TEST(ProtectAes, NoTwoPlacesShareACounter) {
  std::set<std::array<std::uint32_t, 4>> seen;
  int count = 0;
  for (const std::uint32_t picture : {0u, 1u, ~0u}) {
    for (const std::uint32_t macroblock : {0u, 1u, 255u, 256u, 139263u}) {
      for (std::uint32_t purpose = 0; purpose < 3; ++purpose) {
        for (std::uint32_t block = 0; block < 32; ++block, ++count) {
          const AesBlock counter = keystream_counter(5, picture, macroblock, purpose, block);
          seen.insert({counter.words[0], counter.words[1], counter.words[2], counter.words[3]});
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(count));
}

// Every byte of a range, from the place that docs/protection.md gives it.
TEST(ProtectAes, KeystreamOfARange) {
  const ProtectionKey key = key_of(3);
  const KeystreamRange range{0xfedcba9876543210, KeystreamUse::hidden_data, 9, 2, 50, 27};
  std::vector<std::uint8_t> bytes(range.bytes());
  make_keystream(key, range, bytes);
  const AesKey expanded = aes_expand_key(StreamKeys(key, range.nonce).keystream_key().data());
  std::size_t at = 0;
  for (std::uint32_t picture = 9; picture < 11; ++picture) {
    for (std::uint32_t mb = 0; mb < 50; ++mb) {
      for (std::uint32_t block = 0; block < 27; ++block) {
        const AesBlock expected =
            keystream_block(expanded, range.nonce, picture, mb, kKeystreamHiding, block);
        for (int i = 0; i < 16; ++i, ++at)
          ASSERT_EQ(bytes[at], expected.words[i / 4] >> (24 - 8 * (i % 4)) & 255) << at;
      }
    }
  }
  EXPECT_EQ(at, bytes.size());
  EXPECT_THROW(make_keystream(key, range, {bytes.data(), 16}), Error);
  for (const KeystreamRange& none : {KeystreamRange{0, KeystreamUse::encryption, 0, 1, 1, 0},
                                     KeystreamRange{0, KeystreamUse::encryption, 0, 1, 1, 33},
                                     KeystreamRange{0, KeystreamUse::encryption, 0, 0, 1, 1},
                                     KeystreamRange{0, KeystreamUse::encryption, ~0u, 2, 1, 1},
                                     KeystreamRange{0, KeystreamUse::encryption, 0, 1, (1u << 24) + 1, 1},
                                     KeystreamRange{0, static_cast<KeystreamUse>(3), 0, 1, 1, 1}}) {
    std::vector<std::uint8_t> out(std::min<std::uint64_t>(none.bytes(), 1 << 20));
    EXPECT_THROW(make_keystream(key, none, out), Error);
  }
}

TEST(ProtectKeys, CheckTellsKeysAndNoncesApart) {
  EXPECT_EQ(StreamKeys(key_of(1), 5).check(), StreamKeys(key_of(1), 5).check());
  EXPECT_NE(StreamKeys(key_of(1), 5).check(), StreamKeys(key_of(2), 5).check());
  EXPECT_NE(StreamKeys(key_of(1), 5).check(), StreamKeys(key_of(1), 6).check());
  EXPECT_NE(random_nonce(), random_nonce());
}

TEST(ProtectKeys, HmacOfRfc4231) {  // test case 2
  const auto bytes = [](std::string_view text) {
    return ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  };
  const Digest digest = hmac_sha256(bytes("Jefe"), {bytes("what do ya want "), bytes("for nothing?")});
  EXPECT_EQ(digest[0], 0x5b);
  EXPECT_EQ(digest[1], 0xdc);
  EXPECT_EQ(digest[31], 0x43);
}

class KeyFile : public testing::Test {
 protected:
  ~KeyFile() override { std::filesystem::remove(path_); }
  ProtectionKey load(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;
    return ProtectionKey::from_file(path_);
  }
  std::string path_ = testing::TempDir() + "cu264-key-" + std::to_string(::getpid());
};

TEST_F(KeyFile, BytesAndDigits) {
  const std::string digits = "00ff102030405060708090a0b0c0d0e0f0112233445566778899AABBCCDDeeFF";
  const ProtectionKey key = ProtectionKey::from_hex(digits);
  EXPECT_EQ(key.bytes()[1], 0xff);
  for (const char* end : {"", "\n", "\r\n"}) {
    EXPECT_TRUE(std::ranges::equal(load(digits + end).bytes(), key.bytes()));
  }
  const std::string raw(reinterpret_cast<const char*>(key.bytes().data()), 32);
  EXPECT_TRUE(std::ranges::equal(load(raw).bytes(), key.bytes()));
}

TEST_F(KeyFile, RefusesOtherSizesAndNeverTellsTheContent) {
  for (const std::size_t size : {0, 1, 16, 31, 33, 63, 65, 67, 1000}) {
    try {
      load(std::string(size, 'a'));
      ADD_FAILURE() << size;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("aaa"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("32 bytes"), std::string::npos);
    }
  }
  EXPECT_THROW(load(std::string(64, 'g')), Error);
  EXPECT_THROW(ProtectionKey::from_file(path_ + ".none"), Error);
}

TEST(ProtectKeys, Environment) {
  ::unsetenv("CU264_KEY");
  EXPECT_THROW(ProtectionKey::from_environment(), Error);
  ::setenv("CU264_KEY", "12", 1);
  EXPECT_THROW(ProtectionKey::from_environment(), Error);
  ::setenv("CU264_KEY", std::string(64, '7').c_str(), 1);
  EXPECT_EQ(ProtectionKey::from_environment().bytes()[31], 0x77);
  ::unsetenv("CU264_KEY");
}

}  // namespace
}  // namespace cu264::protect
