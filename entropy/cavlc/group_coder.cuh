// A warp codes a group of macroblocks in four steps:
//
// clang-format off
//   list    Each lane lists the blocks of one macroblock that are not empty. Blocks with many levels come
//           first, so that blocks with equally many levels are coded together.
//   survey  Each lane computes the header of its macroblock and the nC of its blocks, while the first levels
//           are being copied.
//   code    Each lane codes listed blocks.
//   join    Each lane moves listed blocks to the positions that a scan of the lengths gives (group_joiner.cuh).
//           If the group has too many bits for that, each lane writes one macroblock (group_writer.cuh).
// clang-format on
//
// Where there are so few groups that each can have a thread block, all warps of the block `code` together, as
// a team, and the first of them does the other steps.
//
// A SymbolTransform may replace symbols of the group with others whose codes have the same length
// (encoder/cuda/cipher_transform.cuh). NoSymbolTransform shows its interface.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/bit_ops.h"
#include "entropy/cavlc/block_coder.cuh"
#include "entropy/cavlc/block_list.cuh"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/group_joiner.cuh"
#include "entropy/cavlc/group_shared.cuh"
#include "entropy/cavlc/group_writer.cuh"
#include "entropy/cavlc/macroblock_lane.cuh"
#include "entropy/cavlc/p_header.cuh"
#include "entropy/cavlc/word_sink.cuh"

namespace cu264::entropy {

using core::BatchView;
using core::MacroblockKind;

inline constexpr int kMaxBlocks = 1024;  // thread blocks that are launched at most; enough for any GPU
// The number of thread blocks on a multiprocessor that a kernel is compiled for. Turing's shared memory has
// room for one.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
CU264_HD constexpr int blocks_per_sm(int) {
  return 1;
}
#else
CU264_HD constexpr int blocks_per_sm(int elsewhere) {
  return elsewhere;
}
#endif

// Leaves a group's symbols as they are. Another SymbolTransform also has these functions, which are called
// before the group's bits are written: put_header(sink, mb, neighbours) writes the header of the lane's
// macroblock; key(macroblock, slot), called by all lanes, loads the key of a block; settle(key) is called
// when that load has finished.
struct NoSymbolTransform : NoBlockTransform {
  static constexpr int kBlocksPerSm = 6;  // as many as shared memory has room for
  struct Plan {};                         // the parameters of a launch
  __device__ __forceinline__ NoSymbolTransform(const Plan&, const BatchView&, const MacroblockLane&,
                                               const std::uint32_t* /*d_words*/, int /*lane*/) {}
  __device__ __forceinline__ Key key(int, int) const { return {}; }
};

struct CodeJob {
  BatchView batch;
  GroupLayout layout;
  GroupBits bits;
  const std::uint32_t* zeros_and_runs;
  std::uint32_t* ticket;
  std::uint32_t* spill;  // [warp][kWarpWords] or [team][kTeamWords]
};

// Stores the words of the block that a lane codes.
struct BlockStore {
  std::uint32_t* d_more;

  __device__ __forceinline__ void operator()(int index, std::uint32_t word) const { *at(index) = word; }
  __device__ __forceinline__ std::uint32_t* at(int index) const { return d_more + 32 * index; }
};

// Returns the address through a shuffle: the compiler then keeps it in registers and does not compute it
// again for each use. All lanes must call this.
template <class T>
__device__ __forceinline__ T* warp_uniform(T* address) {
  return reinterpret_cast<T*>(__shfl_sync(kAllLanes, reinterpret_cast<unsigned long long>(address), 0));
}

// kTeam warps code the group: one warp, or all warps of the thread block. kInter: the batch has P pictures,
// whose symbols are not transformed.
template <int kTeam, class SymbolTransform, bool kInter>
class GroupCoder {
  using Header = std::conditional_t<kInter, PHeader, HeaderBits>;
  static_assert(!(kInter && SymbolTransform::kAny));

 public:
  __device__ __forceinline__ GroupCoder(const CodeJob& job, const typename SymbolTransform::Plan& plan,
                                        const Group& group, const LevelCodes& s_level_codes,
                                        BlockShared& s_block, int warp, std::uint32_t* d_spill, int lane)
      : batch_(job.batch),
        plan_(plan),
        bits_(job.bits),
        group_(group),
        s_(object_at<GroupShared>(own_address(&s_block.warps[kTeam == 1 ? warp : 0], 0, lane))),
        s_spilled_(s_block.spilled[kTeam == 1 ? warp : 0]),
        tables_{job.zeros_and_runs, s_level_codes.address(), SharedTokens(s_block.token_codes)},
        copies_(s_block.warps[warp].levels, lane),
        d_spill_(warp_uniform(d_spill)),
        d_more_(d_spill_ + kSpillWords + (kTeam == 1 ? 0 : warp * kMoreWords) + lane),
        d_levels_(warp_uniform(
            reinterpret_cast<const BlockLevels*>(batch_.levels) +
            (static_cast<std::size_t>(group.picture) * batch_.macroblocks_per_picture() + group.first) *
                kBlocksPerMacroblock)),
        lane_(lane),
        rank_(kTeam == 1 ? 0 : warp) {}

  // `s_listed` is shared by the team.
  __device__ __forceinline__ void run(int& s_listed) {
    const MacroblockLane mb(batch_, group_, lane_);
    const SymbolTransform transform(plan_, batch_, mb, bits_.words_of(batch_, group_), lane_);
    const Counts counts = mb.counts(batch_);
    const Neighbours neighbours = mb.neighbours(batch_);
    if (rank_ == 0) {
      const std::uint32_t nonzero = mb.exists ? mb.nonzero() : 0;
      listed_ = list_blocks(nonzero, slots_from(counts, kSomeLevels), slots_from(counts, kManyLevels), lane_,
                            s_.list);
      if (kTeam > 1 && lane_ == 0) s_listed = listed_;
    }
    wait_for_team();
    if (kTeam > 1) listed_ = s_listed;
    begin_copies();
    Header header;
    if (rank_ == 0) header = survey(mb, counts, neighbours, transform);
    intra16x16_ = __ballot_sync(kAllLanes, mb.exists && mb.record.kind == MacroblockKind::intra16x16);
    if (kTeam == 1) mb.prefetch_ahead(batch_);
    wait_for_team();
    code(transform);
    wait_for_team();
    if (rank_ != 0) return;
    const int beyond = s_.bits_beyond(lane_);
    int length = header.length + beyond;
#pragma unroll
    for (int i = 0; i < kLengthWords; ++i) {
      length =
          static_cast<int>(__dp4a(s_.lengths[lane_][i], 0x01010101u, static_cast<std::uint32_t>(length)));
    }
    GroupWriter<kInter>(batch_, bits_, group_, s_.joined.words, lane_)
        .write(
            mb, header.length, length,
            [&](auto& sink) { put(sink, header, mb.nonzero() | 3u << core::kSlotChromaDc); },
            [&](GroupRecord& record, std::uint32_t begin) {
              if (record.before > 32 * kJoinedWords || __any_sync(kAllLanes, beyond != 0)) return false;
              const GroupJoiner joiner(s_, d_spill_, lane_);
              joiner.write(
                  record, bits_.words_of(batch_, group_), begin, header.length,
                  [&] { join_header(joiner, begin, header); }, empty_with_zeros_, listed_);
              return true;
            },
            outside_of_layer(header));
  }

 private:
  static constexpr int kStep = 32 * kTeam;  // from one block of a lane to its next one

  __device__ __forceinline__ static void wait_for_team() {
    if constexpr (kTeam == 1) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }

  // mb_skip_run is not part of macroblock_layer, which has a limit. The macroblocks that it skips leave more
  // room than it needs, but for the one bit of a run of 0.
  __device__ __forceinline__ static int outside_of_layer(const HeaderBits&) {
    return 0;
  }
  __device__ __forceinline__ static int outside_of_layer(const PHeader& header) {
    return max(header.run_length - 1, 0);
  }

  __device__ __forceinline__ static void join_header(const GroupJoiner& joiner, std::uint32_t begin,
                                                     const HeaderBits& header) {
#pragma unroll
    for (int i = 0; i < HeaderBits::kWords; ++i) {
      if (i > 0 || header.length_of(0) > 0) {
        joiner.put(begin + header.length_before(i), left_aligned(~header.words[i], header.length_of(i)));
      }
    }
  }
  __device__ __forceinline__ static void join_header(const GroupJoiner& joiner, std::uint32_t begin,
                                                     const PHeader& header) {
    header.each_word([&](int at, std::uint32_t word, int count) {
      joiner.put(begin + static_cast<std::uint32_t>(at), ~word & ~__funnelshift_rc(~0u, 0, count));
    });
  }

  // Returns the macroblock's header.
  __device__ __forceinline__ Header survey(const MacroblockLane& mb, const Counts& counts,
                                           const Neighbours& neighbours, const SymbolTransform& transform) {
    std::uint32_t lengths[kLengthWords] = {}, nonzero = 0;
    Header header;
    if constexpr (kInter) header.make(batch_, group_, mb, lane_);
    if (mb.exists) {
      mb.lengths_if_empty(counts, neighbours, lengths);
      if constexpr (SymbolTransform::kAny) {
        transform.put_header(header, mb, neighbours);
      } else if constexpr (!kInter) {
        mb.put_header<false>(header, neighbours);
      }
      nonzero = mb.nonzero();
    }
    // Half of a length is coeff_token's column. A chroma DC block that is not empty needs the length of its
    // column, too.
    lengths[4] += ((nonzero >> core::kSlotChromaDc) & 1) * (6u << 8) +
                  ((nonzero >> (core::kSlotChromaDc + 1)) & 1) * (6u << 16);
    empty_with_zeros_ = empty_blocks_with_zeros(lengths) & ~nonzero;
#pragma unroll
    for (int i = 0; i < kLengthWords; ++i) s_.lengths[lane_][i] = lengths[i];
    // The token of an empty chroma DC block is 01.
    std::uint32_t* const s_words = s_.words + lane_ * kBlocksPerMacroblock;
    s_words[core::kSlotChromaDc] = s_words[core::kSlotChromaDc + 1] = (lengths[4] & 0xff00) != 0;
    if (lane_ < kGroup / 2) s_.beyond[lane_] = 0;
    if (lane_ == 0) s_spilled_ = 0;
    return header;
  }

  // Sets `listed` to entry i of the list, if there is one, and returns where the block's levels are.
  __device__ __forceinline__ const BlockLevels* levels_at(int i, ListedBlock& listed) const {
    if (i < listed_) listed.entry = s_.list[i];
    return d_levels_ + listed.block();
  }

  // The key of block i, or of another block if there is no block i. With a SymbolTransform all lanes must
  // call this.
  __device__ __forceinline__ typename SymbolTransform::Key key_at(int i,
                                                                  const SymbolTransform& transform) const {
    if constexpr (!SymbolTransform::kAny) return {};
    const ListedBlock listed{s_.list[min(i, listed_ - 1)]};
    return transform.key(listed.m(), listed.slot());
  }

  __device__ __forceinline__ void begin_copies() {
    const int i = 32 * rank_ + lane_;
    copies_.begin(i < listed_, levels_at(i, own_));
    copies_.begin_second(i + kStep < listed_, levels_at(i + kStep, next_));
  }

  // Each lane works on three blocks at a time: it codes the first, the symbols of the second are being
  // looked up, and the levels of the third are being copied.
  __device__ __forceinline__ void code(const SymbolTransform& transform) {
    const std::uint32_t ones = pair_of_ones();
    if (listed_ == 0) return;
    int i = 32 * rank_ + lane_;
    ListedBlock own = own_, next = next_;
    typename SymbolTransform::Key key = key_at(i, transform), next_key;
    StagedLevels levels = copies_.turn();
    BlockSymbols symbols;
    // Without a SymbolTransform, lanes that have no more blocks look up whatever their memory holds; the
    // result is not used.
    const auto look_up = [&](bool there, ListedBlock block, typename SymbolTransform::Key& its_key) {
      if (!SymbolTransform::kAny || there)
        symbols = symbols_at(there, block, levels, ones, its_key, transform);
    };
    look_up(i < listed_, own, key);
#pragma unroll 1
    for (int left = listed_ - 32 * rank_; left > 0; left -= kStep, i += kStep) {
      if constexpr (SymbolTransform::kAny)
        next_key = key_at(i + kStep, transform);  // all lanes must call this
      if (lane_ < left) {
        ListedBlock later{};
        copies_.begin(i + 2 * kStep < listed_, levels_at(i + 2 * kStep, later));
        BlockSink sink{BlockStore{d_more_}};
        put_token_and_levels(sink, tables_, levels, symbols, transform, key);
        finish(own, sink, symbols);
        levels = copies_.turn();
        look_up(lane_ + kStep < left, next, next_key);
        own = next, next = later, key = next_key;
      }
      if constexpr (SymbolTransform::kAny) __syncwarp();
    }
  }

  __device__ __forceinline__ int max_num_coeff(ListedBlock block) const {
    const int m = block.m(), slot = block.slot();
    if (slot >= core::kSlotChromaDc) return slot < core::kSlotChromaAc ? 4 : 15;
    return slot >= core::kSlotLuma && ((intra16x16_ >> m) & 1) != 0 ? 15 : 16;
  }
  __device__ __forceinline__ std::uint8_t& s_length(ListedBlock block) const {
    return reinterpret_cast<std::uint8_t*>(s_.lengths)[block.length_index()];
  }

  __device__ __forceinline__ BlockSymbols symbols_at(bool there, ListedBlock block,
                                                     const StagedLevels& levels, std::uint32_t ones,
                                                     typename SymbolTransform::Key& key,
                                                     const SymbolTransform& transform) const {
    if constexpr (SymbolTransform::kAny) transform.settle(key);
    const int column = there ? s_length(block) >> 1 : 0;
    return symbols_of(
        tables_, level_signs(levels.load(), ones), column, [&] { return max_num_coeff(block); }, transform,
        key);
  }

  __device__ __forceinline__ void finish(ListedBlock block, BlockSink<BlockStore>& sink,
                                         const BlockSymbols& symbols) {
    const BitString end = end_of(symbols);
    std::uint32_t bits = sink.queue.low << end.length | end.bits;
    int length = 32 * sink.words + sink.queue.count + end.length;
    if (length > 32) {
      // A full block of fifteen levels takes this branch.
      static_assert(kFullFifteenBits + 1 > 32);
      sink.put_last(true_end(symbols, [&] { return max_num_coeff(block); }));
      length = 32 * sink.words + sink.queue.count;
      bits = length > 32 ? spill(sink, length) : sink.queue.low;
      if (length > kMaxLengthInByte) {
        atomicAdd(&s_.beyond[block.m() / 2], static_cast<std::uint32_t>(length - kMaxLengthInByte)
                                                 << (16 * (block.m() & 1)));
        length = kMaxLengthInByte;
      }
    }
    s_.words[block.block()] = bits;
    s_length(block) = static_cast<std::uint8_t>(length);
  }

  // Bit s says that the code of slot s, if the slot is empty, is not all ones: it is 01 for chroma DC, or
  // 000011 for other blocks (H.264 table 9-5).
  __device__ __forceinline__ static std::uint32_t empty_blocks_with_zeros(
      const std::uint32_t (&lengths)[kLengthWords]) {
    std::uint32_t six[kLengthWords], any = 0;
#pragma unroll
    for (int i = 0; i < kLengthWords; ++i) any |= six[i] = lengths[i] & lengths[i] >> 1 & 0x02020202u;
    std::uint32_t empty_with_zeros = (lengths[4] & 0xff00) != 0 ? 3u << core::kSlotChromaDc : 0;
    if (any != 0) {
#pragma unroll
      for (int i = 0; i < kLengthWords; ++i)
        empty_with_zeros |= __dp4a(six[i] >> 1, 0x08040201u, 0u) << (4 * i);
    }
    return empty_with_zeros;
  }

  // Copies the block's words to the spill memory and returns (their position << 10 | length).
  __device__ __forceinline__ std::uint32_t spill(BlockSink<BlockStore>& sink, int length) {
    const auto words = static_cast<std::uint32_t>(length + 31) / 32;
    std::uint32_t at = atomicAdd(&s_spilled_, words);
    if (at + words > kSpillWords) at = 0;
    std::uint32_t* d_word = d_spill_ + at;
#pragma unroll 1
    for (int i = 0; i < sink.words; ++i) *d_word++ = *sink.store.at(i);
    if (sink.queue.count > 32) *d_word++ = sink.queue.pop();
    *d_word = sink.queue.low & ~0u >> (32 - sink.queue.count);
    return at << 10 | static_cast<std::uint32_t>(length);
  }

  // Writes the lane's macroblock. `stored` is the mask of slots whose bits are in `words`, whether the block
  // is empty or not.
  template <class Sink>
  __device__ __forceinline__ void put(Sink& sink, const Header& header, std::uint32_t stored) const {
    if constexpr (kInter) {
      header.each_word([&](int, std::uint32_t word, int count) { sink.put(word >> (32 - count), count); });
    } else {
#pragma unroll
      for (int i = 0; i < HeaderBits::kWords; ++i) sink.put(header.words[i], header.length_of(i));
    }
    // The code of an empty block by its length, one hexadecimal digit each: all ones, or 000011 for six
    // bits.
    constexpr std::uint32_t kEmpty = 0x030f0310u;
#pragma unroll 1
    for (int i = 0; i < kLengthWords; ++i, stored >>= 4) {
      const std::uint32_t lengths = s_.lengths[lane_][i];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (j == 3 && i == 6) break;  // there are 27 slots
        const auto length = static_cast<int>((lengths >> (8 * j)) & 0xff);
        std::uint32_t bits = (kEmpty >> (4 * (length & 7))) & 15;
        if ((stored >> j) & 1) bits = s_.words[lane_ * kBlocksPerMacroblock + 4 * i + j];
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
  const typename SymbolTransform::Plan& plan_;
  const GroupBits& bits_;
  const Group& group_;
  GroupShared& s_;
  std::uint32_t& s_spilled_;
  const BlockTables<SharedTokens> tables_;
  LevelCopies copies_;
  std::uint32_t* const d_spill_;
  std::uint32_t* const d_more_;
  const BlockLevels* const d_levels_;
  const int lane_;
  const int rank_;  // the warp's number in its team
  unsigned intra16x16_ = 0;
  int listed_ = 0;
  ListedBlock own_{}, next_{};  // the lane's first two
  std::uint32_t empty_with_zeros_ = 0;
};

}  // namespace cu264::entropy
