// A macroblock in a lane: its header and the nC of its blocks, four blocks to an instruction.
//
// Of four blocks in a 2x2 arrangement, a quad, in the order of their numbers, one byte each: A of the bytes
// is the left quad's second and the quad's own first, and so on. core/mb_syntax.h and core/slot_neighbours.h
// say the same a block at a time.
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

// Where a quad's neighbours are not available.
struct QuadEdges {
  bool no_left = false, no_above = false;
};

// nC of a quad (9.2.1) from TotalCoeff; a quad that is not available holds zeros.
__device__ __forceinline__ std::uint32_t quad_nc(std::uint32_t own, std::uint32_t left, std::uint32_t above,
                                                 QuadEdges edges) {
  const std::uint32_t a = quad_left_of(own, left), b = quad_above(own, above);
  // Where one of the two is missing it is zero, and the other takes its place.
  return __vavgu4(a | (edges.no_left ? b & kLeftBytes : 0), b | (edges.no_above ? a & kTopBytes : 0));
}

// predIntra4x4PredMode of a quad (8.3.1.1).
__device__ __forceinline__ std::uint32_t quad_predicted_modes(std::uint32_t own, std::uint32_t left,
                                                              std::uint32_t above, QuadEdges edges) {
  const std::uint32_t missing = (edges.no_left ? kLeftBytes : 0) | (edges.no_above ? kTopBytes : 0);
  const std::uint32_t smaller = __vminu4(quad_left_of(own, left), quad_above(own, above));
  return (smaller & ~missing) | (0x01010101u * core::kIntra4x4Dc & missing);
}

// 0x80 in each byte that is at least `least`, 1 to 128; no byte exceeds 128.
__device__ __forceinline__ std::uint32_t bytes_from(std::uint32_t bytes, std::uint32_t least) {
  return (bytes + (128 - least) * 0x01010101u) & 0x80808080u;
}

// What is coded of a quad's modes: rem_intra4x4_pred_mode in the bytes where `differs` is 1, elsewhere the
// predicted mode (and `rem` is rubbish).
struct QuadCodes {
  std::uint32_t rem, differs;
};
__device__ __forceinline__ QuadCodes quad_codes(std::uint32_t modes, std::uint32_t predicted) {
  // Modes are small: bytes neither borrow nor carry.
  const std::uint32_t differs = bytes_from(modes ^ predicted, 1) >> 7;
  const std::uint32_t above = ((modes | 0x80808080u) - predicted - 0x01010101u) >> 7 & 0x01010101u;
  return {modes - above, differs};
}

// Length of coeff_token without coefficients for four nC from 0 to 16; half of it is coeff_token's column.
__device__ __forceinline__ std::uint32_t empty_lengths(std::uint32_t nC) {
  return 0x01010101u + (bytes_from(nC, 2) >> 7) + ((bytes_from(nC, 4) >> 7) + (bytes_from(nC, 8) >> 7)) * 2;
}

// TotalCoeff of a macroblock, as it lies in memory.
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

// What a macroblock's syntax needs of those beside and above it, zeros where there is none.
struct Neighbours {
  Counts left{}, above{};
  std::uint32_t left_modes[2] = {};   // of quads 1 and 3
  std::uint32_t above_modes[2] = {};  // of quads 2 and 3
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
    // Without the last word, which nobody needs: its register would be used for something else, and that
    // would wait for it.
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

  // Into the L2 cache, for whichever warp will want it soon: the record and the counts of a macroblock kAhead
  // further on. Twice as far, and levels that are read in between begin to push them out again.
  __device__ __forceinline__ void prefetch_ahead(const core::BatchView& batch) const {
#if defined(__CUDA_ARCH__)
    constexpr std::size_t kAhead = 512 * kGroup;
    const std::size_t mb = mb_ + kAhead;
    if (mb >= static_cast<std::size_t>(batch.pictures) * batch.macroblocks_per_picture()) return;
    asm volatile("prefetch.global.L2 [%0];" : : "l"(batch.macroblocks + mb));
    asm volatile("prefetch.global.L2 [%0];" : : "l"(batch.total_coeff + mb * core::kTotalCoeffStride));
#endif
  }
  // By slot: in the bitstream and not empty.
  __device__ __forceinline__ std::uint32_t nonzero() const {
    return core::coded_slots(record) & record.nonzero_blocks;
  }
  // Zeros if there is no macroblock.
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

  // By slot, a byte each: what an empty block takes, 0 where there is none; two more bytes than slots.
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
    const std::uint32_t chroma_dc = pattern >= 1 << 4 ? 0x00020200u : 0;  // the token is 01
    lengths[0] = quads[0] << 8 | dc;
#pragma unroll
    for (int i = 1; i < 4; ++i) lengths[i] = __byte_perm(quads[i - 1], quads[i], 0x6543);
    lengths[4] = quads[3] >> 24 | chroma_dc | cb << 24;
    lengths[5] = __byte_perm(cb, cr, 0x4321);
    lengths[6] = cr >> 8;
  }

  // core::put_macroblock_header. kModeCodes: BatchView::mode_codes.
  template <bool kModeCodes, class Sink>
  __device__ __forceinline__ void put_header(Sink& sink, const Neighbours& neighbours) const {
    core::put_ue(sink, static_cast<std::uint32_t>(core::mb_type(record)));
    if (record.kind == core::MacroblockKind::intra4x4) {
      if constexpr (kModeCodes) {
        put_mode_codes(sink);
      } else {
        put_modes(sink, neighbours);
      }
    }
    core::put_macroblock_header_end(sink, record);
  }

  // The header of a macroblock with other modes: `changed` is the record but for those of Intra_4x4 blocks,
  // and changed_rem(quad, rem) what is coded instead of a quad's rem_intra4x4_pred_mode.
  template <class Sink, class ChangedRem>
  __device__ __forceinline__ void put_changed_header(Sink& sink, const Neighbours& neighbours,
                                                     const core::MacroblockRecord& changed,
                                                     const ChangedRem& changed_rem) const {
    core::put_ue(sink, static_cast<std::uint32_t>(core::mb_type(changed)));
    if (record.kind == core::MacroblockKind::intra4x4) {
      each_quad_of_modes(neighbours, [&](int i, std::uint32_t modes, std::uint32_t predicted) {
        const QuadCodes codes = quad_codes(modes, predicted);
        put_quad_codes(sink, changed_rem(i, codes.rem), codes.differs);
      });
    }
    core::put_macroblock_header_end(sink, changed);
  }

  // visit(quad, modes, predicted modes) of an Intra_4x4 macroblock.
  template <class Visit>
  __device__ __forceinline__ void each_quad_of_modes(const Neighbours& n, const Visit& visit) const {
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

  template <class Sink>
  __device__ __forceinline__ void put_modes(Sink& sink, const Neighbours& neighbours) const {
    each_quad_of_modes(neighbours, [&](int, std::uint32_t modes, std::uint32_t predicted) {
      const QuadCodes codes = quad_codes(modes, predicted);
      put_quad_codes(sink, codes.rem, codes.differs);
    });
  }

  template <class Sink>
  __device__ __forceinline__ void put_mode_codes(Sink& sink) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t codes = quad(record, i);
      put_quad_codes(sink, codes, ~(codes >> 7) & 0x01010101u);
    }
  }

  // rem_intra4x4_pred_mode where a byte of `differs` is 1, else the predicted mode.
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
