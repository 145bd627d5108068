#include "encoder/scaling_matrix.h"

#include <bit>
#include <cstdint>

#include "core/block.h"

namespace cu264::encoder {
namespace {

constexpr int kFirstLast = 8;  // lastScale before the first weight

std::size_t raster_of(std::size_t k, std::size_t size) {
  return static_cast<std::size_t>(size == 16 ? core::zigzag_to_raster(static_cast<int>(k))
                                             : core::zigzag8x8_to_raster(static_cast<int>(k)));
}

// delta_scale from one weight to the next; scales count modulo 256.
int delta_scale(int last, int next) {
  return static_cast<std::int8_t>(static_cast<std::uint8_t>(next - last));
}

int se_bits(int value) {
  const auto code = static_cast<std::uint32_t>(value > 0 ? 2 * value - 1 : -2 * value);
  return 2 * std::bit_width(code + 1) - 1;
}

// scaling_list(). A nextScale of 0 says that all further weights equal the last one, which is written where
// that is shorter than a delta of 0 (one bit) for each of them.
template <std::size_t size>
void write_list(RbspWriter& w, const std::array<std::uint8_t, size>& list) {
  std::size_t tail = size;  // the first of the equal weights at the end
  const int final_weight = list[raster_of(size - 1, size)];
  while (tail > 0 && list[raster_of(tail - 1, size)] == final_weight) --tail;
  const std::size_t repeated = size - tail - 1;  // after the first of them
  const bool stops = se_bits(delta_scale(final_weight, 0)) < static_cast<int>(repeated);
  int last = kFirstLast;
  for (std::size_t k = 0; k < (stops ? tail + 1 : size); ++k) {
    const int weight = list[raster_of(k, size)];
    w.se(delta_scale(last, weight));
    last = weight;
  }
  if (stops) w.se(delta_scale(last, 0));
}

// seq_scaling_list_present_flag and the list. Without the flag, a list is what the fall-back rule of a
// sequence parameter set says (table 7-2, rule set A); a list that begins with a nextScale of 0 is the
// default.
template <std::size_t size>
void write_list_or_fall_back(RbspWriter& w, const std::array<std::uint8_t, size>& list,
                             const std::array<std::uint8_t, size>& fall_back,
                             const std::array<std::uint8_t, size>& standard) {
  const bool present = list != fall_back;
  w.flag(present);
  if (!present) return;
  if (list == standard) {
    w.se(delta_scale(kFirstLast, 0));  // UseDefaultScalingMatrixFlag
  } else {
    write_list(w, list);
  }
}

}  // namespace

void write_scaling_matrix(RbspWriter& w, const ScalingLists& lists) {
  const bool present = lists != ScalingLists{};
  w.flag(present);  // seq_scaling_matrix_present_flag
  if (!present) return;
  const ScalingLists jvt = jvt_scaling_lists();
  write_list_or_fall_back(w, lists.luma4x4, jvt.luma4x4, jvt.luma4x4);
  write_list_or_fall_back(w, lists.cb4x4, lists.luma4x4, jvt.cb4x4);
  write_list_or_fall_back(w, lists.cr4x4, lists.cb4x4, jvt.cr4x4);
  for (int i = 0; i < 3; ++i) w.flag(false);  // inter 4x4, of no picture
  write_list_or_fall_back(w, lists.luma8x8, jvt.luma8x8, jvt.luma8x8);
  w.flag(false);  // inter 8x8
}

}  // namespace cu264::encoder
