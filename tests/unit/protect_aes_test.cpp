// AES-256 as kernels compute it agrees with libcrypto. Also keystreams, keys and key files.
#include <gtest/gtest.h>

#include <sys/stat.h>
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
      blocks[i] = keystream_counter(keys.nonce(), place[0], place[1], KeystreamUse::watermark, place[2]);
    }
    keys.keystream(blocks);
    for (int i = 0; i < 29; ++i) {
      const AesBlock expected = keystream_block(expanded, keys.nonce(), places[i][0], places[i][1],
                                                KeystreamUse::watermark, places[i][2]);
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
      for (const KeystreamUse use :
           {KeystreamUse::encryption, KeystreamUse::watermark, KeystreamUse::hidden_data}) {
        for (std::uint32_t block = 0; block < 32; ++block, ++count) {
          const AesBlock counter = keystream_counter(5, picture, macroblock, use, block);
          seen.insert({counter.words[0], counter.words[1], counter.words[2], counter.words[3]});
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(count));
}

// Checks every byte of a range against its definition in docs/protection.md.
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
            keystream_block(expanded, range.nonce, picture, mb, KeystreamUse::hidden_data, block);
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
                                     KeystreamRange{0, KeystreamUse::encryption, 0, ~0u, 1u << 24, 32},
                                     KeystreamRange{0, static_cast<KeystreamUse>(3), 0, 1, 1, 1}}) {
    std::vector<std::uint8_t> out(std::min<std::uint64_t>(none.bytes(), 1 << 20));
    EXPECT_THROW(make_keystream(key, none, out), Error);
  }
}

// A size of 2^65 bytes does not wrap to zero.
TEST(ProtectAes, RangesLargerThanAnyMemory) {
  const KeystreamRange whole{0, KeystreamUse::encryption, 0, ~0u, 1u << 24, 32};
  EXPECT_EQ(whole.bytes(), ~std::uint64_t{0});
  EXPECT_EQ((KeystreamRange{0, KeystreamUse::encryption, 0, 1u << 31, 1u << 24, 32}).bytes(),
            ~std::uint64_t{0});
  EXPECT_EQ((KeystreamRange{0, KeystreamUse::encryption, 0, 1u << 30, 1u << 24, 32}).bytes(),
            std::uint64_t{1} << 63);
  EXPECT_THROW(make_keystream(key_of(1), whole, {}), Error);
}

TEST(ProtectKeys, CheckTellsKeysAndNoncesApart) {
  EXPECT_EQ(StreamKeys(key_of(1), 5).first_version_check(), StreamKeys(key_of(1), 5).first_version_check());
  EXPECT_NE(StreamKeys(key_of(1), 5).first_version_check(), StreamKeys(key_of(2), 5).first_version_check());
  EXPECT_NE(StreamKeys(key_of(1), 5).first_version_check(), StreamKeys(key_of(1), 6).first_version_check());
  EXPECT_NE(random_nonce(), random_nonce());
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

// Otherwise half a key in text would be taken for a whole key of bytes.
TEST_F(KeyFile, RefusesThirtyTwoDigits) {
  for (const std::string& half : {std::string(32, '7'), std::string("00112233445566778899aabbCCDDEEFF")}) {
    try {
      load(half);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("half a key"), std::string::npos) << error.what();
    }
  }
  EXPECT_NO_THROW(load("0011223344556677 899aabbCCDDEEFF"));  // bytes, though unusual ones
}

TEST_F(KeyFile, NewOnesAreTheOwnersAndNeverOverwrite) {
  const ::mode_t mask = ::umask(0);
  ProtectionKey::random().write_new_file(path_);
  ::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_FALSE(ProtectionKey::file_is_open_to_others(path_));
  const ProtectionKey key = ProtectionKey::from_file(path_);
  try {
    ProtectionKey::random().write_new_file(path_);
    ADD_FAILURE() << "overwritten";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_output);
  }
  EXPECT_TRUE(std::ranges::equal(ProtectionKey::from_file(path_).bytes(), key.bytes()));
  EXPECT_FALSE(std::ranges::equal(ProtectionKey::random().bytes(), key.bytes()));
  EXPECT_THROW(key.write_new_file(path_ + ".none/key"), Error);
  for (const ::mode_t mode : {0640u, 0602u, 0601u}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    EXPECT_TRUE(ProtectionKey::file_is_open_to_others(path_)) << mode;
  }
  EXPECT_FALSE(ProtectionKey::file_is_open_to_others(path_ + ".none"));
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
