// Watermarks from the encoder: the streams decode to the reconstruction, and the payloads can be read back.
#include <gtest/gtest.h>

#include <algorithm>

#include "cu264/protect.h"
#include "protect/fixed_nonce.h"
#include "tests/conformance/stream_check.h"
#include "tests/support/quick.h"

namespace cu264::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

const Bytes kPayload{'a'};

ProtectionKey key() {
  std::array<std::uint8_t, 32> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(11 * i + 5);
  return ProtectionKey(bytes);
}

constexpr WatermarkScheme kSchemes[] = {WatermarkScheme::t1_sign, WatermarkScheme::t1_parity};

Config marked_config(Config config, WatermarkScheme scheme, std::uint32_t density, const Bytes& payload,
                     WatermarkSpread spread = WatermarkSpread::coded) {
  config.watermark = EncoderWatermark{key(), payload, scheme, density, spread};
  return config;
}

Bytes extracted(const Bytes& stream) {
  return run_tool(*make_watermark_extractor(key()), stream).payload;
}

// Encodes, checks that decoding gives the reconstruction, reads the payload back, and checks that there are
// marks.
void expect_marked(const Config& plain, WatermarkScheme scheme, std::uint32_t density,
                   const std::vector<Picture>& pictures) {
  const Config config = marked_config(plain, scheme, density, kPayload);
  const EncodedStream stream = encode(config, pictures);
  check_stream(config, stream, pictures);
  EXPECT_EQ(extracted(stream.bytes()), kPayload);
  EXPECT_NE(stream.packets.back().data, encode(plain, pictures).packets.back().data);
}

class EncoderWatermarks : public testing::TestWithParam<Preset> {
  const protect::FixedNonce nonce_{0x264};
};

class OneEncoderWatermark : public testing::Test {
  const protect::FixedNonce nonce_{0x264};
};

TEST_P(EncoderWatermarks, EveryQp) {
  const std::vector<Picture> pictures = {make_picture(Content::natural, 176, 144, 1),
                                         make_picture(Content::graded_noise, 176, 144, 2)};
  for (const WatermarkScheme scheme : kSchemes) {
    for (int qp = 0; qp < 52; qp += quick() ? 17 : 3) {
      SCOPED_TRACE("QP " + std::to_string(qp) + ", scheme " + std::to_string(static_cast<int>(scheme)));
      try {
        expect_marked(make_config(qp, GetParam()), scheme, 65536, pictures);
      } catch (const Error& error) {  // coarse quantisation leaves few levels
        EXPECT_NE(std::string(error.what()).find("can hold"), std::string::npos) << error.what();
        EXPECT_GE(qp, 44);
      }
    }
  }
}

TEST_P(EncoderWatermarks, SlicesAndTheLoopFilter) {
  const std::vector<Picture> pictures = {make_picture(Content::natural, 160, 128, 1),
                                         make_picture(Content::text, 160, 128, 2)};
  for (const WatermarkScheme scheme : kSchemes) {
    for (const int slices : {1, 3, 8}) {
      for (const bool deblock : {false, true}) {
        SCOPED_TRACE("slices " + std::to_string(slices) + ", deblock " + std::to_string(deblock));
        expect_marked(make_config(18, GetParam(), slices, deblock), scheme, 40000, pictures);
      }
    }
  }
}

// The interleaved blocks of an 8x8 block carry marks as 4x4 blocks do.
TEST_P(EncoderWatermarks, TheLargeTransform) {
  const std::vector<Picture> pictures = {make_picture(Content::natural, 160, 128, 1),
                                         make_picture(Content::natural, 160, 128, 2)};
  for (const WatermarkScheme scheme : kSchemes) {
    for (const int qp : {0, 18, 33}) {
      SCOPED_TRACE("QP " + std::to_string(qp));
      Config config = make_config(qp, GetParam());
      config.profile = Profile::high;
      config.cavlc = true;
      expect_marked(config, scheme, 65536, pictures);
    }
  }
}

// I_PCM beside marked macroblocks: the bits of a macroblock must be counted with its marks.
TEST_P(EncoderWatermarks, Pcm) {
  std::vector<Picture> pictures = {make_picture(Content::graded_noise, 80, 80, 3)};
  // At the lowest QPs few blocks can carry a mark, so that a byte needs several pictures.
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    pictures.push_back(make_picture(Content::natural, 80, 80, seed));
    pictures.push_back(make_picture(Content::text, 80, 80, seed));
  }
  bool mixed = false;
  for (const WatermarkScheme scheme : kSchemes) {
    for (int qp = 0; qp <= 16; qp += quick() ? 8 : 1) {
      SCOPED_TRACE("qp " + std::to_string(qp));
      const Config config = marked_config(make_config(qp, GetParam()), scheme, 65536, kPayload);
      const EncodedStream stream = encode(config, pictures);
      const WalkedStream walked = check_stream(config, stream, pictures);
      mixed = mixed || (walked.pictures[0].pcm_mbs > 0 && walked.pictures[0].pcm_mbs < 25);
      EXPECT_EQ(extracted(stream.bytes()), kPayload);
    }
  }
  EXPECT_TRUE(mixed) << "no picture had both";
}

// Every content that can be marked at all, with gray frames and with headers outside the stream.
TEST_P(EncoderWatermarks, ContentsFormatsHeaders) {
  const std::vector<Picture> pictures = make_all_contents(112, 96);
  for (const WatermarkScheme scheme : kSchemes) {
    expect_marked(make_config(12, GetParam()), scheme, 50000, pictures);
    for (const WatermarkSpread spread : {WatermarkSpread::coded, WatermarkSpread::drawn}) {
      Config config = marked_config(make_config(20, GetParam()), scheme, 65536, kPayload, spread);
      config.headers = HeaderPlacement::separate;
      EncodedStream stream = encode(config, pictures, PixelFormat::gray8);
      EXPECT_EQ(extracted(stream.bytes()), kPayload);
    }
  }
}

TEST_P(EncoderWatermarks, TooLargeAPayloadIsToldWithTheCapacity) {
  for (const auto& [width, height, content] :
       {std::tuple{1, 1, Content::flat0}, {16, 16, Content::noise}, {64, 64, Content::natural}}) {
    const Config config =
        marked_config(make_config(20, GetParam()), WatermarkScheme::t1_sign, 65536, Bytes(3000, 1));
    try {
      encode(config, {make_picture(content, width, height)});
      ADD_FAILURE() << "3000 bytes in " << width << 'x' << height;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      EXPECT_NE(std::string(error.what()).find("can hold"), std::string::npos) << error.what();
    }
  }
}

// Returns how much the encoder says that these pictures hold.
std::size_t told_capacity(WatermarkSpread spread, const std::vector<Picture>& pictures) {
  try {
    encode(marked_config(make_config(20, Preset::fast), WatermarkScheme::t1_parity, 65536, Bytes(9999, 1),
                         spread),
           pictures);
  } catch (const Error& error) {
    const std::string text = error.what();
    const std::size_t at = text.find("can hold ");
    if (at != std::string::npos) return static_cast<std::size_t>(std::stoul(text.substr(at + 9)));
  }
  ADD_FAILURE() << "9999 bytes were not refused";
  return 0;
}

// A payload of the reported capacity fits, and a spread by a code holds several times as much.
TEST_F(OneEncoderWatermark, CapacityHolds) {
  const std::vector<Picture> pictures = {make_picture(Content::graded_noise, 160, 160, 4)};
  const std::size_t drawn = told_capacity(WatermarkSpread::drawn, pictures);
  const std::size_t coded = told_capacity(WatermarkSpread::coded, pictures);
  EXPECT_GT(drawn, 10u);
  EXPECT_GT(coded, 3 * drawn);
  for (const WatermarkSpread spread : {WatermarkSpread::coded, WatermarkSpread::drawn}) {
    const Bytes payload(spread == WatermarkSpread::coded ? coded : drawn, 0x5a);
    const Config config =
        marked_config(make_config(20, Preset::fast), WatermarkScheme::t1_parity, 65536, payload, spread);
    EXPECT_EQ(extracted(encode(config, pictures).bytes()), payload);
  }
}

// The meter tells from an unmarked stream about what the encoder finds while it marks, and exactly what the
// embedder finds.
TEST_F(OneEncoderWatermark, MeterTellsWhatFits) {
  const std::vector<Picture> pictures = {make_picture(Content::natural, 320, 240, 4)};
  const Bytes stream = encode(make_config(20, Preset::fast), pictures).bytes();
  for (const WatermarkScheme scheme : kSchemes) {
    const auto meter = make_watermark_meter(scheme);
    run_tool(*meter, stream);
    const auto told =
        static_cast<std::size_t>(encoder_watermark_room(meter->counts(), 65536, WatermarkSpread::coded));
    ASSERT_GT(told, 20u);
    const Config config =
        marked_config(make_config(20, Preset::fast), scheme, 65536, Bytes(told * 9 / 10, 0x33));
    EXPECT_EQ(extracted(encode(config, pictures).bytes()), config.watermark->payload);

    const auto room = static_cast<std::size_t>(watermark_room(meter->counts(), 65536));
    ASSERT_GT(room, 0u);
    EXPECT_EQ(
        extracted(run_tool(*make_watermark_embedder(key(), {scheme, 65536}, Bytes(room, 7)), stream).stream),
        Bytes(room, 7));
    EXPECT_THROW(run_tool(*make_watermark_embedder(key(), {scheme, 65536}, Bytes(room + 1, 7)), stream),
                 Error);
  }
}

// The error comes from the same call, whether or not the last packet was taken before flush().
TEST_F(OneEncoderWatermark, TooLargeAPayloadIsAlwaysToldAtTheEnd) {
  for (const bool before_flush : {false, true}) {
    Config config =
        marked_config(make_config(20, Preset::fast), WatermarkScheme::t1_sign, 65536, Bytes(3000, 1));
    config.width = config.height = 64;
    const FrameBuffer frame(make_picture(Content::natural, 64, 64), PixelFormat::i420);
    Encoder encoder(config);
    ASSERT_TRUE(encoder.send(frame.view()));
    int packets = 0;
    while (before_flush && packets == 0) packets += encoder.receive().has_value();
    encoder.flush();
    if (!before_flush) packets += encoder.receive().has_value();
    EXPECT_EQ(packets, 1);
    EXPECT_THROW(encoder.receive(), Error);
    EXPECT_THROW(encoder.receive(), Error);
  }
}

TEST_F(OneEncoderWatermark, ThreadsChangeNothing) {
  std::vector<Picture> pictures;
  for (std::uint32_t seed = 1; seed < 9; ++seed)
    pictures.push_back(make_picture(Content::natural, 96, 96, seed));
  Config config =
      marked_config(make_config(22, Preset::balanced, 3), WatermarkScheme::t1_sign, 9000, kPayload);
  config.threads = 1;
  const Bytes one = encode(config, pictures).bytes();
  config.threads = 0;
  EXPECT_EQ(encode(config, pictures).bytes(), one);
}

TEST_F(OneEncoderWatermark, EncryptedAfterMarkingItComesBack) {
  const std::vector<Picture> pictures = {make_picture(Content::natural, 160, 128)};
  const Bytes stream =
      encode(marked_config(make_config(20, Preset::fast), WatermarkScheme::t1_sign, 65536, kPayload),
             pictures)
          .bytes();
  const Bytes sealed = run_tool(*make_encryptor(key(), {encryption_strength(3), false}), stream).stream;
  const Bytes opened = run_tool(*make_decryptor(key()), sealed).stream;
  EXPECT_EQ(opened, stream);
  EXPECT_EQ(extracted(opened), kPayload);
  EXPECT_THROW(extracted(sealed), Error);
}

TEST_F(OneEncoderWatermark, ImpossibleOnesAreRefused) {
  const auto expect_refused = [](const EncoderWatermark& watermark, bool device_output = false) {
    Config config = make_config(20, Preset::fast);
    config.width = config.height = 16;
    config.watermark = watermark;
    config.device_output = device_output;
    EXPECT_THROW(Encoder{config}, Error);
  };
  expect_refused({key(), {}, WatermarkScheme::t1_sign, 100});
  expect_refused({key(), {1}, WatermarkScheme::t1_sign, 0});
  expect_refused({key(), {1}, WatermarkScheme::t1_sign, 65537});
  expect_refused({key(), {1}, WatermarkScheme::t1_sign, 100}, true);
}

INSTANTIATE_TEST_SUITE_P(Presets, EncoderWatermarks, testing::ValuesIn(kPresets),
                         [](const testing::TestParamInfo<Preset>& preset) { return name_of(preset.param); });

}  // namespace
}  // namespace cu264::test
