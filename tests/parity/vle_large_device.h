// Coding and decoding in device memory throughout, of inputs that no host need hold. The CUDA runtime stays
// behind this header.
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

// The input's symbol i, of 0 to kLargeSymbols - 1, without a period.
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
  // Whether the device has the memory for such a run.
  static bool fits(std::uint64_t size, std::uint64_t capacity);

  vle::EncodeResult result() const;
  std::array<std::uint64_t, 256> histogram() const;
  std::vector<std::uint64_t> index() const;
  // Bytes of the stream.
  std::vector<std::uint8_t> stream(std::uint64_t offset, std::size_t count) const;

  // Another encoder's result, and how many bytes of its stream are different. None: too little memory.
  struct Compared {
    vle::EncodeResult result;
    std::uint64_t differences;
  };
  std::optional<Compared> compare(const vle::DeviceEncoder& encoder) const;

  // With the index or without, and how many symbols come back wrong.
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
