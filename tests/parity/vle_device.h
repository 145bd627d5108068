// Encodes on the GPU with memory around input and output that nobody may touch. The CUDA runtime stays behind
// this header.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "entropy/vle/device_encoder.h"
#include "entropy/vle/published/published_encoder.h"

namespace cu264::parity {

using Bytes = std::vector<std::uint8_t>;

// Empty if there is a device that runs this build.
std::string why_no_vle_device();

// An encoder of either kind.
struct AnyEncoder {
  AnyEncoder(const vle::DeviceEncoder& encoder) : device(encoder) {}
  AnyEncoder(const vle::PublishedEncoder& encoder, int threads) : published(&encoder), threads(threads) {}

  std::string name() const;
  int longest_code() const;

  vle::DeviceEncoder device{};
  const vle::PublishedEncoder* published = nullptr;
  int threads = 0;
};

struct Encoded {
  vle::EncodeResult result{};
  Bytes stream;  // as much of it as the output holds
  bool wrote_behind_output = false;
};

// The input begins at an address that is `alignment` modulo 256 and ends with its allocation. Output and
// scratch hold rubbish at first. `capacity` in bytes, a multiple of 4. Throws cu264::Error with CUDA's
// message.
Encoded encode_on_device(const AnyEncoder& encoder, const vle::CodeTable& table, const Bytes& input,
                         int alignment, std::size_t capacity);

// Encodes `copies` times `period` and compares with as many times `coded_period`, all on the device. Empty if
// all is well; "memory" where the device has too little.
std::string check_repeated(const AnyEncoder& encoder, const vle::CodeTable& table, const Bytes& period,
                           const Bytes& coded_period, std::size_t copies);

std::array<std::uint64_t, 256> histogram_on_device(const Bytes& input, int alignment);

}  // namespace cu264::parity
