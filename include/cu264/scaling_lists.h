// Scaling lists (H.264 7.4.2.1.1.1): how much coarser or finer than its QP the quantiser is at each
// frequency. The profile high can have them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cu264/status.h"

namespace cu264 {

// The weights of intra pictures, in raster order from the DC coefficient on: a weight w, 1 to 255, multiplies
// the quantiser's step by w / 16. They are flat unless something else is set.
struct ScalingLists {
  template <std::size_t size>
  static constexpr std::array<std::uint8_t, size> flat() {
    std::array<std::uint8_t, size> list{};
    for (std::uint8_t& weight : list) weight = 16;
    return list;
  }

  std::array<std::uint8_t, 16> luma4x4 = flat<16>();  // Intra_4x4 and Intra_16x16
  std::array<std::uint8_t, 16> cb4x4 = flat<16>();
  std::array<std::uint8_t, 16> cr4x4 = flat<16>();
  std::array<std::uint8_t, 64> luma8x8 = flat<64>();  // Intra_8x8

  bool operator==(const ScalingLists&) const = default;
};

// The lists that the standard gives as defaults (H.264 tables 7-3 and 7-4), which grow with the frequency.
ScalingLists jvt_scaling_lists();

// Reads lists in the form of the JM's and x264's files: "NAME =" and sixteen or sixty-four numbers in raster
// order, which commas, spaces or ends of lines separate; "#" begins a comment. NAME is INTRA4X4_LUMA,
// INTRA4X4_CHROMAU, INTRA4X4_CHROMAV, INTRA4X4_CHROMA for both, or INTRA8X8_LUMA; a list that is missing is
// flat. The other lists of such files are checked, but intra pictures in 4:2:0 do not use them. Throws
// Error(invalid_argument), which names the line.
ScalingLists parse_scaling_lists(std::string_view text);

// With a larger weight of luma4x4's DC, FFmpeg's decoder rounds Intra_16x16's DC coefficients wrongly at some
// QPs on x86 (seen in version 5.1; its portable code is right). Encoders warn of it.
inline constexpr int kMaxCommonDcWeight = 28;

// parse_scaling_lists refuses texts that are longer.
inline constexpr std::size_t kMaxScalingListText = 65536;

}  // namespace cu264
