// Encodes on the GPU, with guards around input and output that no kernel may touch. This header needs no
// header of CUDA.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "entropy/vle/device_encoder.h"
#include "entropy/vle/published/published_encoders.h"

namespace cu264::parity {

using Bytes = std::vector<std::uint8_t>;

// An encoder of any kind.
struct AnyEncoder {
  AnyEncoder(const vle::DeviceEncoder& encoder) : device(encoder) {}
  AnyEncoder(const vle::PublishedEncoder& encoder, int thread_count)
      : published(&encoder), threads(thread_count) {}

  std::string name() const;
  int longest_code() const;

  vle::DeviceEncoder device{};
  const vle::PublishedEncoder* published = nullptr;
  int threads = 0;
};

struct Encoded {
  vle::EncodeResult result{};
  Bytes stream;  // as much of the stream as the output holds
  bool wrote_past_output = false;
};

// The input begins at an address that is `alignment` modulo 256 and ends with its allocation. Output and
// scratch memory are poisoned at first. `capacity` is in bytes and a multiple of 4. Throws cu264::Error with
// CUDA's message.
Encoded encode_on_device(const AnyEncoder& encoder, const vle::CodeTable& table, const Bytes& input,
                         int alignment, std::size_t capacity);

// Encodes `period` repeated `copies` times and compares the result with `coded_period` repeated as often, all
// on the device. Empty if they agree; "memory" if the device has too little memory.
std::string check_repeated(const AnyEncoder& encoder, const vle::CodeTable& table, const Bytes& period,
                           const Bytes& coded_period, std::size_t copies);

std::array<std::uint64_t, 256> histogram_on_device(const Bytes& input, int alignment);

}  // namespace cu264::parity
