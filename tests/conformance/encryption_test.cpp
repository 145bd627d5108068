// Encryption inside the encoder gives the bytes of the plain stream after encryption.
#include <gtest/gtest.h>

#include "cu264/protect.h"
#include "protect/encode_cipher.h"
#include "protect/fixed_nonce.h"
#include "support/decode.h"
#include "tests/conformance/stream_check.h"
#include "tests/support/quick.h"

namespace cu264::test {
namespace {

ProtectionKey key() {
  return ProtectionKey(std::array<std::uint8_t, 32>{3, 1, 4, 1, 5});
}

constexpr std::uint64_t kNonce = 0x51ec7;

class EncoderEncryptions : public testing::TestWithParam<Preset> {};

TEST_P(EncoderEncryptions, AreThoseOfTheStreamTool) {
  const std::vector<Picture> pictures = make_all_contents(80, 64);
  for (int qp = 0; qp < 52; qp += quick() ? 17 : 5) {
    const Config plain = make_config(qp, GetParam(), qp % 2 == 0 ? 1 : 3);
    const std::vector<std::uint8_t> stream = encode(plain, pictures).bytes();
    for (int parts = 1; parts < 8; ++parts) {
      SCOPED_TRACE(testing::Message() << "qp " << qp << ", parts " << parts);
      const EncoderEncryption encryption{key(), {(parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0}};
      Config config = plain;
      config.encryption = encryption;
      const protect::FixedNonce fixed(kNonce);
      const std::vector<std::uint8_t> sealed = encode(config, pictures).bytes();
      ASSERT_EQ(sealed, run_tool(*protect::make_encryptor(encryption, kNonce), stream).stream);
      ASSERT_EQ(run_tool(*make_decryptor(key()), sealed).stream, stream);
    }
  }
}

// With mb_qp_delta in every macroblock that may have it, the encoder and the tool still agree, and decoders
// report no error.
TEST_P(EncoderEncryptions, PicturesWithManyQps) {
  const std::vector<Picture> pictures = make_all_contents(80, 66);
  constexpr const char* kAdaptive[][2] = {{"edge-guided", "1"}, {"edge-guided", "3"}, {"aq", "variance"}};
  for (const auto& [name, value] : kAdaptive) {
    for (const int qp : {2, 24, 45}) {
      SCOPED_TRACE(testing::Message() << name << ' ' << value << ", qp " << qp);
      Config config = make_config(qp, GetParam(), qp == 24 ? 3 : 1);
      config.set(name, value);
      const std::vector<std::uint8_t> stream = encode(config, pictures).bytes();
      const EncoderEncryption encryption{key(), encryption_strength(3)};
      config.encryption = encryption;
      const protect::FixedNonce fixed(kNonce);
      const std::vector<std::uint8_t> sealed = encode(config, pictures).bytes();
      ASSERT_EQ(sealed, run_tool(*protect::make_encryptor(encryption, kNonce), stream).stream);
      ASSERT_EQ(run_tool(*make_decryptor(key()), sealed).stream, stream);
      const DecodedStream decoded = decode_annexb(sealed);
      EXPECT_EQ(decoded.pictures.size(), pictures.size());
      for (const std::string& complaint : decoded.complaints) ADD_FAILURE() << complaint;
    }
  }
}

// An 8x8 block has one mode, and its levels are encrypted in four blocks.
TEST_P(EncoderEncryptions, MacroblocksOfTheLargeTransform) {
  const std::vector<Picture> pictures = make_all_contents(80, 64);
  for (const int qp : {0, 13, 26, 39, 51}) {
    for (const int parts : {1, 2, 4, 7}) {
      SCOPED_TRACE(testing::Message() << "qp " << qp << ", parts " << parts);
      Config config = make_config(qp, GetParam(), qp % 2 == 0 ? 1 : 3);
      config.profile = Profile::high;
      config.cavlc = true;
      const std::vector<std::uint8_t> stream = encode(config, pictures).bytes();
      const EncoderEncryption encryption{key(), {(parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0}};
      config.encryption = encryption;
      const protect::FixedNonce fixed(kNonce);
      const std::vector<std::uint8_t> sealed = encode(config, pictures).bytes();
      ASSERT_EQ(sealed, run_tool(*protect::make_encryptor(encryption, kNonce), stream).stream);
      ASSERT_EQ(run_tool(*make_decryptor(key()), sealed).stream, stream);
      for (const std::string& complaint : decode_annexb(sealed).complaints) ADD_FAILURE() << complaint;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, EncoderEncryptions, testing::ValuesIn(kPresets),
                         [](const testing::TestParamInfo<Preset>& preset) { return name_of(preset.param); });

}  // namespace
}  // namespace cu264::test
