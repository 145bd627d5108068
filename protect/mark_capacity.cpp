#include "protect/mark_capacity.h"

#include <cmath>

#include "protect/mark_code.h"
#include "protect/payload.h"

namespace cu264::protect {
namespace {

constexpr double kMayFail = 0.01;

// About n (1 - 1/n)^carriers of n bits are expected to be drawn by no block.
bool drawn_fits(std::uint64_t frame_bytes, double carriers) {
  const double bits = 8.0 * static_cast<double>(frame_bytes);
  return bits * std::exp(-carriers / bits) <= kMayFail;
}

// A group of n bits is read if about n + log2(1 / kMayFail) different ones of its coded bits were carried.
// Their number is nearly normally distributed. Its variance grows if the blocks of one macroblock, which draw
// neighbouring bits, are in the same group.
bool coded_fits(std::uint64_t frame_bytes, double carriers, std::uint32_t density) {
  const MarkCode code(static_cast<std::uint32_t>(frame_bytes));
  const double groups = code.groups(), coded_bits = code.coded_bits_of_group();
  const double unseen = std::exp(-carriers / groups / coded_bits);
  const double together = 1 + 15.0 * density / 65536 / groups;
  const double deviation = std::sqrt(coded_bits * unseen * (1 - unseen) * together);
  const double deviations = std::sqrt(2 * std::log(groups / kMayFail));
  const double needed = 8.0 * static_cast<double>(frame_bytes) / groups + std::log2(groups / kMayFail);
  return coded_bits * (1 - unseen) - deviations * deviation >= needed;
}

}  // namespace

std::uint64_t mark_capacity(std::uint64_t carriers, std::uint32_t density, WatermarkSpread spread) {
  const auto fits = [&](std::uint64_t bytes) {
    const std::uint64_t frame_bytes = bytes + kMarkFrameHeaderBytes;
    return spread == WatermarkSpread::coded
               ? bytes <= kMaxCodedPayloadBytes &&
                     coded_fits(frame_bytes, static_cast<double>(carriers), density)
               : drawn_fits(frame_bytes, static_cast<double>(carriers));
  };
  std::uint64_t low = 0, high = carriers / 8 + 1;
  while (low + 1 < high) {
    const std::uint64_t middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace cu264::protect
