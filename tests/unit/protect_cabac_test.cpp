// Signs and suffixes of CABAC slices: what changing them makes is what the coder makes of the changed levels,
// and whole streams come back from it, or are refused.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <span>

#include "common/bitstream/emulation_prevention.h"
#include "core/cabac_encoder.h"
#include "core/cabac_macroblock.h"
#include "cu264/protect.h"
#include "protect/cabac_slice.h"
#include "tests/unit/small_stream.h"

namespace cu264::test {
namespace {

using core::MacroblockKind;
using core::MacroblockRecord;
using protect::change_levels;

constexpr int kWidth = 5, kHeight = 4, kMacroblocks = kWidth * kHeight;  // in macroblocks
constexpr int kHeaderBytes = 2;

struct Macroblock {
  MacroblockRecord record;
  std::int16_t levels[core::kLevelsPerMacroblock] = {};
  std::uint8_t samples[core::MacroblockLayout::kSamples] = {};  // of I_PCM
};

// Draws levels of all magnitudes, so that the longest suffixes occur.
int random_level(std::mt19937& random) {
  const int magnitude = 1 + static_cast<int>(random() % (1u << random() % 15));
  return random() % 2 == 0 ? magnitude : -magnitude;
}

Macroblock random_macroblock(std::mt19937& random, bool transform_8x8_mode, bool monochrome) {
  Macroblock mb;
  MacroblockRecord& record = mb.record;
  record.transform_8x8_mode = transform_8x8_mode;
  record.kind = static_cast<MacroblockKind>(random() % (transform_8x8_mode ? 4 : 3));
  for (std::uint8_t& mode : record.intra4x4_pred_mode) mode = core::kIntra4x4Dc;
  if (record.kind == MacroblockKind::pcm) {
    for (std::uint8_t& sample : mb.samples) sample = static_cast<std::uint8_t>(random());
    return mb;
  }
  const auto chroma = static_cast<std::uint8_t>(monochrome ? 0 : random() % 3);
  const std::uint32_t luma = core::is_i_nxn(record.kind) ? random() % 16 : random() % 2 * 15;
  record.coded_block_pattern = static_cast<std::uint8_t>(luma | chroma << 4);
  record.intra16x16_pred_mode = static_cast<std::uint8_t>(random() % 4);
  record.intra_chroma_pred_mode = static_cast<std::uint8_t>(monochrome ? 0 : random() % 4);
  if (core::is_i_nxn(record.kind)) {
    for (int block = 0; block < 16; ++block) {
      record.intra4x4_pred_mode[block] = record.kind == MacroblockKind::intra8x8 && block % 4 != 0
                                             ? record.intra4x4_pred_mode[block - block % 4]
                                             : static_cast<std::uint8_t>(random() % 9);
    }
  }
  if (core::has_mb_qp_delta(record) && random() % 2 == 0)
    record.mb_qp_delta = static_cast<std::int8_t>(static_cast<int>(random() % 52) - 26);
  const std::uint32_t coded = core::coded_slots(record);
  for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
    if ((coded >> slot & 1) == 0) continue;
    const bool part_of_8x8 = record.kind == MacroblockKind::intra8x8 && slot < core::kSlotChromaDc;
    const std::uint32_t sparse = 1 + random() % 6;
    for (int i = 0; i < core::slot_max_num_coeff(record, slot); ++i) {
      // An 8x8 block in coded_block_pattern has a level.
      if (random() % sparse != 0 && !(part_of_8x8 && i == 3)) continue;
      mb.levels[slot * core::kLevelsPerBlock + i] = static_cast<std::int16_t>(random_level(random));
      record.nonzero_blocks |= 1u << slot;
    }
  }
  return mb;
}

Bytes code(const std::vector<Macroblock>& macroblocks, int slice_qp, bool monochrome) {
  Bytes rbsp(kHeaderBytes, 0xff);
  Bytes codewords(std::size_t{1} << 20);
  core::CabacEncoder encoder(codewords.data(), codewords.size(), slice_qp);
  for (std::size_t i = 0; i < macroblocks.size(); ++i) {
    const Macroblock& mb = macroblocks[i];
    const MacroblockRecord* const left = i % kWidth != 0 ? &macroblocks[i - 1].record : nullptr;
    const MacroblockRecord* const above = i >= kWidth ? &macroblocks[i - kWidth].record : nullptr;
    const core::CabacNeighbours n{core::cabac_neighbour(left), core::cabac_neighbour(above)};
    const bool changed = core::changes_qp(i > 0 ? &macroblocks[i - 1].record : nullptr);
    if (monochrome && mb.record.kind != MacroblockKind::pcm) {
      core::put_cabac_mb_type(encoder, mb.record, n);
      if (core::has_transform_size_flag(mb.record)) {
        encoder.decision(core::transform_size_context(n), mb.record.kind == MacroblockKind::intra8x8);
      }
      for (int b = 0; core::is_i_nxn(mb.record.kind) && b < 16; b += core::blocks_of_a_mode(mb.record.kind)) {
        core::put_cabac_intra_mode(encoder, mb.record.intra4x4_pred_mode[b],
                                   core::predicted_intra4x4_mode(mb.record, left, above, b));
      }
      for (int b = 0, pattern = mb.record.coded_block_pattern; core::is_i_nxn(mb.record.kind) && b < 4; ++b)
        encoder.decision(core::luma_pattern_context(b, pattern, n), pattern >> b & 1);
      if (core::has_mb_qp_delta(mb.record)) core::put_cabac_qp_delta(encoder, mb.record.mb_qp_delta, changed);
    } else {
      core::put_cabac_header(encoder, mb.record, left, above, n, changed);
    }
    if (mb.record.kind == MacroblockKind::pcm) {
      encoder.finish();
      for (int sample = 0; sample < (monochrome ? 256 : 384); ++sample) encoder.put_byte(mb.samples[sample]);
      encoder.restart();
    } else {
      core::put_cabac_residual(encoder, mb.record, mb.levels, n);
    }
    encoder.terminate(i + 1 == macroblocks.size() ? 1 : 0);
  }
  encoder.finish();
  EXPECT_FALSE(encoder.overflowed());
  rbsp.insert(rbsp.end(), codewords.begin(), codewords.begin() + static_cast<std::ptrdiff_t>(encoder.size()));
  return rbsp;
}

// Draws the flips, and remembers how many levels it was asked for.
class RandomFlips : public protect::LevelFlips {
 public:
  explicit RandomFlips(std::uint32_t seed) : random_(seed) {}
  void begin_macroblock(int address) override { addresses.push_back(address); }
  std::uint64_t signs(int count) override {
    levels += count;
    const std::uint64_t bits = static_cast<std::uint64_t>(random_()) << 32 | random_();
    return count == 64 ? bits : bits & ((std::uint64_t{1} << count) - 1);
  }
  bool suffix_bit() override {
    ++suffix_bits;
    return suffix_random_() % 2 != 0;
  }

  std::vector<int> addresses;
  int levels = 0, suffix_bits = 0;

 private:
  std::mt19937 random_, suffix_random_{random_()};
};

class NoFlips : public protect::LevelFlips {
  void begin_macroblock(int) override {}
  std::uint64_t signs(int) override { return 0; }
  bool suffix_bit() override { return false; }
};

// The level with other suffix bits: coeff_abs_level_minus1 is 14 and a number of Exp-Golomb code (9.3.2.3).
int with_suffix(int level, protect::LevelFlips& flips) {
  const int number = std::abs(level) - 15;
  if (number < 0) return level;
  int bits = 0, rest = number;
  for (; rest >= 1 << bits; ++bits) rest -= 1 << bits;
  for (int bit = bits; bit-- > 0;) rest ^= static_cast<int>(flips.suffix_bit()) << bit;
  const int magnitude = 15 + (1 << bits) - 1 + rest;
  return level < 0 ? -magnitude : magnitude;
}

// The same flips in the levels of a macroblock, in the order of the stream.
void flip_levels(Macroblock& mb, protect::LevelFlips& flips) {
  const bool large = mb.record.kind == MacroblockKind::intra8x8;
  for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
    const int blocks = large && slot < core::kSlotChromaDc ? 4 : 1;
    if (blocks == 4 && (slot - core::kSlotLuma) % 4 != 0) continue;
    std::vector<std::int16_t*> levels;
    for (int k = 16 * blocks; k-- > 0;) {
      std::int16_t& level = mb.levels[core::kLevelsPerBlock * (slot + k % blocks) + k / blocks];
      if (level != 0) levels.push_back(&level);
    }
    if (levels.empty()) continue;
    const std::uint64_t bits = flips.signs(static_cast<int>(levels.size()));
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const int level = with_suffix(*levels[i], flips);
      *levels[i] = static_cast<std::int16_t>((bits >> i & 1) != 0 ? -level : level);
    }
  }
}

bitstream::ParameterSets::Active sets_of(bool transform_8x8_mode, bool monochrome) {
  bitstream::ParameterSets::Active sets;
  sets.sps.mb_width = kWidth, sets.sps.mb_height = kHeight;
  sets.sps.chroma_format_idc = monochrome ? 0 : 1;
  sets.pps.cabac = true;
  sets.pps.transform_8x8_mode = transform_8x8_mode;
  return sets;
}

Bytes changed(const Bytes& rbsp, const bitstream::ParameterSets::Active& sets, int qp,
              protect::LevelFlips& flips) {
  Bytes padded = rbsp;
  padded.resize(padded.size() + bitstream::kRbspPadding);
  bitstream::SliceHeader header;
  header.qp = qp;
  const protect::ReadSlice read =
      change_levels(padded, 8 * kHeaderBytes - 3, bitstream::stop_bit_position(rbsp), sets, header, flips);
  EXPECT_EQ(read.next_address, kMacroblocks);
  padded.resize(rbsp.size());
  return padded;
}

TEST(CabacSigns, AndSuffixesAreThoseOfTheCoderOfTheChangedLevels) {
  std::mt19937 random(264);
  int pcm = 0, suffix_bits = 0;
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const bool large = seed % 2 == 1, monochrome = seed % 5 == 4;
    const int qp = static_cast<int>(random() % 52);
    std::vector<Macroblock> macroblocks;
    for (int i = 0; i < kMacroblocks; ++i)
      macroblocks.push_back(random_macroblock(random, large, monochrome));
    const Bytes rbsp = code(macroblocks, qp, monochrome);
    const auto sets = sets_of(large, monochrome);
    NoFlips none;
    ASSERT_EQ(changed(rbsp, sets, qp, none), rbsp) << seed;
    RandomFlips flips(seed), again(seed);
    const Bytes flipped = changed(rbsp, sets, qp, flips);
    ASSERT_EQ(flips.addresses.size(), static_cast<std::size_t>(kMacroblocks));
    for (Macroblock& mb : macroblocks) {
      if (mb.record.kind != MacroblockKind::pcm) flip_levels(mb, again);
      pcm += mb.record.kind == MacroblockKind::pcm;
    }
    ASSERT_EQ(again.levels, flips.levels);
    ASSERT_EQ(again.suffix_bits, flips.suffix_bits);
    suffix_bits += flips.suffix_bits;
    ASSERT_EQ(flipped, code(macroblocks, qp, monochrome)) << seed;
    RandomFlips back(seed);
    ASSERT_EQ(changed(flipped, sets, qp, back), rbsp) << seed;
  }
  EXPECT_GT(pcm, 100);
  EXPECT_GT(suffix_bits, 10000);
}

// x264 sets the last bit of the bytes that some slices end in, after the stop bit.
TEST(CabacSigns, BitsAfterTheStopBitStay) {
  std::mt19937 random(3);
  int aligned = 0;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::vector<Macroblock> macroblocks;
    for (int i = 0; i < kMacroblocks; ++i) macroblocks.push_back(random_macroblock(random, false, false));
    Bytes rbsp = code(macroblocks, 20, false);
    aligned += (rbsp.back() & 1) == 0;
    rbsp.back() |= 1;
    RandomFlips flips(seed), back(seed);
    const Bytes flipped = changed(rbsp, sets_of(false, false), 20, flips);
    EXPECT_NE(flipped, rbsp);
    EXPECT_EQ(changed(flipped, sets_of(false, false), 20, back), rbsp);
  }
  EXPECT_GT(aligned, 5);
}

// A coder may end the codeword before I_PCM in a bit of 0, which leaves no room for the signs before it.
TEST(CabacSigns, CodewordsThatEndOtherwiseAreRefused) {
  std::mt19937 random(1);
  std::vector<Macroblock> macroblocks(kMacroblocks);
  macroblocks[0].record.kind = MacroblockKind::pcm;
  Bytes rbsp = code(macroblocks, 26, false);
  const std::size_t samples = kHeaderBytes + 2;  // the codeword of mb_type has two bytes
  ASSERT_NE(rbsp[samples - 1], 0);
  NoFlips none;
  EXPECT_NO_THROW(changed(rbsp, sets_of(false, false), 26, none));
  rbsp[samples - 1] = static_cast<std::uint8_t>(rbsp[samples - 1] & (rbsp[samples - 1] - 1));
  try {
    changed(rbsp, sets_of(false, false), 26, none);
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("9.3.4.5"), std::string::npos) << error.what();
  }
}

// Whatever the bytes are, the result is an error or a slice that comes back, and nothing outside is touched.
TEST(CabacSigns, DamagedSlicesDoNoHarm) {
  std::mt19937 random(5);
  int refused = 0, accepted = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const bool large = seed % 2 == 1;
    std::vector<Macroblock> macroblocks;
    for (int i = 0; i < kMacroblocks; ++i) macroblocks.push_back(random_macroblock(random, large, false));
    Bytes rbsp = code(macroblocks, 30, false);
    if (seed % 3 == 0) rbsp.resize(kHeaderBytes + random() % (rbsp.size() - kHeaderBytes));
    for (std::uint32_t j = 0; j < 1 + seed % 4 && rbsp.size() > kHeaderBytes; ++j)
      rbsp[kHeaderBytes + random() % (rbsp.size() - kHeaderBytes)] = static_cast<std::uint8_t>(random());
    Bytes padded = rbsp;
    padded.resize(padded.size() + bitstream::kRbspPadding);
    const auto sets = sets_of(large, false);
    bitstream::SliceHeader header;
    header.qp = 30;
    const std::uint64_t stop = bitstream::stop_bit_position(rbsp);
    RandomFlips flips(seed), back(seed);
    try {
      change_levels(padded, 8 * kHeaderBytes, stop, sets, header, flips);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      ++refused;
      continue;
    }
    ++accepted;
    change_levels(padded, 8 * kHeaderBytes, stop, sets, header, back);
    padded.resize(rbsp.size());
    ASSERT_EQ(padded, rbsp);
  }
  EXPECT_GT(refused, 200);
  EXPECT_GT(accepted, 0);
}

Config cabac_config(Profile profile, const char* preset, int qp, int slices) {
  Config config;
  config.profile = profile;
  config.width = 80, config.height = 64;
  config.set("preset", preset);
  config.set("qp", std::to_string(qp));
  config.set("slices", std::to_string(slices));
  return config;
}

std::vector<std::size_t> slice_sizes(ByteSpan stream) {
  std::vector<std::size_t> sizes;
  Bytes rbsp;
  for (const bitstream::NalUnit& nal : bitstream::split_annexb(stream).units) {
    if (nal.type() != bitstream::kNalSliceIdr) continue;
    bitstream::unescape(nal.unit, rbsp);
    sizes.push_back(rbsp.size());
  }
  return sizes;
}

// Returns what the last encryption counted.
StreamCounts expect_round_trip(const Bytes& stream, const EncryptionParts& parts = {}) {
  StreamCounts counts;
  for (const bool authenticate : {false, true}) {
    const auto encryptor = make_encryptor(test_key(), {parts, authenticate});
    const Bytes encrypted = run_tool(*encryptor, stream).stream;
    EXPECT_NE(encrypted, stream);
    EXPECT_EQ(slice_sizes(encrypted), slice_sizes(stream));
    EXPECT_EQ(run_tool(*make_decryptor(test_key(), {authenticate}), encrypted).stream, stream);
    counts = encryptor->counts();
  }
  return counts;
}

TEST(ProtectCabac, StreamsOfEveryPresetComeBack) {
  for (const Profile profile : {Profile::main, Profile::high}) {
    for (const char* preset : {"fast", "balanced", "best"}) {
      for (const int slices : {1, 3}) {
        for (const int qp : {16, 24, 38}) {
          SCOPED_TRACE(testing::Message() << preset << ", " << slices << " slices, qp " << qp);
          const StreamCounts counts =
              expect_round_trip(encoded(cabac_config(profile, preset, qp, slices), 2));
          EXPECT_GT(counts.coefficients, 100u);
          EXPECT_EQ(counts.encrypted_bits, counts.coefficients);
        }
      }
    }
    expect_round_trip(encoded(cabac_config(profile, "fast", 0, 2), 2, 256));  // I_PCM
  }
}

constexpr EncryptionParts kSuffixes{false, false, false, true}, kBypassBins{true, false, false, true};

TEST(ProtectCabac, SuffixesComeBack) {
  for (const Profile profile : {Profile::main, Profile::high}) {
    for (const int qp : {8, 14, 20}) {
      SCOPED_TRACE(testing::Message() << "qp " << qp);
      const Bytes stream = encoded(cabac_config(profile, "fast", qp, 2), 2, 60);
      const StreamCounts counts = expect_round_trip(stream, kBypassBins);
      const std::uint64_t suffix_bits = counts.encrypted_bits - counts.coefficients;
      EXPECT_GT(suffix_bits, 50u);
      EXPECT_EQ(expect_round_trip(stream, kSuffixes).encrypted_bits, suffix_bits);
    }
  }
}

TEST(ProtectCabac, SuffixesNeedCabacAndAFinishedStream) {
  const std::string refused = refusal(*make_encryptor(test_key(), {kSuffixes, true}), encoded(48, 32, 1));
  EXPECT_NE(refused.find("suffixes need CABAC"), std::string::npos) << refused;
  Config config = cabac_config(Profile::automatic, "fast", 20, 1);
  config.encryption = EncoderEncryption{test_key(), kBypassBins};
  EXPECT_THROW(Encoder{config}, Error);
}

// CAVLC and CABAC may follow one another, and cabac_zero_words stay.
TEST(ProtectCabac, MixedStreamsAndZeroWordsComeBack) {
  const Bytes cavlc = encoded(48, 32, 2);
  const Bytes cabac = encoded(48, 32, 2, 20, 1, Profile::main);
  Bytes mixed = cavlc;
  for (const bitstream::NalUnit& nal : bitstream::split_annexb(cabac).units) {
    mixed.insert(mixed.end(), nal.prefix.begin(), nal.prefix.end());
    mixed.insert(mixed.end(), nal.unit.begin(), nal.unit.end());
    if (nal.type() == bitstream::kNalSliceIdr) mixed.insert(mixed.end(), {0, 0, 3, 0, 0, 3});
  }
  mixed.insert(mixed.end(), cavlc.begin(), cavlc.end());
  expect_round_trip(mixed);
}

TEST(ProtectCabac, WhatWorksOnCavlcAloneIsRefused) {
  const Bytes stream = encoded(48, 32, 1, 20, 1, Profile::high);
  const auto expect = [&](std::unique_ptr<StreamTool> tool, const char* why) {
    const std::string refused = refusal(*tool, stream);
    EXPECT_NE(refused.find("CABAC"), std::string::npos) << refused;
    EXPECT_NE(refused.find(why), std::string::npos) << refused;
  };
  expect(make_encryptor(test_key(), {{true, true, false}, false}), "modes and codewords need CAVLC");
  expect(make_encryptor(test_key(), {{true, false, true}, true}), "modes and codewords need CAVLC");
  expect(make_watermark_embedder(test_key(), {}, Bytes{1}), "need CAVLC");
  expect(make_watermark_extractor(test_key()), "need CAVLC");
  expect(make_watermark_meter(WatermarkScheme::t1_sign), "need CAVLC");
  expect(make_hider(test_key(), Bytes{1}), "need CAVLC");
  expect(make_hidden_reader(test_key()), "need CAVLC");
}

TEST(ProtectCabac, DamagedStreamsDoNoHarm) {
  const Bytes stream = encoded(48, 32, 1, 24, 2, Profile::high);
  std::mt19937 random(9);
  int refused = 0;
  for (int i = 0; i < 1500; ++i) {
    Bytes damaged = stream;
    if (i % 5 == 0) damaged.resize(random() % damaged.size());
    for (int j = 0; j < 1 + i % 4 && !damaged.empty(); ++j)
      damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
    Bytes encrypted;
    try {
      encrypted = run_tool(*make_encryptor(test_key(), {}), damaged).stream;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      ++refused;
      continue;
    }
    EXPECT_EQ(run_tool(*make_decryptor(test_key()), encrypted).stream, damaged) << i;
  }
  EXPECT_GT(refused, 300);
}

TEST(ProtectCabac, ThreadsChangeNothing) {
  const Bytes stream = encoded(48, 48, 7, 24, 3, Profile::high);
  const Bytes encrypted = run_tool(*make_encryptor(test_key(), {{}, true}), stream).stream;
  for (const int threads : {2, 5}) {
    const auto decryptor = make_decryptor(test_key());
    decryptor->set_threads(threads);
    EXPECT_EQ(run_tool(*decryptor, encrypted).stream, stream);
  }
}

}  // namespace
}  // namespace cu264::test
