#include "tests/conformance/stream_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/decode.h"

namespace cu264::test {
namespace {

void check_packets(const EncodedStream& stream, const std::vector<Picture>& sources) {
  const Picture& first = sources.front();
  EXPECT_EQ(stream.info.width, (first.width + 1) / 2 * 2);
  EXPECT_EQ(stream.info.height, (first.height + 1) / 2 * 2);
  ASSERT_EQ(stream.packets.size(), sources.size());
  const std::size_t samples = static_cast<std::size_t>(stream.info.width) * stream.info.height * 3 / 2;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Packet& packet = stream.packets[i];
    EXPECT_EQ(packet.index, i);
    EXPECT_EQ(packet.pts, static_cast<std::int64_t>(i) * 10 + 3);
    EXPECT_TRUE(packet.key);
    EXPECT_EQ(packet.reconstruction.size(), samples);
  }
}

void check_scaling_lists(const ScalingLists& lists, const Sps& sps) {
  EXPECT_EQ(sps.scaling_matrix, lists != ScalingLists{});
  const auto equal = [](const auto& coded, const auto& wanted) {
    return std::equal(coded.begin(), coded.end(), wanted.begin(), wanted.end());
  };
  EXPECT_TRUE(equal(sps.lists4x4[0], lists.luma4x4));
  EXPECT_TRUE(equal(sps.lists4x4[1], lists.cb4x4));
  EXPECT_TRUE(equal(sps.lists4x4[2], lists.cr4x4));
  EXPECT_TRUE(equal(sps.list8x8, lists.luma8x8));
}

void check_sps(const Config& config, const EncodedStream& stream, const Sps& sps) {
  const bool baseline = config.profile == Profile::baseline, high = config.profile == Profile::high;
  EXPECT_EQ(sps.profile_idc, baseline ? 66 : high ? 100 : 77);
  const bool flag_of_1b = stream.info.level_idc == 9 && !high;
  EXPECT_EQ(sps.constraint_flags, (baseline ? 0xc0 : high ? 0x1c : 0x40) | (flag_of_1b ? 0x10 : 0));
  EXPECT_EQ(sps.level_idc, flag_of_1b ? 11 : stream.info.level_idc);
  EXPECT_EQ(sps.width(), stream.info.width);
  EXPECT_EQ(sps.height(), stream.info.height);
  EXPECT_EQ(sps.crop_left + sps.crop_top, 0);
  EXPECT_EQ(sps.max_num_ref_frames, 1);
  if (high) check_scaling_lists(config.scaling_lists, sps);
  EXPECT_TRUE(sps.vui.bitstream_restriction);
  EXPECT_EQ(sps.vui.max_num_reorder_frames, 0);
  EXPECT_EQ(sps.vui.max_dec_frame_buffering, 1);
  EXPECT_TRUE(sps.vui.timing);
  EXPECT_EQ(static_cast<std::uint64_t>(sps.vui.time_scale) * config.frame_rate.den,
            static_cast<std::uint64_t>(sps.vui.num_units_in_tick) * config.frame_rate.num * 2);
}

void check_walked(const Config& config, const EncodedStream& stream, const WalkedStream& walked) {
  check_sps(config, stream, walked.sps);
  EXPECT_EQ(walked.pps.transform_8x8_mode, config.profile == Profile::high);
  EXPECT_EQ(walked.pps.entropy_coding_mode, config.profile != Profile::baseline && !config.cavlc);
  ASSERT_EQ(walked.pictures.size(), stream.packets.size());
  for (std::size_t i = 0; i < walked.pictures.size(); ++i) {
    SCOPED_TRACE("picture " + std::to_string(i));
    const WalkedPicture& picture = walked.pictures[i];
    const PictureStats& stats = stream.packets[i].stats;
    EXPECT_EQ(picture.qp, config.qp);
    EXPECT_EQ(stats.qp, config.qp);
    EXPECT_EQ(picture.slices, config.slices);
    EXPECT_EQ(picture.disable_deblocking_filter_idc, config.deblock ? 0 : 1);
    EXPECT_EQ(stats.intra4x4_mbs, picture.intra4x4_mbs);
    EXPECT_EQ(stats.intra8x8_mbs, picture.intra8x8_mbs);
    EXPECT_EQ(stats.intra16x16_mbs, picture.intra16x16_mbs);
    EXPECT_EQ(stats.pcm_mbs, picture.pcm_mbs);
    const bool cabac = walked.pps.entropy_coding_mode;
    EXPECT_EQ(stats.header_bits, cabac ? 0 : picture.header_bits);
    EXPECT_EQ(stats.residual_bits, cabac ? picture.slice_data_bits : picture.residual_bits);
  }
}

}  // namespace

void check_decoded(const Config& config, const EncodedStream& stream) {
  const bool vectors = config.scaling_lists.luma4x4[0] <= kMaxCommonDcWeight;
  const DecodedStream decoded = decode_annexb(stream.bytes(), vectors);
  for (const std::string& complaint : decoded.complaints) ADD_FAILURE() << "libavcodec: " << complaint;
  EXPECT_EQ(decoded.profile, config.profile == Profile::baseline ? kConstrainedBaseline
                             : config.profile == Profile::main   ? kMain
                                                                 : kHigh);
  ASSERT_EQ(decoded.pictures.size(), stream.packets.size());
  for (std::size_t i = 0; i < decoded.pictures.size(); ++i) {
    EXPECT_EQ(decoded.pictures[i].key, stream.packets[i].key) << "picture " << i;
    EXPECT_EQ(difference(reconstruction_of(stream, i), decoded.pictures[i].picture), "") << "picture " << i;
  }
}

WalkedStream check_stream(const Config& config, const EncodedStream& stream,
                          const std::vector<Picture>& sources) {
  check_packets(stream, sources);
  check_decoded(config, stream);
  WalkedStream walked;
  try {
    walked = walk_stream(stream.bytes());
    check_walked(config, stream, walked);
  } catch (const StreamError& error) {
    ADD_FAILURE() << "the stream's syntax: " << error.what();
  }
  return walked;
}

std::string difference(const Picture& expected, const Picture& actual) {
  if (expected.width != actual.width || expected.height != actual.height) {
    return std::to_string(actual.width) + "x" + std::to_string(actual.height) + " instead of " +
           std::to_string(expected.width) + "x" + std::to_string(expected.height);
  }
  if (expected.samples.size() != actual.samples.size()) return "not as many samples";
  for (int p = 0; p < 3; ++p) {
    const int width = expected.plane_width(p);
    for (int i = 0; i < width * expected.plane_height(p); ++i) {
      if (expected.plane(p)[i] == actual.plane(p)[i]) continue;
      return "plane " + std::to_string(p) + " at " + std::to_string(i % width) + "," +
             std::to_string(i / width) + ": " + std::to_string(actual.plane(p)[i]) + " instead of " +
             std::to_string(expected.plane(p)[i]);
    }
  }
  return "";
}

double worst_squared_error(const Picture& source, const Picture& reconstruction) {
  double worst = 0;
  for (int p = 0; p < 3; ++p) {
    const int count = source.plane_width(p) * source.plane_height(p);
    double sum = 0;
    for (int i = 0; i < count; ++i) {
      const double error = source.plane(p)[i] - reconstruction.plane(p)[i];
      sum += error * error;
    }
    worst = std::max(worst, sum / count);
  }
  return worst;
}

double squared_error_bound(int qp) {
  const double step =
      0.625 * std::pow(2.0, qp / 6.0);  // the step of the luma quantiser; that of chroma is not larger
  return step * step + 1;
}

Picture widened(const Picture& source) {
  Picture wide((source.width + 1) / 2 * 2, (source.height + 1) / 2 * 2);
  for (int p = 0; p < 3; ++p) {
    for (int y = 0; y < wide.plane_height(p); ++y) {
      for (int x = 0; x < wide.plane_width(p); ++x) {
        const int from_x = std::min(x, source.plane_width(p) - 1),
                  from_y = std::min(y, source.plane_height(p) - 1);
        wide.plane(p)[y * wide.plane_width(p) + x] = source.plane(p)[from_y * source.plane_width(p) + from_x];
      }
    }
  }
  return wide;
}

Config make_config(int qp, Preset preset, int slices, bool deblock) {
  Config config = baseline_config();
  config.qp = qp, config.preset = preset, config.slices = slices, config.deblock = deblock;
  config.backend = BackendChoice::cpu;
  config.threads = 1;
  return config;
}

const char* name_of(Preset preset) {
  return preset == Preset::fast ? "fast" : preset == Preset::balanced ? "balanced" : "best";
}

}  // namespace cu264::test
