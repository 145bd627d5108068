// A lane that holds a macroblock writes its header and computes the nC of its blocks, four blocks with each
// instruction.
//
// A quad is a 2x2 arrangement of four blocks, one byte each, in the order of their numbers. The left
// neighbours (A) of the four blocks, for instance, are the second and fourth bytes of the left quad and the
// first and third bytes of the quad itself. core/mb_syntax.h and core/slot_neighbours.h do the same one
// block at a time.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "common/cuda/warp.cuh"
#include "core/bits.h"
#include "core/block.h"
#include "core/device_batch.h"
#include "core/mb_syntax.h"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/word_sink.cuh"

namespace cu264::entropy {

inline constexpr std::uint32_t kLeftBytes = 0x00ff00ffu, kTopBytes = 0x0000ffffu;

__device__ __forceinline__ std::uint32_t quad_left_of(std::uint32_t own, std::uint32_t left) {
  return __byte_perm(own, left, 0x2705);
}
__device__ __forceinline__ std::uint32_t quad_above(std::uint32_t own, std::uint32_t above) {
  return __byte_perm(own, above, 0x1076);
}

// Says which neighbours of a quad are not available.
struct QuadEdges {
  bool no_left = false, no_above = false;
};

// nC of a quad (H.264 9.2.1) from TotalCoeff. For quads that are not available, the arguments are zero.
__device__ __forceinline__ std::uint32_t quad_nc(std::uint32_t own, std::uint32_t left, std::uint32_t above,
                                                 QuadEdges edges) {
  const std::uint32_t a = quad_left_of(own, left), b = quad_above(own, above);
  // A neighbour that is missing counts as zero, and the other neighbour takes its place.
  return __vavgu4(a | (edges.no_left ? b & kLeftBytes : 0), b | (edges.no_above ? a & kTopBytes : 0));
}

// predIntra4x4PredMode of a quad (H.264 8.3.1.1).
__device__ __forceinline__ std::uint32_t quad_predicted_modes(std::uint32_t own, std::uint32_t left,
                                                              std::uint32_t above, QuadEdges edges) {
  const std::uint32_t missing = (edges.no_left ? kLeftBytes : 0) | (edges.no_above ? kTopBytes : 0);
  const std::uint32_t smaller = __vminu4(quad_left_of(own, left), quad_above(own, above));
  return (smaller & ~missing) | (0x01010101u * core::kIntra4x4Dc & missing);
}

// Returns 0x80 in each byte that is at least `least` (1 to 128). No byte may exceed 128.
__device__ __forceinline__ std::uint32_t bytes_from(std::uint32_t bytes, std::uint32_t least) {
  return (bytes + (128 - least) * 0x01010101u) & 0x80808080u;
}

// The codes of a quad's modes. Where `differs` is 1, the byte of `rem` is rem_intra4x4_pred_mode; elsewhere
// the predicted mode is used and the byte of `rem` is undefined.
struct QuadCodes {
  std::uint32_t rem, differs;
};
__device__ __forceinline__ QuadCodes quad_codes(std::uint32_t modes, std::uint32_t predicted) {
  // Modes are so small that bytes neither borrow nor carry.
  const std::uint32_t differs = bytes_from(modes ^ predicted, 1) >> 7;
  const std::uint32_t above = ((modes | 0x80808080u) - predicted - 0x01010101u) >> 7 & 0x01010101u;
  return {modes - above, differs};
}

// The lengths of coeff_token of empty blocks for four nC from 0 to 16. Half of such a length is
// coeff_token's column.
__device__ __forceinline__ std::uint32_t empty_lengths(std::uint32_t nC) {
  return 0x01010101u + (bytes_from(nC, 2) >> 7) + ((bytes_from(nC, 4) >> 7) + (bytes_from(nC, 8) >> 7)) * 2;
}

// TotalCoeff of all blocks of a macroblock, in the layout of global memory.
struct Counts {
  std::uint32_t words[8];

  __device__ __forceinline__ std::uint32_t luma(int quad) const {
    return __byte_perm(words[quad], words[quad + 1], 0x4321);
  }
  __device__ __forceinline__ std::uint32_t chroma(int component) const {
    return __byte_perm(words[4 + component], words[5 + component], 0x6543);
  }
};

__device__ __forceinline__ Counts load_counts(const core::BatchView& batch, std::size_t mb) {
  const uint4* const d = reinterpret_cast<const uint4*>(batch.total_coeff + mb * core::kTotalCoeffStride);
  const uint4 low = __ldg(d), high = __ldg(d + 1);
  return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

// The properties of the macroblocks to the left and above that a macroblock's syntax depends on; zeros if
// there is none.
struct Neighbours {
  Counts left{}, above{};
  std::uint32_t left_modes[2] = {};   // modes of quads 1 and 3
  std::uint32_t above_modes[2] = {};  // modes of quads 2 and 3
};

struct MacroblockLane {
  bool exists = false;
  int index = 0;  // in the picture
  QuadEdges edges;
  core::MacroblockRecord record;

  __device__ __forceinline__ MacroblockLane(const core::BatchView& batch, const Group& group, int lane)
      : exists(group.first + lane < group.end), index(group.first + lane) {
    if (!exists) return;
    mb_ = static_cast<std::size_t>(group.picture) * batch.macroblocks_per_picture() + index;
    edges = {index % batch.mb_width == 0, index - group.slice_first < batch.mb_width};
    const uint4* const d = reinterpret_cast<const uint4*>(batch.macroblocks + mb_);
    // The last word is not loaded because nobody needs it: the compiler would use its register for something
    // else, which would then have to wait for the load.
    const auto* const d_rest = reinterpret_cast<const uint2*>(d + 1);
    const uint4 first = __ldg(d);
    const uint2 rest = __ldg(d_rest);
    const std::uint32_t parts[8] = {first.x,
                                    first.y,
                                    first.z,
                                    first.w,
                                    rest.x,
                                    rest.y,
                                    __ldg(reinterpret_cast<const std::uint32_t*>(d_rest + 1)),
                                    0};
    std::memcpy(&record, parts, sizeof(record));
  }

  // Prefetches the record and the counts of the macroblock kAhead further on into the L2 cache, for
  // whichever warp needs them soon. If kAhead were twice as large, levels that are read in between would
  // begin to displace them.
  __device__ __forceinline__ void prefetch_ahead(const core::BatchView& batch) const {
#if defined(__CUDA_ARCH__)
    constexpr std::size_t kAhead = 512 * kGroup;
    const std::size_t mb = mb_ + kAhead;
    if (mb >= static_cast<std::size_t>(batch.pictures) * batch.macroblocks_per_picture()) return;
    asm volatile("prefetch.global.L2 [%0];" : : "l"(batch.macroblocks + mb));
    asm volatile("prefetch.global.L2 [%0];" : : "l"(batch.total_coeff + mb * core::kTotalCoeffStride));
#endif
  }
  // Where there are P pictures.
  __device__ __forceinline__ const core::MotionRecord& motion(const core::BatchView& batch) const {
    return batch.motion[mb_];
  }
  // The mask of slots that are in the bitstream and not empty.
  __device__ __forceinline__ std::uint32_t nonzero() const {
    return core::coded_slots(record) & record.nonzero_blocks;
  }
  // The counts are zero if there is no macroblock.
  __device__ __forceinline__ Counts counts(const core::BatchView& batch) const {
    return exists ? load_counts(batch, mb_) : Counts{};
  }
  __device__ __forceinline__ Neighbours neighbours(const core::BatchView& batch) const {
    Neighbours n;
    const core::MacroblockRecord* const d_own = batch.macroblocks + mb_;
    if (exists && !edges.no_left) {
      n.left = load_counts(batch, mb_ - 1);
      n.left_modes[0] = quad(d_own[-1], 1), n.left_modes[1] = quad(d_own[-1], 3);
    }
    if (exists && !edges.no_above) {
      const core::MacroblockRecord& above = d_own[-batch.mb_width];
      n.above = load_counts(batch, mb_ - batch.mb_width);
      n.above_modes[0] = quad(above, 2), n.above_modes[1] = quad(above, 3);
    }
    return n;
  }

  // Writes one byte for each slot: the number of bits that an empty block takes there, or 0 if the block is
  // not in the bitstream. There is one byte more than there are slots.
  __device__ __forceinline__ void lengths_if_empty(const Counts& own, const Neighbours& neighbours,
                                                   std::uint32_t (&lengths)[7]) const {
    const Counts &left = neighbours.left, &above = neighbours.above;
    const std::uint32_t luma[4] = {own.luma(0), own.luma(1), own.luma(2), own.luma(3)};
    const std::uint32_t first = empty_lengths(quad_nc(luma[0], left.luma(1), above.luma(2), edges));
    const int pattern = record.kind == core::MacroblockKind::pcm ? 0 : record.coded_block_pattern;
    const auto if_coded = [pattern](int bit, std::uint32_t quad) { return (pattern >> bit) & 1 ? quad : 0; };
    const std::uint32_t quads[4] = {
        if_coded(0, first),
        if_coded(1, empty_lengths(quad_nc(luma[1], luma[0], above.luma(3), {false, edges.no_above}))),
        if_coded(2, empty_lengths(quad_nc(luma[2], left.luma(3), luma[0], {edges.no_left, false}))),
        if_coded(3, empty_lengths(quad_nc(luma[3], luma[2], luma[1], {})))};
    const std::uint32_t dc = record.kind == core::MacroblockKind::intra16x16 ? first & 0xff : 0;
    std::uint32_t cb = 0, cr = 0;
    if (pattern >= 2 << 4) {
      cb = empty_lengths(quad_nc(own.chroma(0), left.chroma(0), above.chroma(0), edges));
      cr = empty_lengths(quad_nc(own.chroma(1), left.chroma(1), above.chroma(1), edges));
    }
    const std::uint32_t chroma_dc = pattern >= 1 << 4 ? 0x00020200u : 0;  // an empty block's token is 01
    lengths[0] = quads[0] << 8 | dc;
#pragma unroll
    for (int i = 1; i < 4; ++i) lengths[i] = __byte_perm(quads[i - 1], quads[i], 0x6543);
    lengths[4] = quads[3] >> 24 | chroma_dc | cb << 24;
    lengths[5] = __byte_perm(cb, cr, 0x4321);
    lengths[6] = cr >> 8;
  }

  // Does what core::put_macroblock_header does. kModeCodes is BatchView::mode_codes.
  template <bool kModeCodes, class Sink>
  __device__ __forceinline__ void put_header(Sink& sink, const Neighbours& neighbours) const {
    core::put_ue(sink, static_cast<std::uint32_t>(core::mb_type(record)));
    put_header_rest<kModeCodes>(sink, neighbours);
  }
  // The same without mb_type.
  template <bool kModeCodes, class Sink>
  __device__ __forceinline__ void put_header_rest(Sink& sink, const Neighbours& neighbours) const {
    core::put_transform_size_flag(sink, record);
    if (core::is_i_nxn(record.kind)) {
      if constexpr (kModeCodes) {
        put_mode_codes(sink);
      } else {
        put_modes(sink, neighbours);
      }
    }
    core::put_macroblock_header_end(sink, record);
  }

  // Writes the header of a macroblock with other modes. `changed` is the record with all changes except
  // those of the modes of I_NxN; changed_rem(quad, rem) returns what is coded instead of a quad's
  // rem_intra4x4_pred_mode or, in Intra_8x8, of the only quad's rem_intra8x8_pred_mode.
  template <class Sink, class ChangedRem>
  __device__ __forceinline__ void put_changed_header(Sink& sink, const Neighbours& neighbours,
                                                     const core::MacroblockRecord& changed,
                                                     const ChangedRem& changed_rem) const {
    core::put_ue(sink, static_cast<std::uint32_t>(core::mb_type(changed)));
    core::put_transform_size_flag(sink, record);
    if (core::is_i_nxn(record.kind)) {
      each_quad_of_modes(neighbours, [&](int i, std::uint32_t modes, std::uint32_t predicted) {
        const QuadCodes codes = quad_codes(modes, predicted);
        put_quad_codes(sink, changed_rem(i, codes.rem), codes.differs);
      });
    }
    core::put_macroblock_header_end(sink, changed);
  }

  // Calls visit(quad, modes, predicted modes) for each quad of an Intra_4x4 macroblock, or once for the four
  // blocks of Intra_8x8.
  template <class Visit>
  __device__ __forceinline__ void each_quad_of_modes(const Neighbours& n, const Visit& visit) const {
    if (record.kind == core::MacroblockKind::intra8x8) {
      // The block to the left of an 8x8 block's first row, and the one above its first column.
      const std::uint32_t modes = quad_of_large_blocks(),
                          left = __byte_perm(n.left_modes[0], n.left_modes[1], 0x5010),
                          above = __byte_perm(n.above_modes[0], n.above_modes[1], 0x6200);
      visit(0, modes, quad_predicted_modes(modes, left, above, edges));
      return;
    }
    std::uint32_t own[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) own[i] = quad(record, i);
    visit(0, own[0], quad_predicted_modes(own[0], n.left_modes[0], n.above_modes[0], edges));
    visit(1, own[1], quad_predicted_modes(own[1], own[0], n.above_modes[1], {false, edges.no_above}));
    visit(2, own[2], quad_predicted_modes(own[2], n.left_modes[1], own[0], {edges.no_left, false}));
    visit(3, own[3], quad_predicted_modes(own[3], own[2], own[1], {}));
  }

 private:
  __device__ __forceinline__ static std::uint32_t quad(const core::MacroblockRecord& mb, int i) {
    std::uint32_t modes;
    std::memcpy(&modes, __builtin_assume_aligned(mb.intra4x4_pred_mode + 4 * i, sizeof(modes)),
                sizeof(modes));
    return modes;
  }

  // The bytes of the four 8x8 blocks.
  __device__ __forceinline__ std::uint32_t quad_of_large_blocks() const {
    const std::uint32_t top = __byte_perm(quad(record, 0), quad(record, 1), 0x0040);
    return __byte_perm(top, __byte_perm(quad(record, 2), quad(record, 3), 0x0040), 0x5410);
  }

  template <class Sink>
  __device__ __forceinline__ void put_modes(Sink& sink, const Neighbours& neighbours) const {
    each_quad_of_modes(neighbours, [&](int, std::uint32_t modes, std::uint32_t predicted) {
      const QuadCodes codes = quad_codes(modes, predicted);
      put_quad_codes(sink, codes.rem, codes.differs);
    });
  }

  template <class Sink>
  __device__ __forceinline__ void put_mode_codes(Sink& sink) const {
    const auto put = [&sink](std::uint32_t codes) {
      put_quad_codes(sink, codes, ~(codes >> 7) & 0x01010101u);
    };
    if (record.kind == core::MacroblockKind::intra8x8) return put(quad_of_large_blocks());
#pragma unroll
    for (int i = 0; i < 4; ++i) put(quad(record, i));
  }

  // Writes rem_intra4x4_pred_mode where a byte of `differs` is 1, and otherwise that the predicted mode is
  // used.
  template <class Sink>
  __device__ __forceinline__ static void put_quad_codes(Sink& sink, std::uint32_t rem,
                                                        std::uint32_t differs) {
    const std::uint32_t values = (rem & differs * 0xff) | (differs ^ 0x01010101u);
    const std::uint32_t lengths = 0x01010101u + 3 * differs;
    std::uint32_t bits = 0, length = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t n = (lengths >> (8 * i)) & 0xff;
      bits = bits << n | ((values >> (8 * i)) & 0xff);
      length += n;
    }
    sink.put(bits, static_cast<int>(length));
  }

  std::size_t mb_ = 0;
};

}  // namespace cu264::entropy
