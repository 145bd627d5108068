// Encryption: the streams of the CUDA backend are those of the CPU backend, byte for byte, and decryption
// restores the plain streams.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "cu264/protect.h"
#include "encoder/config.h"
#include "encoder/published/open_encoder.h"
#include "protect/fixed_nonce.h"
#include "support/encode.h"
#include "tests/parity/device_test.h"

namespace cu264::parity {
namespace {

using test::Content;

constexpr Preset kPresets[] = {Preset::fast, Preset::balanced, Preset::best};

ProtectionKey key() {
  return ProtectionKey(std::array<std::uint8_t, 32>{2, 7, 1, 8, 2, 8});
}

std::string text(const Config& c) {
  std::ostringstream out;
  const EncryptionParts& parts = c.encryption->parts;
  out << c.width << 'x' << c.height << " qp " << c.qp << ' ' << encoder::name_of(c.preset) << " slices "
      << c.slices << " batch " << c.batch << (parts.signs ? " signs" : "") << (parts.modes ? " modes" : "")
      << (parts.codewords ? " codewords" : "");
  return out.str();
}

class EncryptionParity : public DeviceTest {
 protected:
  // `parts` has one bit each for signs, modes and codewords.
  static void expect_parity(Config config, const std::vector<test::Picture>& pictures, int batch, int parts,
                            PixelFormat format = PixelFormat::i420) {
    config.width = pictures[0].width, config.height = pictures[0].height;
    config.batch = batch;
    config.backend = BackendChoice::cpu;
    const protect::FixedNonce fixed(0x0123456789abcdef);
    const std::vector<std::uint8_t> plain = test::encode(config, pictures, format).bytes();
    config.encryption = EncoderEncryption{key(), {(parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0}};
    SCOPED_TRACE(text(config));
    const test::EncodedStream host = test::encode(config, pictures, format);
    config.backend = BackendChoice::cuda;
    const test::EncodedStream device = test::encode(config, pictures, format);
    ASSERT_EQ(host.packets.size(), device.packets.size());
    for (std::size_t i = 0; i < host.packets.size(); ++i) {
      ASSERT_EQ(host.packets[i].data, device.packets[i].data) << "packet " << i;
      ASSERT_EQ(host.packets[i].reconstruction, device.packets[i].reconstruction) << "packet " << i;
    }
    ASSERT_NE(device.bytes(), plain);
    ASSERT_EQ(run_tool(*make_decryptor(key()), device.bytes()).stream, plain);
  }
};

std::vector<test::Picture> clip(int pictures, int width, int height) {
  constexpr Content kContents[] = {Content::natural, Content::graded_noise, Content::text, Content::natural};
  std::vector<test::Picture> clip;
  for (int i = 0; i < pictures; ++i)
    clip.push_back(test::make_picture(kContents[i % 4], width, height, static_cast<std::uint32_t>(i)));
  return clip;
}

// Every combination of parts, with sizes that are not whole macroblocks and with slices of unequal height.
TEST_F(EncryptionParity, SmallCase) {
  for (int parts = 1; parts < 8; ++parts) {
    Config config = test::baseline_config();
    config.preset = kPresets[parts % 3], config.qp = 6 + 5 * parts, config.slices = parts % 4 == 3 ? 3 : 1;
    expect_parity(config, clip(3, 82, 70), 2, parts);
    if (HasFatalFailure()) return;
  }
}

TEST_F(EncryptionParity, LargeTransform) {
  for (int parts = 1; parts < 8; ++parts) {
    Config config = test::baseline_config();
    config.profile = Profile::high, config.cavlc = true;
    config.preset = kPresets[parts % 3], config.qp = 6 + 5 * parts, config.slices = parts % 4 == 3 ? 3 : 1;
    expect_parity(config, clip(3, 82, 70), 2, parts);
    if (HasFatalFailure()) return;
  }
}

// More keystream than a warp has room for at once, I_PCM between other macroblocks, and pictures without
// levels.
TEST_F(EncryptionParity, ManyLevelsAndNone) {
  for (const int qp : {0, 8, 51}) {
    Config config = test::baseline_config();
    config.preset = Preset::fast, config.qp = qp;
    expect_parity(
        config,
        {test::make_picture(Content::graded_noise, 720, 34, 5),
         test::make_picture(Content::noise, 720, 34, 6), test::make_picture(Content::natural, 720, 34, 7)},
        3, 7);
    if (HasFatalFailure()) return;
  }
}

TEST_F(EncryptionParity, EveryPresetAndQuantiser) {
  const std::vector<test::Picture> pictures = clip(7, 176, 144);
  for (const Preset preset : kPresets) {
    for (int qp = 0; qp < 52; qp += 3) {
      Config config = test::baseline_config();
      config.preset = preset, config.qp = qp, config.slices = 1 + qp % 5;
      expect_parity(config, pictures, qp % 2 == 0 ? 7 : 3, qp % 7 + 1);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(EncryptionParity, Sizes) {
  for (const int width : {1, 16, 33, 514}) {
    for (const int height : {1, 17, 48}) {
      Config config = test::baseline_config();
      config.qp = 22, config.preset = Preset::fast;
      config.slices = height == 48 ? 3 : 1;
      expect_parity(config, clip(2, width, height), 2, 7);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(EncryptionParity, LargeBatches) {
  std::vector<test::Picture> pictures = clip(40, 352, 288);
  Config config = test::baseline_config();
  config.preset = Preset::fast;
  for (const int qp : {12, 27}) {
    config.qp = qp;
    expect_parity(config, pictures, 26, 7);
    if (HasFatalFailure()) return;
  }
}

TEST_F(EncryptionParity, FormatsFormsAndAdaptiveQuantisation) {
  const std::vector<test::Picture> pictures = clip(4, 98, 64);
  Config config = test::baseline_config();
  config.qp = 24;
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::nv12}) {
    expect_parity(config, pictures, 3, 7, format);
    if (HasFatalFailure()) return;
  }
  config.edge_guided = 2;
  expect_parity(config, pictures, 3, 7);
  config.edge_guided = 0, config.aq = AdaptiveQuantisation::variance;
  expect_parity(config, pictures, 3, 7);
}

// The published coders can code encrypted batches too.
TEST_F(EncryptionParity, EntropyKernels) {
  const std::vector<test::Picture> pictures = clip(3, 98, 64);
  Config config = test::baseline_config();
  config.width = 98, config.height = 64, config.qp = 20, config.batch = 2;
  config.encryption = EncoderEncryption{key(), encryption_strength(3)};
  const protect::FixedNonce fixed(5);
  for (const Profile profile : {Profile::baseline, Profile::high}) {
    config.profile = profile, config.cavlc = profile == Profile::high;
    config.backend = BackendChoice::cpu;
    const std::vector<std::uint8_t> host = test::encode(config, pictures).bytes();
    config.backend = BackendChoice::cuda;
    for (const published::Coder coder :
         {published::Coder::cavlcu, published::Coder::cavlcu_tuned, published::Coder::cavlc_su}) {
      Encoder encoder = published::open_encoder(config, coder);
      EXPECT_EQ(test::encode(encoder, config, pictures).bytes(), host);
    }
  }
}

// Watermarks are put in before the reconstruction, encryption is applied after it.
TEST_F(EncryptionParity, WithWatermark) {
  std::vector<test::Picture> pictures;
  for (std::uint32_t i = 0; i < 6; ++i)
    pictures.push_back(test::make_picture(Content::graded_noise, 80, 64, i));
  Config config = test::baseline_config();
  config.qp = 18;
  config.watermark = EncoderWatermark{key(), {0x5c}, WatermarkScheme::t1_sign, 65536};
  expect_parity(config, pictures, 4, 7);
}

TEST_F(EncryptionParity, PacketsThatStayOnTheDevice) {
  const std::vector<test::Picture> pictures = clip(5, 96, 64);
  Config config = test::baseline_config();
  config.width = 96, config.height = 64, config.batch = 2;
  config.encryption = EncoderEncryption{key(), encryption_strength(3)};
  const protect::FixedNonce fixed(6);
  config.backend = BackendChoice::cuda;
  const std::vector<std::uint8_t> expected = test::encode(config, pictures).bytes();
  config.device_output = true;
  Encoder encoder(config);
  std::vector<std::uint8_t> stream;
  const auto take = [&](const Packet& packet) {
    std::vector<std::uint8_t> slices(packet.device_data.size);
    ASSERT_EQ(cudaMemcpy(slices.data(), packet.device_data.data, slices.size(), cudaMemcpyDeviceToHost),
              cudaSuccess);
    stream.insert(stream.end(), packet.data.begin(), packet.data.end());
    stream.insert(stream.end(), slices.begin(), slices.end());
  };
  for (const test::Picture& picture : pictures) {
    const test::FrameBuffer frame(picture, PixelFormat::i420);
    while (!encoder.send(frame.view())) take(encoder.receive().value());
  }
  encoder.flush();
  while (auto packet = encoder.receive()) take(*packet);
  EXPECT_EQ(stream, expected);
}

TEST_F(EncryptionParity, Keystream) {
  const KeystreamRange ranges[] = {{7, KeystreamUse::encryption, 0, 1, 1, 1},
                                   {7, KeystreamUse::watermark, 5, 3, 101, 32},
                                   {~0ull, KeystreamUse::hidden_data, ~0u, 1, 700, 27},
                                   {1ull << 40, KeystreamUse::encryption, 1u << 31, 2, 8160, 3}};
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  for (const KeystreamRange& range : ranges) {
    std::vector<std::uint8_t> host(range.bytes()), device(range.bytes() + 64, 0xa5);
    make_keystream(key(), range, host);
    void* d_out = nullptr;
    ASSERT_EQ(cudaMalloc(&d_out, device.size()), cudaSuccess);
    ASSERT_EQ(cudaMemset(d_out, 0xa5, device.size()), cudaSuccess);
    make_keystream_on_device(key(), range, d_out, stream);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(device.data(), d_out, device.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_TRUE(std::equal(host.begin(), host.end(), device.begin()));
    EXPECT_EQ(std::count(device.end() - 64, device.end(), 0xa5), 64) << "written beyond the end";
    EXPECT_THROW(make_keystream_on_device(key(), range, static_cast<char*>(d_out) + 8, stream), Error);
    EXPECT_EQ(cudaFree(d_out), cudaSuccess);
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}  // namespace
}  // namespace cu264::parity
