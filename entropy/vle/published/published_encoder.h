// A published encoder with its preparation and its kernels apart, as the papers time the kernels alone.
#pragma once

#include <cstddef>

#include "entropy/vle/device_encoder.h"

namespace cu264::vle {

struct PublishedEncoder {
  const char* name;
  int longest_code;
  int threads;       // of a thread block, where nothing else is asked for
  int most_threads;  // asked for in steps of 32
  std::size_t (*scratch_bytes)(std::size_t size, int threads);
  // Zeroes what the kernels expect to be zero: counters, the scan's state and the output.
  void (*prepare)(const EncodeCall& call, int threads);
  void (*run)(const EncodeCall& call, int threads);
};

// The same as every other encoder: both parts, with the published system's own thread blocks.
template <const PublishedEncoder& kEncoder>
DeviceEncoder device_encoder() {
  return {kEncoder.name, kEncoder.longest_code,
          [](std::size_t size) { return kEncoder.scratch_bytes(size, kEncoder.threads); },
          [](const EncodeCall& call) {
            kEncoder.prepare(call, kEncoder.threads);
            kEncoder.run(call, kEncoder.threads);
          }};
}

}  // namespace cu264::vle
