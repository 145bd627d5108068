// A watermark that an encoder embeds: which blocks carry which bits, and the message that says how to read
// them.
#pragma once

#include <cstdint>
#include <span>

#include "cu264/protect.h"
#include "protect/keys.h"

namespace cu264::protect {

// Says how bits are assigned to blocks, which is the last setting of the message. An encoder marks any luma
// block, and each carries the bit of mark_index: one of the frame's bits, or one of the bits of its MarkCode.
// In a finished stream only blocks are marked from which nothing is predicted, and they carry the frame's
// bits in turn.
enum class Marking : std::uint8_t { drawn = 0, in_turn = 1, coded = 2 };

// Returns the message as a NAL unit.
Bytes mark_message(const StreamKeys& keys, const WatermarkOptions& options, std::uint32_t payload_bytes,
                   Marking marking);

class MarkPlanner {
 public:
  // Throws Error(invalid_argument) or Error(bad_input) for an impossible density or payload.
  explicit MarkPlanner(const EncoderWatermark& watermark);

  Marking marking() const { return marking_; }
  bool by_parity() const { return options_.scheme == WatermarkScheme::t1_parity; }
  std::uint32_t density() const { return options_.density; }
  const StreamKeys& keys() const { return keys_; }
  std::uint32_t payload_bytes() const { return payload_bytes_; }
  // The bits that blocks draw from: mark_frame_of the payload, or its MarkCode.
  const Bytes& frame() const { return frame_; }
  Bytes message() const { return mark_message(keys_, options_, payload_bytes_, marking_); }

  // Computes the marks of every macroblock of a picture (protect/watermark.h). One thread at a time may call
  // it.
  void plan(std::uint32_t picture, std::span<std::uint32_t> marks) const;

 private:
  WatermarkOptions options_;
  StreamKeys keys_;
  Marking marking_;
  std::uint32_t payload_bytes_;
  Bytes frame_;
};

}  // namespace cu264::protect
