// Writes payloads of parameter sets and SEI messages by the descriptors of their syntax tables (H.264 7.2).
#pragma once

#include <cstdint>
#include <vector>

#include "core/bits.h"

namespace cu264::encoder {

// A payload is much shorter than the writer's memory.
class RbspWriter {
 public:
  void u(int length, std::uint32_t value) { writer_.put(value, length); }
  void flag(bool value) { u(1, value ? 1 : 0); }
  void ue(std::uint32_t value) { core::put_ue(writer_, value); }
  void se(int value) { core::put_se(writer_, value); }

  // The payload with rbsp_trailing_bits.
  std::vector<std::uint8_t> finish() {
    core::put_trailing_bits(writer_);
    return {memory_, memory_ + writer_.size()};
  }
  // The payload of an SEI message, which ends in a one and zeros unless it is a whole number of bytes
  // (7.3.2.3.1).
  std::vector<std::uint8_t> finish_message() {
    if (!writer_.aligned()) return finish();
    writer_.align_with_zeros();
    return {memory_, memory_ + writer_.size()};
  }

 private:
  std::uint8_t memory_[512];
  core::BitWriter writer_{memory_, sizeof(memory_)};
};

}  // namespace cu264::encoder
