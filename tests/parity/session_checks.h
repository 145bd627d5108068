// Runs whole sessions on both backends and compares their packets.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cu264/encoder.h"
#include "support/picture.h"
#include "tests/parity/device_test.h"
#include "tests/parity/placed_frames.h"

namespace cu264::parity {

// Encodes the frames with time stamps 1, 4, 7 and so on, and returns all packets.
std::vector<Packet> encode(const Config& config, const std::vector<PlacedFrame>& frames);

// Returns the packet with the slices that it has in device memory after its data (Config::device_output).
Packet downloaded(Packet packet);

// The configuration in one line, for traces.
std::string text(const Config& config);

// Compares data, statistics, reconstructions, indices and time stamps.
void expect_equal(const std::vector<Packet>& host, const std::vector<Packet>& device);

class SessionParity : public DeviceTest {
 protected:
  static std::vector<PlacedFrame> place(const std::vector<test::Picture>& pictures, PixelFormat format,
                                        MemoryKind memory, int padding = 0, bool bottom_up = false) {
    std::vector<PlacedFrame> frames;
    for (const test::Picture& picture : pictures) {
      frames.emplace_back(FramePlanes(picture, format, padding, bottom_up), memory);
    }
    return frames;
  }

  static std::vector<Packet> on_host(Config config, const std::vector<test::Picture>& pictures) {
    config.backend = BackendChoice::cpu;
    const PixelFormat format = config.input_format.value_or(PixelFormat::i420);
    return encode(config, place(pictures, format, MemoryKind::host));
  }

  static void expect_parity(Config config, const std::vector<test::Picture>& pictures,
                            const std::vector<int>& batches) {
    config.width = pictures[0].width, config.height = pictures[0].height;
    const std::vector<Packet> host = on_host(config, pictures);
    const PixelFormat format = config.input_format.value_or(PixelFormat::i420);
    const std::vector<PlacedFrame> frames = place(pictures, format, MemoryKind::host);
    config.backend = BackendChoice::cuda;
    for (const int batch : batches) {
      config.batch = batch;
      SCOPED_TRACE(text(config));
      for (int run = repetitions(3, 1); run > 0; --run) {
        expect_equal(host, encode(config, frames));
        if (HasFatalFailure()) return;
      }
    }
  }

  static std::vector<test::Picture> clip(int pictures, int width, int height) {
    std::vector<test::Picture> out;
    for (int i = 0; i < pictures; ++i) {
      const test::Content content = test::kContents[static_cast<std::size_t>(i) % test::kContents.size()];
      out.push_back(test::make_picture(content, width, height, static_cast<std::uint32_t>(i)));
    }
    return out;
  }
};

}  // namespace cu264::parity
