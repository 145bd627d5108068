// Codes one slice of a picture into its RBSP: slice header, macroblock layers, trailing bits (H.264 7.3.2.8).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bits.h"
#include "core/block.h"
#include "core/coded_picture.h"
#include "core/slice_header.h"

namespace cu264::entropy {

// What is counted of a slice.
struct SliceStats {
  std::uint32_t intra4x4_mbs = 0;
  std::uint32_t intra8x8_mbs = 0;
  std::uint32_t intra16x16_mbs = 0;
  std::uint32_t pcm_mbs = 0;
  std::uint32_t inter_mbs = 0;      // P_Skip included
  std::uint64_t header_bits = 0;    // macroblock headers and mb_skip_run
  std::uint64_t residual_bits = 0;  // levels and I_PCM samples
  std::uint64_t bins = 0;           // of CABAC; 0 with CAVLC
};

// The most bytes that code_slice writes for this many macroblocks: the encoder keeps each macroblock within
// 3200 bits (H.264 A.3.1), and I_PCM takes at most 9 + 7 + 3072 bits.
std::size_t max_slice_rbsp_bytes(int macroblocks);

void count_macroblock(core::MacroblockKind kind, SliceStats& stats);

void put_slice_header(core::SliceHeaderBits header, core::BitWriter& writer);

// `header_bits` holds the slice header, `header_length` bits, right-aligned; where it has more than 64 bits,
// the leading ones are zeros. The writer ends byte-aligned.
void code_slice(const core::CodedPictureView& picture, int slice, std::uint64_t header_bits,
                int header_length, core::BitWriter& writer, SliceStats& stats);

}  // namespace cu264::entropy
