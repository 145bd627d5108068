// How many samples a macroblock has, and how its blocks are numbered.
#pragma once

namespace cu264::core {

// By the samples of one chroma plane of a macroblock (H.264 6.2: MbWidthC, MbHeightC). Its coded blocks have
// slots in the order of the bitstream (H.264 7.3.5.3).
template <int kMbWidthC, int kMbHeightC>
struct LayoutOf {
  static constexpr int kLumaSamples = 256;
  static constexpr int kChromaSamples = kMbWidthC * kMbHeightC;  // of one plane
  static constexpr int kSamples = kLumaSamples + 2 * kChromaSamples;

  static constexpr int kLumaBlocks = 16;
  static constexpr int kChromaAcBlocks = 2 * kChromaSamples / 16;
  static constexpr int kSlotLumaDc = 0;  // Intra16x16DCLevel
  static constexpr int kSlotLuma = 1;    // + luma4x4BlkIdx: LumaLevel4x4, Intra16x16ACLevel
  static constexpr int kSlotChromaDc = kSlotLuma + kLumaBlocks;  // + iCbCr
  static constexpr int kSlotChromaAc = kSlotChromaDc + 2;        // + 4 * iCbCr + blkIdx
  static constexpr int kSlots = kSlotChromaAc + kChromaAcBlocks;
};

// 4:2:0, the only format so far.
using MacroblockLayout = LayoutOf<8, 8>;

}  // namespace cu264::core
