// Runs the fast encoder with its chunk index, and the decoder, on the GPU. Guards around the decoder's output
// show what was written outside. This header needs no header of CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "entropy/vle/device_encoder.h"
#include "entropy/vle/gpu_decode.h"

namespace cu264::parity {

struct IndexedStream {
  vle::EncodeResult result{};
  std::vector<std::uint8_t> bytes;  // a multiple of 4
  std::vector<std::uint64_t> index;
};

// The input begins at an address that is `alignment` modulo 16 and ends with its allocation.
IndexedStream encode_with_index(const vle::CodeTable& table, const std::vector<std::uint8_t>& input,
                                int alignment);

struct Decoded {
  vle::DecodeResult result{};
  std::vector<std::uint8_t> output;
  bool wrote_outside = false;
};

// Decodes with the stream's index, or without one if it is empty. Output and scratch memory are poisoned at
// first; the output begins at an address that is `alignment` modulo 16.
Decoded decode_on_device(const vle::CodeTable& table, const IndexedStream& stream, std::size_t size,
                         int alignment);

}  // namespace cu264::parity
