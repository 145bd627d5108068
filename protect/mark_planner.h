// A watermark that an encoder embeds: which blocks carry which bits, and the message that says how to read
// them.
#pragma once

#include <cstdint>
#include <span>

#include "cu264/protect.h"
#include "protect/keys.h"

namespace cu264::protect {

// How the frame's bits are assigned to blocks, which is the last setting of the message. An encoder marks any
// luma block, and each carries the bit of mark_index. In a finished stream only blocks are marked from which
// nothing is predicted, and they carry the frame's bits in turn.
enum Marking : std::uint8_t { kMarkedByEncoder = 0, kMarkedLater = 1 };

// Returns the message as a NAL unit.
Bytes mark_message(const StreamKeys& keys, const WatermarkOptions& options, const Bytes& frame,
                   Marking marking);

// Returns how many bytes of payload that many blocks, each with a bit drawn at random, hold with a
// probability of 99 %.
std::uint64_t mark_capacity(std::uint64_t carriers);

class MarkPlanner {
 public:
  // Throws Error(invalid_argument) or Error(bad_input) for an impossible density or payload.
  explicit MarkPlanner(const EncoderWatermark& watermark);

  bool by_parity() const { return options_.scheme == WatermarkScheme::t1_parity; }
  std::uint32_t density() const { return options_.density; }
  const StreamKeys& keys() const { return keys_; }
  const Bytes& frame() const { return frame_; }  // mark_frame_of the payload
  Bytes message() const { return mark_message(keys_, options_, frame_, kMarkedByEncoder); }

  // Computes the marks of every macroblock of a picture (protect/watermark.h). One thread at a time may call
  // it.
  void plan(std::uint32_t picture, std::span<std::uint32_t> marks) const;

 private:
  WatermarkOptions options_;
  StreamKeys keys_;
  Bytes frame_;
};

}  // namespace cu264::protect
