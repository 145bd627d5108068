// Encodes and decodes within device memory, so that no host has to hold the inputs. This header needs no
// header of CUDA.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/hd.h"
#include "cu264/vle_types.h"
#include "entropy/vle/device_encoder.h"

namespace cu264::parity {

// Symbol i of the input, from 0 to kLargeSymbols - 1; the sequence has no period.
inline constexpr unsigned kLargeSymbols = 255;
CU264_HD std::uint8_t large_symbol(std::uint64_t i) {
  std::uint64_t x = i * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  return static_cast<std::uint8_t>((x >> 32) % kLargeSymbols);
}

class LargeRun {
 public:
  // Encodes with `fast` and its chunk index into at most `capacity` bytes.
  LargeRun(const vle::CodeTable& table, std::uint64_t size, std::uint64_t capacity);
  ~LargeRun();
  // Returns whether the device has the memory for such a run.
  static bool fits(std::uint64_t size, std::uint64_t capacity);

  vle::EncodeResult result() const;
  std::array<std::uint64_t, 256> histogram() const;
  std::vector<std::uint64_t> index() const;
  // The bytes of the stream.
  std::vector<std::uint8_t> stream(std::uint64_t offset, std::size_t count) const;

  // The result of another encoder, and the number of bytes in which its stream differs. Nothing if there is
  // too little memory.
  struct Compared {
    vle::EncodeResult result;
    std::uint64_t differences;
  };
  std::optional<Compared> compare(const vle::DeviceEncoder& encoder) const;

  // Decodes with or without the index, and counts the symbols that come back wrong.
  struct Decoded {
    vle::DecodeResult result;
    std::uint64_t wrong;
  };
  Decoded decode(bool with_index) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cu264::parity
