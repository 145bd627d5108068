// Lays out the memory of a chain.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "common/cuda/arena.h"
#include "core/motion_limits.h"
#include "encoder/cuda/inter/chain_view.h"

namespace cu264::encoder::cuda {

inline DevicePlane take_plane(Arena& arena, int width, int height, int pad) {
  const auto padded = [pad](int side) {
    return static_cast<std::size_t>(side) + 2 * static_cast<std::size_t>(pad);
  };
  const std::size_t pitch = aligned(padded(width), kPlaneAlignment);
  std::uint8_t* const all = arena.take(pitch * padded(height) + kPlaneAlignment);
  DevicePlane plane;
  plane.pitch = static_cast<int>(pitch);
  plane.samples = all + static_cast<std::ptrdiff_t>(pad) * plane.pitch + pad;
  return plane;
}

// The view of a chain whose memory the arena hands out. `codes_again`: its pictures may be coded again.
inline ChainView take_chain(Arena& arena, int mb_width, int mb_height, bool codes_again = false) {
  ChainView chain;
  for (int i = 0; i < ChainView::kSizes; ++i) {
    chain.source[i] = take_plane(arena, 16 * mb_width >> i, 16 * mb_height >> i, core::kReferencePad);
    chain.before[i] = take_plane(arena, 16 * mb_width >> i, 16 * mb_height >> i, core::kReferencePad);
  }
  const auto take_reference = [&](auto& luma, auto& chroma) {
    for (DevicePlane& plane : luma)
      plane = take_plane(arena, 16 * mb_width, 16 * mb_height, core::kReferencePad);
    for (DevicePlane& plane : chroma)
      plane = take_plane(arena, 8 * mb_width, 8 * mb_height, core::kReferencePad / 2);
  };
  take_reference(chain.luma, chain.chroma);
  if (codes_again) {
    take_reference(chain.next_luma, chain.next_chroma);
  } else {
    std::copy(std::begin(chain.luma), std::end(chain.luma), chain.next_luma);
    std::copy(std::begin(chain.chroma), std::end(chain.chroma), chain.next_chroma);
  }
  const std::size_t mbs = static_cast<std::size_t>(mb_width) * static_cast<std::size_t>(mb_height);
  const std::size_t regions =
      static_cast<std::size_t>((mb_width + 1) / 2) * static_cast<std::size_t>((mb_height + 1) / 2);
  chain.quarter = arena.take<core::MotionVector>(regions);
  chain.half = arena.take<core::MotionVector>(mbs);
  for (core::MotionVector*& pass : chain.whole) pass = arena.take<core::MotionVector>(mbs);
  chain.whole_before = arena.take<core::MotionVector>(mbs);
  chain.blocks = arena.take<core::MotionVector>(4 * mbs);
  chain.refined = arena.take<PartitionVectors>(mbs);
  chain.choices = arena.take<InterChoice>(mbs);
  for (core::MotionRecord*& field : chain.fields) field = arena.take<core::MotionRecord>(mbs);
  return chain;
}

}  // namespace cu264::encoder::cuda
