// A warp codes a group of macroblocks:
//   survey  a macroblock a lane: header, nC of its blocks; its blocks that are not empty are listed, those
//   with many levels first, so that lanes with equally much to do are together
//   code    a listed block a lane
//   join    a listed block a lane again, to where a scan of lengths puts it (group_string.cuh); or, if the
//   group has too many bits for that, a macroblock a lane (group_writer.cuh)
//
// Where there are so few groups that each can have a thread block, its warps `code` together: a team. The
// first of them does the rest.
//
// On their way into the bits a Change may make other symbols of the group's, with codes as long
// (encoder/cuda/cipher_change.cuh); NoChange says what it has.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/bit_ops.h"
#include "entropy/cavlc/block_coder.cuh"
#include "entropy/cavlc/block_list.cuh"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/group_shared.cuh"
#include "entropy/cavlc/group_string.cuh"
#include "entropy/cavlc/group_writer.cuh"
#include "entropy/cavlc/macroblock_lane.cuh"
#include "entropy/cavlc/word_sink.cuh"

namespace cu264::entropy {

using core::BatchView;
using core::MacroblockKind;

inline constexpr int kMostBlocks = 1024;  // of threads at once, on any GPU
// Blocks on a multiprocessor that a kernel is compiled for; Turing's shared memory has room for one.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
CU264_HD constexpr int blocks_per_sm(int) {
  return 1;
}
#else
CU264_HD constexpr int blocks_per_sm(int elsewhere) {
  return elsewhere;
}
#endif

// A group's symbols as they are. A Change else has besides: put_header(sink, mb, batch) of the lane's
// macroblock; key(macroblock, slot) of a block, by all lanes, and settle(key) of what that loads, when it has
// arrived. All of it is called before the group's bits are written.
struct NoChange : NoBlockChange {
  // Shared memory has room for seven, but then not enough of the L1 cache is left for the code tables
  // (measured).
  static constexpr int kBlocksPerSm = 6;
  struct Plan {};  // what the kernels are launched with
  __device__ __forceinline__ NoChange(const Plan&, const BatchView&, const MacroblockLane&,
                                      const std::uint32_t* /*d_words*/, int /*lane*/) {}
  __device__ __forceinline__ Key key(int, int) const { return {}; }
};

struct CodeJob {
  BatchView batch;
  GroupLayout layout;
  GroupBits bits;
  std::uint32_t* ticket;
  std::uint32_t* spill;  // [warp][kWarpWords] or [team][kTeamWords]
};

struct HeaderSink {
  BitQueue queue;
  std::uint32_t* s_next;

  __device__ __forceinline__ void put(std::uint32_t bits, int count) {
    if (!queue.push(bits, count)) return;
    *s_next = queue.pop();
    s_next += kGroup;
  }
};

// Words of the block that a lane codes: the first ones in shared memory.
struct BlockStore {
  std::uint32_t* s_staged;
  std::uint32_t* d_more;

  __device__ __forceinline__ void operator()(int index, std::uint32_t word) const { *at(index) = word; }
  __device__ __forceinline__ std::uint32_t* at(int index) const {
    return index < kStagedWords ? s_staged + 32 * index : d_more + 32 * (index - kStagedWords);
  }
};

// Shuffled, so that the compiler does not compute the address anew for each use. All lanes.
template <class T>
__device__ __forceinline__ const T* held(const T* address) {
  return reinterpret_cast<const T*>(__shfl_sync(kAllLanes, reinterpret_cast<unsigned long long>(address), 0));
}

// kTeam warps code the group: one, or all of the block.
template <int kTeam, class Change>
class GroupCoder {
 public:
  __device__ __forceinline__ GroupCoder(const CodeJob& job, const typename Change::Plan& plan,
                                        const Group& group, Shared* s_all, int warp, std::uint32_t* d_spill,
                                        int lane)
      : batch_(job.batch),
        plan_(plan),
        bits_(job.bits),
        group_(group),
        s_(s_all[kTeam == 1 ? warp : 0]),
        s_staged_(&s_all[warp].coding.staged[0][lane]),
        s_base_(reinterpret_cast<std::uint8_t*>(s_all)),
        levels_offset_(warp * static_cast<int>(sizeof(Shared)) +
                       static_cast<int>(offsetof(Shared, coding.levels))),
        d_spill_(d_spill),
        d_more_(d_spill + kSpillWords + (kTeam == 1 ? 0 : warp * kMoreWords) + lane),
        d_levels_(
            held(batch_.levels +
                 (static_cast<std::size_t>(group.picture) * batch_.macroblocks_per_picture() + group.first) *
                     core::kLevelsPerMacroblock)),
        lane_(lane),
        rank_(kTeam == 1 ? 0 : warp) {}

  // `s_listed` is the team's.
  __device__ __forceinline__ void run(int& s_listed) {
    const MacroblockLane mb(batch_, group_, lane_);
    intra16x16_ = __ballot_sync(kAllLanes, mb.exists && mb.record.kind == MacroblockKind::intra16x16);
    const Change change(plan_, batch_, mb, bits_.words_of(batch_, group_), lane_);
    int header_length = 0;
    if (rank_ == 0) {
      header_length = survey(mb, change);
      if (kTeam > 1 && lane_ == 0) s_listed = listed_;
    }
    wait_for_team();
    if (kTeam > 1) listed_ = s_listed;
    code(change);
    wait_for_team();
    if (rank_ != 0) return;
    const int beyond = static_cast<int>(s_.surveyed.beyond[lane_]);
    int length = header_length + beyond;
#pragma unroll
    for (int i = 0; i < kLengthWords; ++i) {
      length =
          static_cast<int>(__dp4a(s_.lengths[lane_][i], 0x01010101u, static_cast<std::uint32_t>(length)));
    }
    GroupWriter(batch_, bits_, group_, s_.string, lane_)
        .write(
            mb, header_length, length,
            [&](auto& sink) { put(sink, header_length, mb.nonzero() | 3u << core::kSlotChromaDc); },
            [&](GroupRecord& record, std::uint32_t begin) {
              if (record.before > 32 * kStringWords || __any_sync(kAllLanes, beyond != 0)) return false;
              GroupString(s_, d_spill_, lane_)
                  .write(record, bits_.words_of(batch_, group_), begin, header_length, odd_, listed_);
              return true;
            });
  }

 private:
  __device__ __forceinline__ static void wait_for_team() {
    if constexpr (kTeam == 1) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }

  // Returns the length of the macroblock's header.
  __device__ __forceinline__ int survey(const MacroblockLane& mb, const Change& change) {
    std::uint32_t lengths[kLengthWords] = {}, nonzero = 0, many[3] = {};
    int header_length = 0;
    if (mb.exists) {
      const Counts counts = mb.counts(batch_);
      mb.lengths_if_empty(batch_, counts, lengths);
      HeaderSink header{{}, &s_.surveyed.header[0][lane_]};
      if constexpr (Change::kAny) {
        change.put_header(header, mb, batch_);
      } else {
        mb.put_header<false>(header, batch_);
      }
      header_length =
          32 * static_cast<int>(header.s_next - &s_.surveyed.header[0][lane_]) / kGroup + header.queue.count;
      *header.s_next = header.queue.bits & ~(~0u << header.queue.count);
      nonzero = mb.nonzero();
#pragma unroll
      for (int c = 0; c < 3; ++c) many[c] = nonzero & slots_from(counts, 2 << c);
    }
    // Half of the length is coeff_token's column, of chroma DC too if not empty.
    lengths[4] += ((nonzero >> core::kSlotChromaDc) & 1) * (6u << 8) +
                  ((nonzero >> (core::kSlotChromaDc + 1)) & 1) * (6u << 16);
    odd_ = odd_blocks(lengths) & ~nonzero;
#pragma unroll
    for (int i = 0; i < kLengthWords; ++i) s_.lengths[lane_][i] = lengths[i];
    // The token of a chroma DC block without coefficients is 01.
    s_.words[core::kSlotChromaDc][lane_] = s_.words[core::kSlotChromaDc + 1][lane_] =
        (lengths[4] & 0xff00) != 0;
    s_.surveyed.beyond[lane_] = 0;
    if (lane_ == 0) s_.spilled = 0;
    listed_ = list_blocks(nonzero, many, lane_, s_.list);
    return header_length;
  }

  struct Listed : Change::Key {
    int m, slot;
    BlockLevels levels;
  };

  // With a Change by all lanes.
  __device__ __forceinline__ Listed fetch(int i, const Change& change) const {
    const int entry = s_.list[min(i, listed_ - 1)];
    const int m = entry >> 5, slot = entry & 31;
    return {change.key(m, slot), m, slot,
            load_levels(d_levels_ + (m * core::kLevelsPerMacroblock + slot * core::kLevelsPerBlock))};
  }

  __device__ __forceinline__ void code(const Change& change) {
    const std::uint32_t ones = pair_of_ones();
    if (listed_ == 0) return;
    const int first = 32 * rank_ + lane_;
    Listed next = fetch(first, change);
#pragma unroll 1
    for (int i = first; i - lane_ < listed_; i += 32 * kTeam) {
      if constexpr (Change::kAny) {
        // Fetched by all lanes, and only when nothing waits for what was fetched before.
        change.settle(next);
        const typename Change::Key key = next;
        const int m = next.m, slot = next.slot;
        const LevelSigns signs = stage(staged_levels(), next, ones);
        next = fetch(i + 32 * kTeam, change);
        if (i < listed_) code(m, slot, key, change, signs, [](int) {});
        __syncwarp();
      } else if (i < listed_) {
        const int m = next.m, slot = next.slot;
        code(m, slot, next, change, stage(staged_levels(), next, ones),
             [&](int zero) { next = fetch(i + 32 * kTeam + zero, change); });
      }
    }
  }

  __device__ __forceinline__ StagedLevels staged_levels() const {
    return {s_base_, levels_offset_, lane_};
  }

  __device__ __forceinline__ static LevelSigns stage(const StagedLevels& levels, const Listed& block,
                                                     std::uint32_t ones) {
    levels.store(block.levels);
    return level_signs(block.levels, ones);
  }

  // A block that has been staged.
  template <class Meanwhile>
  __device__ __forceinline__ void code(int m, int slot, const typename Change::Key& key, const Change& change,
                                       const LevelSigns& signs, const Meanwhile& meanwhile) {
    std::uint8_t* const s_length = reinterpret_cast<std::uint8_t*>(s_.lengths[m]) + slot;
    // AC blocks of 15 levels, by slot.
    const std::uint32_t fifteen = (intra16x16_ >> m) & 1 ? 0x7f9fffeu : 0x7f80000u;
    int max_num_coeff = 16 - static_cast<int>((fifteen >> slot) & 1);
    if (slot >= core::kSlotChromaDc && slot < core::kSlotChromaAc) max_num_coeff = 4;
    BlockSink sink{BlockStore{s_staged_, d_more_}};
    put_nonempty_block(sink, staged_levels(), signs, max_num_coeff, *s_length >> 1, meanwhile, change, key);
    std::uint32_t bits = sink.queue.low;
    int length = sink.queue.count;
    if (length > 32 || sink.words > 0) {
      bits = spill(sink);
      length = static_cast<int>(bits & 1023);
      if (length > kLongestInByte) {
        atomicAdd(&s_.surveyed.beyond[m], static_cast<std::uint32_t>(length - kLongestInByte));
        length = kLongestInByte;
      }
    }
    s_.words[slot][m] = bits;
    *s_length = static_cast<std::uint8_t>(length);
  }

  // Bit s: if slot s is empty, its code is not all ones: 01 of chroma DC, 000011 of others (table 9-5).
  __device__ __forceinline__ static std::uint32_t odd_blocks(const std::uint32_t (&lengths)[kLengthWords]) {
    std::uint32_t six[kLengthWords], any = 0;
#pragma unroll
    for (int i = 0; i < kLengthWords; ++i) any |= six[i] = lengths[i] & lengths[i] >> 1 & 0x02020202u;
    std::uint32_t odd = (lengths[4] & 0xff00) != 0 ? 3u << core::kSlotChromaDc : 0;
    if (any != 0) {
#pragma unroll
      for (int i = 0; i < kLengthWords; ++i) odd |= __dp4a(six[i] >> 1, 0x08040201u, 0u) << (4 * i);
    }
    return odd;
  }

  // Where the block's words are << 10 | its length.
  __device__ __forceinline__ std::uint32_t spill(BlockSink<BlockStore>& sink) {
    sink.make_room();
    const auto words = static_cast<std::uint32_t>(sink.words) + 1;
    std::uint32_t at = atomicAdd(&s_.spilled, words);
    if (at + words > kSpillWords) at = 0;
    for (int i = 0; i < sink.words; ++i) d_spill_[at + i] = *sink.store.at(i);
    d_spill_[at + sink.words] = sink.queue.low & ~0u >> (32 - sink.queue.count);
    return at << 10 | static_cast<std::uint32_t>(32 * sink.words + sink.queue.count);
  }

  // The lane's macroblock; `stored`: the slots whose bits are in `words`, empty or not.
  template <class Sink>
  __device__ __forceinline__ void put(Sink& sink, int header_length, std::uint32_t stored) const {
#pragma unroll
    for (int i = 0; i < kHeaderWords; ++i) {
      const int length = max(0, min(header_length - 32 * i, 32));
      sink.put(length > 0 ? s_.surveyed.header[i][lane_] : 0, length);
    }
    // An empty block is all ones, but where six bits long 000011: a digit for each length.
    constexpr std::uint32_t kEmpty = 0x030f0310u;
#pragma unroll 1
    for (int i = 0; i < kLengthWords; ++i, stored >>= 4) {
      const std::uint32_t lengths = s_.lengths[lane_][i];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (j == 3 && i == 6) break;  // there are 27 slots
        const auto length = static_cast<int>((lengths >> (8 * j)) & 0xff);
        std::uint32_t bits = (kEmpty >> (4 * (length & 7))) & 15;
        if ((stored >> j) & 1) bits = s_.words[4 * i + j][lane_];
        if (length <= 32) {
          sink.put(bits, length);
        } else {
          put_spilled(sink, bits);
        }
      }
    }
  }

  template <class Sink>
  __device__ __forceinline__ void put_spilled(Sink& sink, std::uint32_t where) const {
    const std::uint32_t* d_word = d_spill_ + (where >> 10);
    int length = static_cast<int>(where & 1023);
#pragma unroll 1
    for (; length > 0; length -= 32) sink.put(*d_word++, min(length, 32));
  }

  const BatchView& batch_;
  const typename Change::Plan& plan_;
  const GroupBits& bits_;
  const Group& group_;
  Shared& s_;
  std::uint32_t* const s_staged_;
  std::uint8_t* const s_base_;
  const int levels_offset_;
  std::uint32_t* const d_spill_;
  std::uint32_t* const d_more_;
  const std::int16_t* const d_levels_;
  const int lane_;
  const int rank_;  // of the warp in its team
  unsigned intra16x16_ = 0;
  int listed_ = 0;
  std::uint32_t odd_ = 0;
};

}  // namespace cu264::entropy
