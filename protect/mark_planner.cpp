#include "protect/mark_planner.h"

#include <algorithm>
#include <cmath>

#include "protect/message.h"
#include "protect/payload.h"
#include "protect/watermark.h"

namespace cu264::protect {

Bytes mark_message(const StreamKeys& keys, const WatermarkOptions& options, const Bytes& frame,
                   Marking marking) {
  Settings settings{};
  settings[0] = static_cast<std::uint8_t>(options.scheme);
  settings[1] = static_cast<std::uint8_t>((options.density - 1) >> 8);
  settings[2] = static_cast<std::uint8_t>(options.density - 1);
  settings[7] = marking;
  const std::uint32_t length = static_cast<std::uint32_t>(frame.size()) - kMarkFrameHeaderBytes;
  for (std::size_t i = 0; i < 4; ++i) settings[3 + i] = static_cast<std::uint8_t>(length >> (24 - 8 * i));
  return message_nal(new_message(MessageKind::watermark, keys, settings));
}

// About n (1 - 1/n)^carriers of n bits are expected to be missed.
std::uint64_t mark_capacity(std::uint64_t carriers) {
  const auto missed = [&](std::uint64_t bytes) {
    const double bits = 8.0 * static_cast<double>(bytes + kMarkFrameHeaderBytes);
    return bits * std::exp(-static_cast<double>(carriers) / bits);
  };
  std::uint64_t low = 0, high = carriers / 8 + 1;
  while (low + 1 < high) {
    const std::uint64_t middle = (low + high) / 2;
    (missed(middle) <= 0.01 ? low : high) = middle;
  }
  return low;
}

MarkPlanner::MarkPlanner(const EncoderWatermark& watermark)
    : options_{watermark.scheme, watermark.density},
      keys_(watermark.key, random_nonce()),
      frame_(mark_frame_of(watermark.payload)) {
  if (watermark.density < 1 || watermark.density > 65536) {
    throw Error(ErrorCode::invalid_argument, "the density is out of its range", "1 to 65536");
  }
}

void MarkPlanner::plan(std::uint32_t picture, std::span<std::uint32_t> marks) const {
  constexpr std::size_t kMacroblocks = 64;  // the number for one call of libcrypto
  AesBlock keys[2 * kMacroblocks];
  for (std::size_t first = 0; first < marks.size(); first += kMacroblocks) {
    const std::size_t count = std::min(kMacroblocks, marks.size() - first);
    for (std::size_t i = 0; i < 2 * count; ++i) {
      keys[i] = mark_counter(keys_.nonce(), picture, static_cast<std::uint32_t>(first + i / 2), i % 2);
    }
    keys_.keystream({keys, 2 * count});
    for (std::size_t i = 0; i < count; ++i) {
      marks[first + i] = marks_of_macroblock({keys[2 * i], keys[2 * i + 1]}, options_.density, frame_.data(),
                                             static_cast<std::uint32_t>(frame_.size()));
    }
  }
}

}  // namespace cu264::protect
