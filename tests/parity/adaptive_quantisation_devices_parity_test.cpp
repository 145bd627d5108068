// Adaptive quantisation on several devices: the offsets of the previous picture are handed from one device to
// the next, and the bytes are those of the CPU backend. On a machine with one GPU, that GPU plays all of the
// devices.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cu264/device.h"
#include "encoder/backend.h"
#include "encoder/cuda/cuda_backend.h"
#include "support/encode.h"
#include "support/picture.h"
#include "tests/parity/device_test.h"
#include "tests/parity/placed_frames.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

using encoder::Backend;

// The slices of every picture, collected as late as the backend allows.
std::vector<std::vector<std::uint8_t>> slices_from(Backend& backend, const Config& config,
                                                   const std::vector<PlacedFrame>& frames) {
  std::vector<std::vector<std::uint8_t>> slices;
  std::uint64_t index = 0;
  for (const PlacedFrame& frame : frames) {
    if (index - slices.size() == static_cast<std::uint64_t>(backend.capacity()))
      slices.push_back(std::move(backend.collect().slices).release());
    backend.submit({{frame.view()}, encoder::picture_params(config, index++)});
  }
  backend.flush();
  while (slices.size() < frames.size()) slices.push_back(std::move(backend.collect().slices).release());
  return slices;
}

// Pictures that drift, so that some offsets are kept and others change.
std::vector<PlacedFrame> drifting(int pictures, int width, int height) {
  std::vector<PlacedFrame> frames;
  test::Picture picture = test::make_picture(test::Content::natural, width, height);
  const auto luma = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  for (int i = 0; i < pictures; ++i) {
    for (std::size_t at = static_cast<std::size_t>(i) % 3; at < luma; at += 3) {
      std::uint8_t& sample = picture.samples[at];
      sample = static_cast<std::uint8_t>((sample * 7 + 128 + 8 * i) / 8 & 255);
    }
    frames.emplace_back(FramePlanes(picture, PixelFormat::i420, 0), MemoryKind::host);
  }
  return frames;
}

class AdaptiveQuantisationDevices : public DeviceTest {
 protected:
  void expect_parity(const std::vector<int>& devices, int batch) {
    SCOPED_TRACE(std::to_string(devices.size()) + " devices, batches of " + std::to_string(batch));
    const std::vector<PlacedFrame> frames = drifting(23, 80, 48);
    for (const auto& [name, value] : {std::pair{"edge-guided", "3"}, {"aq", "steps"}, {"aq", "variance"}}) {
      if (cases_.leave_out()) continue;
      Config config = test::baseline_config();
      config.width = 80, config.height = 48, config.preset = Preset::fast;
      config.set(name, value);
      const encoder::StreamParams params = encoder::stream_params(config);
      const auto expected = slices_from(*encoder::open_cpu_backend(params), config, frames);
      for (int run = repetitions(2, 1); run > 0; --run) {
        const auto found = slices_from(*encoder::cuda::open_devices(params, devices, batch), config, frames);
        for (std::size_t i = 0; i < frames.size(); ++i) {
          ASSERT_EQ(expected[i], found[i]) << name << ", picture " << i;
        }
      }
    }
  }

 private:
  test::QuickCases cases_{5};
};

TEST_F(AdaptiveQuantisationDevices, OneDeviceAsSeveral) {
  for (const int batch : {1, 4}) {
    expect_parity({0, 0}, batch);
    expect_parity({0, 0, 0}, batch);
  }
}

TEST_F(AdaptiveQuantisationDevices, AllDevices) {
  std::vector<int> devices;
  for (const DeviceInfo& device : cuda_devices()) {
    if (device.usable) devices.push_back(device.index);
  }
  if (devices.size() < 2) GTEST_SKIP() << "one device only";
  for (const int batch : {1, 4}) expect_parity(devices, batch);
}

}  // namespace
}  // namespace cu264::parity
