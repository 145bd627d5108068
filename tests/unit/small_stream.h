// Small streams, a key, and the result of a tool on a stream.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "common/bitstream/nal_unit.h"
#include "cu264/encoder.h"
#include "cu264/protect.h"

namespace cu264::test {

using bitstream::Bytes;
using bitstream::ByteSpan;

// `noise` is how many values of a sample are as likely; 256 makes macroblocks of I_PCM.
inline Bytes encoded(Config config, int pictures, unsigned noise = 24) {
  const int width = config.width, height = config.height;
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
      samples[i] = static_cast<std::uint8_t>(128 + 60 * ((i / 9 + i / 400) % 2) + random() % noise);
    }
    while (!encoder.send(frame)) receive();
  }
  encoder.flush();
  receive();
  return stream;
}

inline Bytes encoded(int width, int height, int pictures, int qp = 20, int slices = 1,
                     Profile profile = Profile::baseline) {
  Config config;
  config.profile = profile;
  config.width = width, config.height = height;
  config.set("qp", std::to_string(qp));
  config.set("slices", std::to_string(slices));
  return encoded(config, pictures);
}

inline ProtectionKey test_key(std::uint8_t last = 1) {
  std::array<std::uint8_t, 32> bytes{};
  bytes[31] = last;
  return ProtectionKey(bytes);
}

// The tool's message if it refuses the stream; empty if it does not.
inline std::string refusal(StreamTool& tool, ByteSpan stream) {
  try {
    run_tool(tool, stream);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return {};
}

}  // namespace cu264::test
