#include "protect/mark_planner.h"

#include <algorithm>

#include "protect/mark_code.h"
#include "protect/message.h"
#include "protect/payload.h"
#include "protect/watermark.h"

namespace cu264::protect {

Bytes mark_message(const StreamKeys& keys, const WatermarkOptions& options, std::uint32_t payload_bytes,
                   Marking marking) {
  Settings settings{};
  settings[0] = static_cast<std::uint8_t>(options.scheme);
  settings[1] = static_cast<std::uint8_t>((options.density - 1) >> 8);
  settings[2] = static_cast<std::uint8_t>(options.density - 1);
  settings[7] = static_cast<std::uint8_t>(marking);
  for (std::size_t i = 0; i < 4; ++i)
    settings[3 + i] = static_cast<std::uint8_t>(payload_bytes >> (24 - 8 * i));
  return message_nal(new_message(MessageKind::watermark, keys, settings));
}

MarkPlanner::MarkPlanner(const EncoderWatermark& watermark)
    : options_{watermark.scheme, watermark.density},
      keys_(watermark.key, random_nonce()),
      marking_(watermark.spread == WatermarkSpread::coded ? Marking::coded : Marking::drawn),
      payload_bytes_(static_cast<std::uint32_t>(watermark.payload.size())),
      frame_(mark_frame_of(watermark.payload)) {
  if (watermark.density < 1 || watermark.density > 65536) {
    throw Error(ErrorCode::invalid_argument, "the density is out of its range", "1 to 65536");
  }
  if (marking_ == Marking::coded) {
    if (payload_bytes_ > kMaxCodedPayloadBytes) {
      throw Error(ErrorCode::bad_input, "the payload of the watermark is larger than 16 MiB",
                  "give a smaller one");
    }
    frame_ = MarkCode(static_cast<std::uint32_t>(frame_.size())).encode(frame_);
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
