// Sessions with the papers' coder and packer (Config::entropy and packing): the packets of the CUDA backend
// are those of the CPU backend, which are those without them.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "cu264/protect.h"
#include "cu264/stream_group.h"
#include "protect/fixed_nonce.h"
#include "support/encode.h"
#include "tests/parity/session_checks.h"

namespace cu264::parity {
namespace {

using test::Content;

constexpr std::pair<EntropyCoder, Packing> kChoices[] = {{EntropyCoder::production, Packing::production},
                                                         {EntropyCoder::cavlcu, Packing::production},
                                                         {EntropyCoder::production, Packing::gvle},
                                                         {EntropyCoder::cavlcu, Packing::gvle}};

class PipelineParity : public SessionParity {
 protected:
  static void expect_parity_of_all(Config config, const std::vector<test::Picture>& pictures,
                                   const std::vector<int>& batches) {
    for (const auto& [entropy, packing] : kChoices) {
      config.entropy = entropy, config.packing = packing;
      SCOPED_TRACE("entropy " + std::to_string(static_cast<int>(entropy)) + ", packing " +
                   std::to_string(static_cast<int>(packing)));
      expect_parity(config, pictures, batches);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_F(PipelineParity, SmallCase) {
  const std::vector<test::Picture> pictures = {test::make_picture(Content::natural, 50, 35),
                                               test::make_picture(Content::noise, 50, 35),
                                               test::make_picture(Content::text, 50, 35)};
  for (const Profile profile : {Profile::baseline, Profile::automatic}) {
    for (const int qp : {0, 24}) {
      Config config = test::baseline_config();
      config.profile = profile, config.qp = qp, config.slices = 2, config.preset = Preset::fast;
      expect_parity_of_all(config, pictures, {2});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(PipelineParity, ThePublishedPipeline) {
  for (const Preset preset : {Preset::fast, Preset::balanced}) {
    Config config = test::baseline_config();
    config.preset = preset, config.qp = 22;
    config.set("pipeline", "published");
    expect_parity(config, clip(4, 66, 50), {3});
    if (HasFatalFailure()) return;
  }
}

TEST_F(PipelineParity, PresetsAndSizes) {
  for (const Preset preset : {Preset::fast, Preset::balanced, Preset::best}) {
    for (const auto& [width, height] : {std::pair{16, 16}, {333, 205}, {640, 48}}) {
      for (const int qp : {0, 16, 40}) {
        Config config = test::baseline_config();
        config.profile = Profile::automatic, config.preset = preset, config.qp = qp,
        config.slices = 1 + height / 100;
        expect_parity_of_all(config, clip(4, width, height), {1, 4});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Modes, signs and codewords may be encrypted, and levels marked.
TEST_F(PipelineParity, Protection) {
  const ProtectionKey key = ProtectionKey::from_hex(std::string(2 * ProtectionKey::kBytes, '7'));
  const protect::FixedNonce fixed(5);  // the same for both backends
  for (const int strength : {1, 2, 3}) {
    Config config = test::baseline_config();
    config.profile = strength == 3 ? Profile::automatic : Profile::baseline;
    config.preset = Preset::fast, config.qp = 12, config.slices = strength;
    config.encryption = EncoderEncryption{key, encryption_strength(strength)};
    expect_parity_of_all(config, clip(3, 82, 50), {2});
    if (HasFatalFailure()) return;
  }
  Config config = test::baseline_config();
  config.preset = Preset::fast, config.qp = 18;
  config.watermark = EncoderWatermark{key, {0x5c}, WatermarkScheme::t1_sign, 65536};
  std::vector<test::Picture> pictures;
  for (std::uint32_t i = 0; i < 6; ++i)
    pictures.push_back(test::make_picture(Content::graded_noise, 80, 64, i));
  expect_parity_of_all(config, pictures, {4});
}

// What is told beforehand of memory is what the encoder takes, with the memory of the kernels.
TEST_F(PipelineParity, MemoryGrowsByThatOfTheKernels) {
  Config config = test::baseline_config();
  config.width = 1920, config.height = 1080, config.batch = 32;
  const std::size_t plain = memory_required(config).device;
  config.entropy = EntropyCoder::cavlcu;
  const std::size_t coder = memory_required(config).device;
  config.packing = Packing::gvle;
  const std::size_t both = memory_required(config).device;
  EXPECT_GT(coder, plain);
  EXPECT_GT(both, coder);
}

// Streams of a group that differ in these choices do not share batches, and all have their own bytes.
TEST_F(PipelineParity, StreamsOfAGroup) {
  const std::vector<test::Picture> pictures = clip(3, 50, 40);
  Config config = test::baseline_config();
  config.width = 50, config.height = 40, config.preset = Preset::fast;
  config.backend = BackendChoice::cpu;
  const test::EncodedStream wanted = test::encode(config, pictures);
  config.backend = BackendChoice::automatic;
  StreamGroupConfig group_config;
  group_config.backend = BackendChoice::cuda;
  StreamGroup group(group_config);
  std::vector<StreamGroup::Stream> streams;
  for (const auto& [entropy, packing] : kChoices) {
    config.entropy = entropy, config.packing = packing;
    streams.push_back(group.open(config));
  }
  for (const test::Picture& picture : pictures) {
    const test::FrameBuffer frame(picture, PixelFormat::i420);
    for (const StreamGroup::Stream stream : streams)
      ASSERT_TRUE(group.submit(stream, frame.view(), std::chrono::seconds(60)));
  }
  for (const StreamGroup::Stream stream : streams) group.flush(stream);
  for (const Packet& packet : wanted.packets) {
    for (const StreamGroup::Stream stream : streams) {
      const auto received = group.receive(stream, std::chrono::seconds(60));
      ASSERT_TRUE(received.has_value());
      EXPECT_EQ(received->data, packet.data);
    }
  }
}

}  // namespace
}  // namespace cu264::parity
