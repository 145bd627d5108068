// The analysers of both backends measure the same, whatever the format, the memory and the pitch of a frame,
// and what they hold for coding is the same picture.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/cuda/error_check.h"
#include "encoder/config.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/frame_layout.h"
#include "tests/parity/device_test.h"
#include "tests/parity/placed_frames.h"

namespace cu264::parity {
namespace {

class RateMeasureParity : public DeviceTest {};

encoder::StreamParams params_for(int width, int height, PixelFormat format, bool aq) {
  Config config;
  config.width = width, config.height = height;
  config.input_format = format;
  config.threads = 1;
  encoder::StreamParams params = encoder::stream_params(config);
  params.pacing.controls_rate = true;
  params.decisions.aq.reset();
  if (aq) params.decisions.aq = encoder::AqParams{encoder::AqMode::variance, encoder::kStrengthOne};
  return params;
}

void expect_equal(const core::PictureMeasure& device, const core::PictureMeasure& host) {
  EXPECT_EQ(device.macroblocks, host.macroblocks);
  EXPECT_EQ(device.measured, host.measured);
  EXPECT_EQ(device.activity, host.activity);
  EXPECT_EQ(device.weights, host.weights);
  for (int what = 0; what < core::kMeasured; ++what) {
    for (int bin = 0; bin < core::kMeasureBins; ++bin) {
      ASSERT_EQ(device.histogram[what][bin], host.histogram[what][bin])
          << "histogram " << what << ", bin " << bin;
    }
  }
}

// The samples of a plane, row by row.
std::vector<std::uint8_t> samples_of(const Frame& frame, int plane) {
  const auto bytes = static_cast<std::size_t>(encoder::row_bytes(frame.format, plane, frame.width));
  const int rows = encoder::plane_side(frame.format, plane, frame.height);
  std::vector<std::uint8_t> samples(bytes * static_cast<std::size_t>(rows));
  for (int y = 0; y < rows; ++y) {
    const std::uint8_t* const row = frame.plane[plane] + y * frame.pitch[plane];
    std::uint8_t* const to = samples.data() + bytes * static_cast<std::size_t>(y);
    if (frame.memory == MemoryKind::device) {
      check_cuda(cudaMemcpy(to, row, bytes, cudaMemcpyDeviceToHost), "download");
    } else {
      std::memcpy(to, row, bytes);
    }
  }
  return samples;
}

TEST_F(RateMeasureParity, EveryFormatMemoryAndPitch) {
  const PixelFormat formats[] = {
      PixelFormat::i420,  PixelFormat::nv12,   PixelFormat::gray8,      PixelFormat::rgb24,
      PixelFormat::bgr24, PixelFormat::rgba32, PixelFormat::rgb_planar, PixelFormat::rgb_float_planar,
      PixelFormat::bgra32};
  const int sizes[][2] = {{64, 48}, {51, 37}, {17, 1}, {1, 30}, {130, 34}};
  int number = 0;
  for (const PixelFormat format : formats) {
    for (const auto& [width, height] : sizes) {
      const bool aq = number % 2 != 0, bottom_up = number % 3 == 2;
      const int padding = 4 * (number % 4);
      const auto memory = static_cast<MemoryKind>(number % 3);
      ++number;
      SCOPED_TRACE("format " + std::to_string(static_cast<int>(format)) + ", " + std::to_string(width) + "x" +
                   std::to_string(height) + ", memory " + std::to_string(static_cast<int>(memory)));
      const encoder::StreamParams params = params_for(width, height, format, aq);
      const auto on_host = encoder::make_cpu_analyser(params);
      const auto on_device = encoder::cuda::make_device_analyser(params, 0, 1 + number % 4);
      // Several frames before the first measure is read: frames must not share memory.
      std::vector<FramePlanes> planes;
      std::vector<PlacedFrame> placed, on_host_too;
      std::vector<std::unique_ptr<encoder::AnalysedFrame>> held;
      for (const test::Content content :
           {test::Content::natural, test::Content::noise, test::Content::text}) {
        planes.emplace_back(test::make_picture(content, width, height), format, padding, bottom_up);
        placed.emplace_back(planes.back(), memory);
        on_host_too.emplace_back(planes.back(), MemoryKind::host);
        held.push_back(on_device->analyse(placed.back().view(), nullptr, {}));
      }
      for (std::size_t i = 0; i < held.size(); ++i) {
        const auto expected = on_host->analyse(on_host_too[i].view(), nullptr, {});
        expect_equal(held[i]->measure(), expected->measure());
        EXPECT_TRUE(held[i]->done());
        ASSERT_NE(held[i]->written(), nullptr);
        if (held[i]->frame().format != PixelFormat::i420) continue;
        for (int plane = 0; plane < 3; ++plane) {
          EXPECT_EQ(samples_of(held[i]->frame(), plane), samples_of(expected->frame(), plane)) << plane;
        }
      }
    }
  }
}

// A quarter of the macroblocks, whose last places lie outside the picture in some rows; and few columns.
TEST_F(RateMeasureParity, LargePictures) {
  for (const auto& [width, height] : {std::pair{1283, 725}, {20, 28800}}) {
    const encoder::StreamParams params = params_for(width, height, PixelFormat::i420, true);
    const FramePlanes planes(test::make_picture(test::Content::natural, width, height), PixelFormat::i420, 4);
    const PlacedFrame placed(planes, MemoryKind::device), same(planes, MemoryKind::host);
    const auto device = encoder::cuda::make_device_analyser(params, 0)->analyse(placed.view(), nullptr, {});
    const auto host = encoder::make_cpu_analyser(params)->analyse(same.view(), nullptr, {});
    EXPECT_LT(device->measure().measured, device->measure().macroblocks);
    expect_equal(device->measure(), host->measure());
  }
}

// Frames that are given back before their group is measured are left out of it.
TEST_F(RateMeasureParity, FramesOfAGroupThatAreNotWanted) {
  const encoder::StreamParams params = params_for(64, 48, PixelFormat::i420, false);
  const auto on_host = encoder::make_cpu_analyser(params);
  const auto on_device = encoder::cuda::make_device_analyser(params, 0, 16);
  const FramePlanes planes(test::make_picture(test::Content::natural, 64, 48), PixelFormat::i420, 0);
  const PlacedFrame kept_frame(planes, MemoryKind::device), same(planes, MemoryKind::host);
  std::unique_ptr<encoder::AnalysedFrame> kept;
  {
    const PlacedFrame dropped_frame(planes, MemoryKind::device);
    const auto dropped = on_device->analyse(dropped_frame.view(), nullptr, {});
    kept = on_device->analyse(kept_frame.view(), nullptr, {});
    EXPECT_FALSE(kept->done());
  }
  expect_equal(kept->measure(), on_host->analyse(same.view(), nullptr, {})->measure());
  EXPECT_TRUE(kept->done());
}

TEST_F(RateMeasureParity, FramesThatStayOnTheHost) {
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::rgb24}) {
    const encoder::StreamParams params = params_for(75, 50, format, true);
    const auto on_device = encoder::cuda::make_device_analyser(params, 0, 1, true);
    const auto on_host = encoder::make_cpu_analyser(params);
    const FramePlanes planes(test::make_picture(test::Content::natural, 75, 50), format, 8);
    std::unique_ptr<encoder::AnalysedFrame> held;
    {
      const PlacedFrame placed(planes, MemoryKind::host);  // which is gone when the frame is coded
      held = on_device->analyse(placed.view(), nullptr, {});
    }
    const PlacedFrame same(planes, MemoryKind::host);
    const auto expected = on_host->analyse(same.view(), nullptr, {});
    expect_equal(held->measure(), expected->measure());
    EXPECT_EQ(held->frame().format, format);
    EXPECT_EQ(held->frame().memory, MemoryKind::pinned);
    EXPECT_EQ(held->written(), nullptr);
    for (int plane = 0; plane < encoder::plane_count(format); ++plane) {
      EXPECT_EQ(samples_of(held->frame(), plane), samples_of(same.view(), plane));
    }
  }
}

// More frames than a slot's chunk holds, released in between; the analyser goes before its last frame.
TEST_F(RateMeasureParity, SlotsAreUsedAgain) {
  const encoder::StreamParams params = params_for(48, 32, PixelFormat::i420, false);
  const auto on_host = encoder::make_cpu_analyser(params);
  auto on_device = encoder::cuda::make_device_analyser(params, 0, 4);
  std::vector<std::unique_ptr<encoder::AnalysedFrame>> held(5), expected(5);
  for (unsigned i = 0; i < 90; ++i) {
    const FramePlanes planes(test::make_picture(test::Content::natural, 48, 32, i), PixelFormat::i420, 0);
    const PlacedFrame placed(planes, MemoryKind::host);
    const std::size_t at = i % 7 % held.size();
    held[at] = on_device->analyse(placed.view(), nullptr, {});
    expected[at] = on_host->analyse(placed.view(), nullptr, {});
    const std::size_t other = i % 3;
    if (held[other]) expect_equal(held[other]->measure(), expected[other]->measure());
  }
  on_device.reset();
  for (std::size_t i = 0; i < held.size(); ++i) expect_equal(held[i]->measure(), expected[i]->measure());
}

}  // namespace
}  // namespace cu264::parity
