// The parser of finished slices: escaping and bit editing, refusals, and that nothing is read behind the end.
#include <gtest/gtest.h>

#include <random>

#include "core/cavlc_block.h"
#include "core/cavlc_tables.h"
#include "cu264/encoder.h"
#include "cu264/protect.h"
#include "protect/parameter_sets.h"
#include "protect/rbsp.h"
#include "protect/splice.h"
#include "protect/vlc_tables.h"

namespace cu264::protect {
namespace {

Bytes padded(Bytes bytes) {
  bytes.resize(bytes.size() + kRbspPadding);
  return bytes;
}

TEST(ProtectRbsp, EscapesAndBack) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    Bytes rbsp(random() % 40);
    for (std::uint8_t& byte : rbsp) byte = static_cast<std::uint8_t>(random() % 3 != 0 ? 0 : random() % 5);
    rbsp.push_back(0x80);
    Bytes unit;
    append_escaped(unit, 0x65, rbsp);
    Bytes expected{0x65};
    int zeros = 0;
    for (const std::uint8_t byte : rbsp) {
      if (zeros >= 2 && byte <= 3) expected.push_back(3), zeros = 0;
      expected.push_back(byte);
      zeros = byte == 0 ? zeros + 1 : 0;
    }
    ASSERT_EQ(unit, expected);
    Bytes back;
    unescape(unit, back);
    ASSERT_EQ(back, padded(rbsp));
  }
}

TEST(ProtectRbsp, SplitsIntoUnitsThatMakeTheStreamAgain) {
  const Bytes stream{0, 0, 0, 1, 0x67, 5, 0, 0, 1, 0x68, 9, 0, 0, 0, 0, 1, 0x65, 7, 7, 0, 0};
  const NalUnits found = split_annexb(stream);
  ASSERT_EQ(found.units.size(), 3u);
  EXPECT_EQ(found.units[0].type(), kNalSps);
  EXPECT_EQ(found.units[2].unit.size(), 3u);
  EXPECT_EQ(found.tail.size(), 2u);
  Bytes again;
  for (const NalUnit& nal : found.units) {
    again.insert(again.end(), nal.prefix.begin(), nal.prefix.end());
    again.insert(again.end(), nal.unit.begin(), nal.unit.end());
  }
  again.insert(again.end(), found.tail.begin(), found.tail.end());
  EXPECT_EQ(again, stream);
  for (std::size_t size = 0; size < stream.size(); ++size) split_annexb({stream.data(), size});
  EXPECT_TRUE(split_annexb({}).units.empty());
}

TEST(ProtectRbsp, CursorAndEdits) {
  Bytes bytes = padded({0xff, 0x00, 0xff, 0x00, 0xaa});
  set_bits(bytes, 5, 7, 0b0101010);
  EXPECT_EQ(bytes[0], 0b11111010);
  EXPECT_EQ(bytes[1], 0b10100000);
  flip_bit(bytes.data(), 0, 1);
  EXPECT_EQ(bytes[0], 0b01111010);
  BitCursor bits(bytes);
  bits.skip(39);
  EXPECT_FALSE(bits.failed());
  EXPECT_EQ(bits.get(32), 0u);
  EXPECT_TRUE(bits.failed());
  bits.skip(std::uint64_t{1} << 40);
  EXPECT_EQ(bits.window(), 0u);
  EXPECT_EQ(stop_bit_position(Bytes{0x10, 0, 0}), 3u);
  EXPECT_EQ(stop_bit_position(Bytes{0, 0}), 0u);
}

TEST(ProtectRbsp, Splice) {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    Bytes source(60);
    for (std::uint8_t& byte : source) byte = static_cast<std::uint8_t>(random());
    source.back() |= 1;
    source = padded(source);
    const std::uint64_t at = random() % 200, out = random() % 100;
    const int length = 1 + static_cast<int>(random() % 20);
    Splice splice(source, 200);
    splice.copy_to(at);
    splice.leave_out(out);
    splice.writer().put(1, length);
    const Bytes result = splice.finish(479);
    std::vector<int> expected;
    for (std::uint64_t b = 0; b < at; ++b) expected.push_back(bit_at(source, b));
    for (int b = 1; b <= length; ++b) expected.push_back(b == length);
    for (std::uint64_t b = at + out; b < 480; ++b) expected.push_back(bit_at(source, b));
    for (std::size_t b = 0; b < expected.size(); ++b) ASSERT_EQ(bit_at(result, b), expected[b]) << b;
  }
}

// Each table finds every code, whatever follows it.
TEST(ProtectVlcTables, FindEveryCode) {
  const VlcTables& tables = vlc_tables();
  const auto expect = [](core::CodeWord code, auto&& find, int symbol) {
    for (const std::uint64_t behind :
         {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x5555555555555555}}) {
      const std::uint64_t window =
          static_cast<std::uint64_t>(code.bits) << (64 - code.length) | behind >> code.length;
      const VlcEntry entry = find(window);
      EXPECT_EQ(entry.symbol, symbol);
      EXPECT_EQ(entry.length, code.length);
    }
  };
  for (int column = 0; column < 5; ++column) {
    for (int total = 0; total <= (column == 4 ? 4 : 16); ++total) {
      for (int ones = 0; ones <= 3 && ones <= total; ++ones) {
        expect(
            core::coeff_token_code(column, total, ones),
            [&](std::uint64_t window) { return tables.coeff_token(window, column); }, 4 * total + ones);
      }
    }
  }
  for (int total = 1; total <= 15; ++total) {
    for (int zeros = 0; zeros <= 16 - total; ++zeros) {
      expect(
          core::total_zeros_code(total, zeros),
          [&](std::uint64_t window) { return tables.total_zeros(window, total, false); }, zeros);
    }
  }
  for (int left = 1; left <= 14; ++left) {
    for (int run = 0; run <= left; ++run) {
      expect(
          core::run_before_code(left, run),
          [&](std::uint64_t window) { return tables.run_before(window, left); }, run);
    }
  }
  EXPECT_EQ(tables.coeff_token(0, 0).length, 0);
}

Bytes encoded(int width, int height, int pictures) {
  Config config;
  config.width = width, config.height = height;
  config.set("qp", "20");
  config.set("backend", "cpu");
  Encoder encoder(config);
  std::mt19937 random(4);
  std::vector<std::uint8_t> samples(static_cast<std::size_t>(width * height * 3 / 2));
  Frame frame;
  frame.width = width, frame.height = height;
  frame.plane[0] = samples.data();
  frame.plane[1] = samples.data() + width * height, frame.plane[2] = frame.plane[1] + width * height / 4;
  frame.pitch[0] = width, frame.pitch[1] = frame.pitch[2] = width / 2;
  Bytes stream;
  const auto receive = [&] {
    while (const auto packet = encoder.receive())
      stream.insert(stream.end(), packet->data.begin(), packet->data.end());
  };
  for (frame.pts = 0; frame.pts < pictures; ++frame.pts) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      samples[i] = static_cast<std::uint8_t>(128 + 60 * ((i / 9 + i / 400) % 2) + random() % 24);
    }
    while (!encoder.send(frame)) receive();
  }
  encoder.flush();
  receive();
  return stream;
}

ProtectionKey test_key(std::uint8_t last = 1) {
  std::array<std::uint8_t, 32> bytes{};
  bytes[31] = last;
  return ProtectionKey(bytes);
}

std::string refusal(StreamTool& tool, ByteSpan stream) {
  try {
    run_tool(tool, stream);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return {};
}

// Cut anywhere: told, unless the cut lies behind the last bit that matters.
TEST(ProtectStream, CutOffStreamsAreRefused) {
  const Bytes stream = encoded(48, 32, 2);
  const std::size_t step = 7;
  for (std::size_t size = 0; size + 3 < stream.size(); size += step) {
    const Bytes cut(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size));
    const auto tool = make_encryptor(test_key(), {});
    // Whole pictures alone are a stream too.
    if (refusal(*tool, cut).empty()) {
      const NalUnits whole = split_annexb(stream);
      const std::size_t second = static_cast<std::size_t>(whole.units.back().prefix.data() - stream.data());
      EXPECT_GE(size, second);
      EXPECT_LE(size, second + 5);
    }
  }
}

// Any byte changed: an error or a stream, never worse; run under the sanitizers.
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

// Several slices under way give the bytes, and the errors, of one after another.
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

TEST(ProtectStream, AuthenticationTellsEveryChange) {
  const Bytes stream = encoded(48, 32, 2);
  Bytes encrypted = run_tool(*make_encryptor(test_key(), {{}, true}), stream).stream;
  EXPECT_EQ(run_tool(*make_decryptor(test_key()), encrypted).stream, stream);
  // A sign in the last macroblocks: still a legal stream.
  int told = 0;
  for (std::size_t back = 3; back < 23; ++back) {
    Bytes changed = encrypted;
    changed[changed.size() - back] ^= 1;
    told += !refusal(*make_decryptor(test_key()), changed).empty();
  }
  EXPECT_EQ(told, 20);
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
}  // namespace cu264::protect
