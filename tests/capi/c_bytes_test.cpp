// A stream has the same bytes through the C API and the C++ API.
#include <gtest/gtest.h>

#include "support/encode.h"
#include "tests/capi/c_objects.h"

namespace cu264::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

cu264_frame c_frame(const Frame& frame) {
  cu264_frame made{};
  made.struct_size = sizeof made;
  made.format = static_cast<int32_t>(frame.format);
  made.width = frame.width, made.height = frame.height;
  for (int plane = 0; plane < 3; ++plane)
    made.plane[plane] = frame.plane[plane], made.pitch[plane] = frame.pitch[plane];
  made.pts = frame.pts;
  made.key = frame.key ? 1 : 0;
  made.duration = frame.duration;
  return made;
}

// A picture in the middle begins a GOP, and every second one is shown for long.
Frame frame_of(const FrameBuffer& buffer, std::size_t number) {
  Frame frame = buffer.view(static_cast<std::int64_t>(7 * number));
  frame.key = number == 3;
  frame.duration = number % 2 == 0 ? 1 : 13;
  return frame;
}

struct Coded {
  Bytes headers;
  std::vector<Bytes> packets, reconstructions, edges;
  std::vector<std::int64_t> pts;
  std::vector<bool> keys;
  std::vector<double> mean_qp;
};

Coded encode_in_c(const Settings& settings, const std::vector<Picture>& pictures, PixelFormat format) {
  Coded coded;
  const CConfig config(settings);
  const CEncoder encoder = open_c_encoder(config);
  if (!encoder) return coded;
  cu264_info* told = nullptr;
  EXPECT_EQ(cu264_encoder_info(encoder.get(), &told), CU264_OK);
  const CInfo info(told);
  coded.headers.assign(info->headers, info->headers + info->headers_size);
  const auto take = [&] {
    const CPacket packet = receive_c_packet(encoder);
    if (!packet) return false;
    coded.packets.emplace_back(packet->data, packet->data + packet->size);
    coded.reconstructions.emplace_back(packet->reconstruction,
                                       packet->reconstruction + packet->reconstruction_size);
    coded.edges.emplace_back(packet->edges, packet->edges + packet->edges_size);
    coded.pts.push_back(packet->pts);
    coded.keys.push_back(packet->key != 0);
    coded.mean_qp.push_back(packet->mean_qp);
    return true;
  };
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const FrameBuffer buffer(pictures[i], format, 5);
    const cu264_frame frame = c_frame(frame_of(buffer, i));
    cu264_status status = CU264_OK;
    while ((status = cu264_encoder_send(encoder.get(), &frame)) == CU264_AGAIN) EXPECT_TRUE(take());
    EXPECT_EQ(status, CU264_OK) << cu264_last_error();
  }
  EXPECT_EQ(cu264_encoder_flush(encoder.get()), CU264_OK);
  while (take()) continue;
  return coded;
}

Coded encode_in_cpp(const Settings& settings, const std::vector<Picture>& pictures, PixelFormat format) {
  Config config;
  for (const auto& [name, value] : settings) {
    if (name == "reconstruction") {
      config.reconstruction = value == "on";
    } else if (name == "edge-maps") {
      config.edge_maps = value == "on";
    } else {
      config.set(name, value);
    }
  }
  Encoder encoder(config);
  Coded coded;
  coded.headers = encoder.headers();
  const auto take = [&] {
    const auto packet = encoder.receive();
    if (!packet) return false;
    coded.packets.emplace_back(packet->data.begin(), packet->data.end());
    coded.reconstructions.push_back(packet->reconstruction);
    coded.edges.push_back(packet->edges);
    coded.pts.push_back(packet->pts);
    coded.keys.push_back(packet->key);
    coded.mean_qp.push_back(packet->stats.mean_qp);
    return true;
  };
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const FrameBuffer buffer(pictures[i], format, 5);
    while (!encoder.send(frame_of(buffer, i))) EXPECT_TRUE(take());
  }
  encoder.flush();
  while (take()) continue;
  return coded;
}

TEST(CBytes, AreThoseOfTheCppApi) {
  std::vector<Picture> pictures;
  for (int i = 0; i < 5; ++i) pictures.push_back(make_picture(Content::natural, 81, 50, i));
  const Settings common = {{"size", "81x50"}, {"backend", "cpu"}, {"threads", "2"}};
  const std::vector<std::pair<PixelFormat, Settings>> cases = {
      {PixelFormat::i420, {{"qp", "24"}}},
      {PixelFormat::nv12, {{"qp", "33"}, {"preset", "best"}, {"slices", "2"}}},
      {PixelFormat::gray8, {{"crf", "21.5"}, {"profile", "main"}, {"reconstruction", "on"}}},
      {PixelFormat::i420, {{"bitrate", "300"}, {"maxrate", "500"}, {"bufsize", "200"}, {"lookahead", "2"}}},
      {PixelFormat::i420, {{"bitrate", "300"}, {"timed-bitrate", "on"}}},
      {PixelFormat::nv12, {{"gop", "0"}, {"qp", "30"}}},
      {PixelFormat::i420, {{"profile", "baseline"}, {"headers", "every"}, {"deblock", "off"}}},
      {PixelFormat::i420, {{"edge-guided", "2"}, {"edge-maps", "on"}, {"headers", "separate"}}},
      {PixelFormat::i420, {{"cqm", "jvt"}, {"aq", "variance"}, {"colormatrix", "bt709"}, {"sar", "4:3"}}},
  };
  for (const auto& [format, options] : cases) {
    Settings settings = common;
    settings.insert(settings.end(), options.begin(), options.end());
    SCOPED_TRACE(options.front().first + "=" + options.front().second);
    const Coded c = encode_in_c(settings, pictures, format), cpp = encode_in_cpp(settings, pictures, format);
    ASSERT_EQ(c.packets.size(), pictures.size());
    EXPECT_EQ(c.packets, cpp.packets);
    EXPECT_EQ(c.headers, cpp.headers);
    EXPECT_EQ(c.reconstructions, cpp.reconstructions);
    EXPECT_EQ(c.edges, cpp.edges);
    EXPECT_EQ(c.pts, cpp.pts);
    EXPECT_EQ(c.mean_qp, cpp.mean_qp);
    EXPECT_EQ(c.keys, cpp.keys);
  }
}

TEST(CBytes, KeyPicturesComeWhereTheyAreAskedFor) {
  std::vector<Picture> pictures;
  for (int i = 0; i < 8; ++i) pictures.push_back(make_picture(Content::natural, 48, 32, i));
  const Coded coded =
      encode_in_c({{"size", "48x32"}, {"backend", "cpu"}, {"gop", "4"}}, pictures, PixelFormat::i420);
  EXPECT_EQ(coded.keys, (std::vector<bool>{true, false, false, true, false, false, false, true}));
}

}  // namespace
}  // namespace cu264::test
