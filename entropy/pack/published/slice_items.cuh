// The items that slices are packed of: codes of up to 512 bits, of which every thread takes one. Two kinds
// have the same members:
//
// - load(job, slice, index, thread, code): a thread's item of a slice's block-input,
// - units(job, slice): how many macroblocks or groups of a slice have their lengths looked at beforehand,
// - unit(job, slice, i): what the i-th of these does to the bit position, and its statistics,
// - pad(job, slice, i, bits): puts bits in front of the unit's aligned part.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bit_run.h"
#include "entropy/cavlc/published/block_codes.h"
#include "entropy/pack/published/slice_pack_job.cuh"

namespace cu264::entropy {

// An item in registers: its words, left-aligned, are its segments.
struct ThreadCode {
  std::uint32_t words[kThreadWords];
  std::uint32_t length = 0;

  __device__ __forceinline__ std::uint32_t length_of(int i) const {
    return static_cast<std::uint32_t>(min(max(static_cast<int>(length) - 32 * i, 0), 32));
  }
  // The i-th word without what lies after the end.
  __device__ __forceinline__ std::uint32_t segment(int i) const {
    return words[i] & ~__funnelshift_rc(~0u, 0, length_of(i));
  }
  // Loads `bits` bits with vectors (GVLE 3.2) from an address that is aligned to 16. A vector that the code
  // does not fill is read word by word, because what lies after the code has not been written.
  __device__ __forceinline__ void load_vectors(const std::uint32_t* d_words, int bits) {
    length = static_cast<std::uint32_t>(bits);
#pragma unroll
    for (int i = 0; i < kThreadWords; i += 4) {
      if (32 * (i + 3) < bits) {
        const uint4 four = *reinterpret_cast<const uint4*>(d_words + i);
        words[i] = four.x, words[i + 1] = four.y, words[i + 2] = four.z, words[i + 3] = four.w;
      } else {
#pragma unroll
        for (int k = i; k < i + 4; ++k) words[k] = 32 * k < bits ? d_words[k] : 0;
      }
    }
  }
  __device__ __forceinline__ void load_words(const std::uint32_t* d_words, int bits) {
    length = static_cast<std::uint32_t>(bits);
#pragma unroll
    for (int i = 0; i < kThreadWords; ++i) words[i] = 32 * i < bits ? d_words[i] : 0;
  }
};

// What is known about a macroblock or a group before it is packed.
struct UnitSums {
  core::BitRun run;
  std::uint32_t header_bits = 0, mbs[core::kMacroblockKinds] = {}, broken = 0;
};

// The codes of blocks, as CAVLCU leaves them, after the code of their macroblock's header. An I_PCM
// macroblock, which has no blocks, has its samples in the codes of the first six.
struct BlockItems {
  static constexpr int kItems = 1 + core::kBlocksPerMacroblock;  // of a macroblock
  static constexpr int kMacroblocks = kPackThreads / kItems;     // of a block-input
  static constexpr int kHeaderWords = 4;
  static constexpr int kPcmBlocks = kPcmSampleBits / kThreadBits;
  static_assert(kMacroblocks * kItems == kPackThreads && kPcmBlocks * kThreadBits == kPcmSampleBits);
  static_assert(kBlockWords == kThreadWords);

  BlockCodes codes;
  std::uint32_t* header_words = nullptr;    // [picture][mb][kHeaderWords], zero after the code
  std::uint16_t* header_lengths = nullptr;  // [picture][mb]

  static std::uint32_t block_inputs(const GroupLayout&, int most_macroblocks) {
    return static_cast<std::uint32_t>((most_macroblocks + kMacroblocks - 1) / kMacroblocks);
  }
  __device__ __forceinline__ void load(const SlicePackJob& job, std::uint32_t slice_index,
                                       std::uint32_t index, int thread, ThreadCode& code) const {
    const SliceSpan slice(job.pack.batch, slice_index);
    const int macroblock = static_cast<int>(index) * kMacroblocks + thread / kItems, item = thread % kItems;
    if (macroblock >= slice.macroblocks) return code.load_words(nullptr, 0);
    const std::size_t mb = slice.first + macroblock;
    if (item == 0) return code.load_vectors(header_words + mb * kHeaderWords, header_lengths[mb]);
    const std::size_t block = mb * core::kBlocksPerMacroblock + item - 1;
    code.load_vectors(codes.words + block * kBlockWords, codes.lengths[block]);
  }
  __device__ int units(const SlicePackJob& job, std::uint32_t slice_index) const {
    return SliceSpan(job.pack.batch, slice_index).macroblocks;
  }
  __device__ UnitSums unit(const SlicePackJob& job, std::uint32_t slice_index, int i) const {
    const std::size_t mb = SliceSpan(job.pack.batch, slice_index).first + i;
    const core::MacroblockKind kind = job.pack.batch.macroblocks[mb].kind;
    std::uint32_t bits = 0;
    for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot)
      bits += codes.lengths[mb * core::kBlocksPerMacroblock + slot];
    UnitSums sums;
    sums.header_bits = header_lengths[mb];
    sums.mbs[static_cast<int>(kind)] = 1;
    sums.run.aligned = kind == core::MacroblockKind::pcm;
    sums.run.before = sums.header_bits + (sums.run.aligned ? 0 : bits);
    sums.run.after = sums.run.aligned ? bits : 0;
    sums.broken = sums.header_bits + bits > 32 * kMacroblockWords ? 1 : 0;
    return sums;
  }
  __device__ void pad(const SlicePackJob& job, std::uint32_t slice_index, int i, std::uint32_t bits) const {
    header_lengths[SliceSpan(job.pack.batch, slice_index).first + i] += static_cast<std::uint16_t>(bits);
  }
};

// The bits of groups (group_bits.h), cut into pieces of 512 bits. A block-input is a group, and the bits
// that align its second part are an item of their own.
struct GroupItems {
  std::uint32_t* padding = nullptr;  // [picture][slice][group], valid for groups with an aligned part

  static std::uint32_t block_inputs(const GroupLayout& layout, int) {
    return static_cast<std::uint32_t>(layout.groups_a_slice);
  }
  __device__ static std::size_t group_index(const SlicePackJob& job, std::uint32_t slice_index, int i) {
    return static_cast<std::size_t>(slice_index) * job.pack.layout.groups_a_slice + i;
  }
  __device__ __forceinline__ void load(const SlicePackJob& job, std::uint32_t slice_index,
                                       std::uint32_t index, int thread, ThreadCode& code) const {
    code.load_words(nullptr, 0);
    const std::size_t at = group_index(job, slice_index, static_cast<int>(index));
    const Group group = group_at(job.pack.batch, job.pack.layout, static_cast<std::uint32_t>(at));
    if (group.first >= group.end) return;
    const GroupRecord record = job.pack.scratch.coded.records[at];
    const std::uint32_t* const d_words = job.pack.scratch.coded.words_of(job.pack.batch, group);
    const int before = static_cast<int>(record.before), pieces = (before + kThreadBits - 1) / kThreadBits;
    if (thread < pieces) {
      code.load_vectors(d_words + thread * kThreadWords, min(before - thread * kThreadBits, kThreadBits));
    } else if (record.aligned != 0 && thread == pieces) {
      code.length = padding[at];
    } else if (record.aligned != 0) {
      const int piece = thread - pieces - 1, rest = static_cast<int>(record.after) - piece * kThreadBits;
      if (rest > 0) {
        code.load_words(d_words + (before + 31) / 32 + piece * kThreadWords, min(rest, kThreadBits));
      }
    }
  }
  __device__ int units(const SlicePackJob& job, std::uint32_t slice_index) const {
    return (SliceSpan(job.pack.batch, slice_index).macroblocks + kGroup - 1) / kGroup;
  }
  __device__ UnitSums unit(const SlicePackJob& job, std::uint32_t slice_index, int i) const {
    const GroupRecord record = job.pack.scratch.coded.records[group_index(job, slice_index, i)];
    UnitSums sums;
    sums.broken = record.broken;
    if (sums.broken != 0) return sums;
    sums.run.before = record.before, sums.run.after = record.after, sums.run.aligned = record.aligned != 0;
    sums.header_bits = record.header_bits;
    for (int kind = 0; kind < core::kMacroblockKinds; ++kind) sums.mbs[kind] = record.mbs[kind];
    return sums;
  }
  __device__ void pad(const SlicePackJob& job, std::uint32_t slice_index, int i, std::uint32_t bits) const {
    padding[group_index(job, slice_index, i)] = bits;
  }
};

// 32 macroblocks of the largest size and the parts of words and pieces at the ends of both parts.
static_assert((kGroup * kMacroblockWords + kThreadWords - 1) / kThreadWords + 3 <= kPackThreads);

}  // namespace cu264::entropy
