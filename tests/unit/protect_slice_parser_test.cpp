// Whole streams through the tools: refusals, damage, threads, and no reads beyond the end.
#include <gtest/gtest.h>

#include <random>

#include "common/bitstream/nal_unit.h"
#include "cu264/protect.h"
#include "tests/unit/small_stream.h"

namespace cu264::test {
namespace {

// A stream that is cut anywhere is refused, unless the cut lies after the last bit that matters.
TEST(ProtectStream, CutOffStreamsAreRefused) {
  const Bytes stream = encoded(48, 32, 2);
  const std::size_t step = 7;
  for (std::size_t size = 0; size + 3 < stream.size(); size += step) {
    const Bytes cut(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size));
    const auto tool = make_encryptor(test_key(), {});
    // A stream cut between pictures is a stream too.
    if (refusal(*tool, cut).empty()) {
      const bitstream::NalUnits whole = bitstream::split_annexb(stream);
      const std::size_t second = static_cast<std::size_t>(whole.units.back().prefix.data() - stream.data());
      EXPECT_GE(size, second);
      EXPECT_LE(size, second + 5);
    }
  }
}

// Any changed byte gives an error or a stream, and nothing worse under the sanitizers.
TEST(ProtectStream, DamagedStreamsDoNoHarm) {
  const Bytes stream = encoded(48, 32, 1);
  std::mt19937 random(9);
  int refused = 0;
  for (int i = 0; i < 1500; ++i) {
    Bytes damaged = stream;
    for (int j = 0; j < 1 + i % 4; ++j)
      damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
    const auto tool =
        i % 2 == 0 ? make_encryptor(test_key(), {encryption_strength(3), false})
                   : make_watermark_embedder(test_key(), {WatermarkScheme::t1_parity, 65536}, Bytes{1});
    refused += !refusal(*tool, damaged).empty();
  }
  EXPECT_GT(refused, 300);
}

// Several slices at a time give the same bytes and errors as one after another.
TEST(ProtectStream, ThreadsChangeNothing) {
  Bytes stream = encoded(48, 32, 11);
  const Bytes encrypted =
      run_tool(*make_encryptor(test_key(), {encryption_strength(3), true}), stream).stream;
  const Bytes hiding = run_tool(*make_hider(test_key(), Bytes{4, 2}), stream).stream;
  const Bytes marked = run_tool(*make_watermark_embedder(test_key(), {}, Bytes{7}), stream).stream;
  for (const int threads : {2, 3, 8}) {
    const auto with_threads = [threads](std::unique_ptr<StreamTool> tool) {
      tool->set_threads(threads);
      return tool;
    };
    EXPECT_EQ(run_tool(*with_threads(make_decryptor(test_key())), encrypted).stream, stream) << threads;
    const Bytes again =
        run_tool(*with_threads(make_encryptor(test_key(), {encryption_strength(3), true})), stream).stream;
    EXPECT_EQ(run_tool(*make_decryptor(test_key()), again).stream, stream) << threads;
    EXPECT_EQ(run_tool(*with_threads(make_hidden_reader(test_key())), hiding).payload, (Bytes{4, 2}));
    EXPECT_EQ(run_tool(*with_threads(make_watermark_extractor(test_key())), marked).payload, Bytes{7});
    for (std::size_t size = 0; size < stream.size(); size += 41) {
      const Bytes cut(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(refusal(*with_threads(make_encryptor(test_key(), {})), cut),
                refusal(*make_encryptor(test_key(), {}), cut))
          << size << " bytes, " << threads << " threads";
    }
  }
  EXPECT_THROW(make_decryptor(test_key())->set_threads(-1), Error);
}

TEST(ProtectStream, RefusalsNameWhatWasFound) {
  const Bytes stream = encoded(32, 32, 1);
  const auto tell = [&](auto&& tool, ByteSpan bytes) { return refusal(*tool, bytes); };
  EXPECT_NE(tell(make_decryptor(test_key()), stream).find("not encrypted"), std::string::npos);
  EXPECT_NE(tell(make_watermark_extractor(test_key()), stream).find("no watermark"), std::string::npos);
  EXPECT_NE(tell(make_hidden_reader(test_key()), stream).find("hides no data"), std::string::npos);
  EXPECT_NE(tell(make_encryptor(test_key(), {}), Bytes{}).find("no H.264 picture"), std::string::npos);
  EXPECT_NE(tell(make_encryptor(test_key(), {}), Bytes(1000, 0)).find("no H.264 picture"), std::string::npos);

  const Bytes encrypted = run_tool(*make_encryptor(test_key(), {}), stream).stream;
  EXPECT_NE(tell(make_encryptor(test_key(), {}), encrypted).find("encrypted already"), std::string::npos);
  EXPECT_NE(tell(make_decryptor(test_key(2)), encrypted).find("key is not"), std::string::npos);
  const Bytes payload{1, 2, 3};
  EXPECT_NE(tell(make_watermark_embedder(test_key(), {}, payload), encrypted).find("decrypt it first"),
            std::string::npos);
  EXPECT_NE(tell(make_hider(test_key(), Bytes(100000)), stream).find("can hold "), std::string::npos);
  EXPECT_NE(tell(make_watermark_embedder(test_key(), {}, Bytes(100000)), stream).find("can hold "),
            std::string::npos);
  EXPECT_THROW(make_hider(test_key(), Bytes{}), Error);
  EXPECT_THROW(make_encryptor(test_key(), {{false, false, false}, false}), Error);
  EXPECT_THROW(encryption_strength(0), Error);
  EXPECT_THROW(encryption_strength(4), Error);
}

// A mark shows that it was put there, not that the rest of the stream is as it was.
TEST(ProtectMarks, AreReadInAStreamThatSomebodyElseEncrypted) {
  const Bytes stream = encoded(160, 128, 4);
  const Bytes marked =
      run_tool(*make_watermark_embedder(test_key(), {WatermarkScheme::t1_parity, 65536}, Bytes{7}), stream)
          .stream;
  const Bytes foreign =
      run_tool(*make_encryptor(test_key(2), {encryption_strength(1), false}), marked).stream;
  Bytes disguised;
  int messages = 0;
  for (const bitstream::NalUnit& nal : bitstream::split_annexb(foreign).units) {
    // In our messages the byte after type, size and UUID is the kind; 1 is encryption.
    const bool encryption =
        nal.type() == bitstream::kNalSei && nal.unit.size() > 40 && nal.unit[3] == 0x8f && nal.unit[19] == 1;
    messages += encryption;
    if (encryption) continue;
    disguised.insert(disguised.end(), nal.prefix.begin(), nal.prefix.end());
    disguised.insert(disguised.end(), nal.unit.begin(), nal.unit.end());
  }
  ASSERT_EQ(messages, 1);
  EXPECT_NE(disguised, marked);
  EXPECT_EQ(run_tool(*make_watermark_extractor(test_key()), disguised).payload, Bytes{7});
}

TEST(ProtectStream, EachEncryptionIsAnother) {
  const Bytes stream = encoded(48, 32, 1);
  const Bytes first = run_tool(*make_encryptor(test_key(), {}), stream).stream;
  const Bytes second = run_tool(*make_encryptor(test_key(), {}), stream).stream;
  EXPECT_NE(first, second);
  EXPECT_EQ(run_tool(*make_decryptor(test_key()), first).stream, stream);
  EXPECT_EQ(run_tool(*make_decryptor(test_key()), second).stream, stream);
}

}  // namespace
}  // namespace cu264::test
