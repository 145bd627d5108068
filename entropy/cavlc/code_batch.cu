// A warp codes a group of macroblocks:
//   survey  a macroblock a lane: header, nC of its blocks; its blocks that are not empty are listed, those
//   with
//           many levels first, so that lanes with equally much to do are together
//   code    a listed block a lane
//   write   a macroblock a lane: header and blocks behind one another, to where a scan of lengths puts them
//
// Where there are so few groups that each can have a thread block, its warps `code` together: a team. The
// first of them does the rest.
#include <algorithm>
#include <cstddef>

#include "core/bit_ops.h"
#include "core/cavlc_block.h"
#include "entropy/cavlc/block_coder.cuh"
#include "entropy/cavlc/block_list.cuh"
#include "entropy/cavlc/code_batch.h"
#include "entropy/cavlc/group_writer.cuh"
#include "entropy/cavlc/macroblock_lane.cuh"
#include "entropy/cavlc/word_sink.cuh"
#include "entropy/launch_check.cuh"

namespace cu264::entropy {
namespace {

using core::BatchView;
using core::kBlocksPerMacroblock;
using core::MacroblockKind;

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kMostBlocks = 1024;  // of threads at once, on any GPU
// As many as shared memory allows; Turing has less.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kBlocksPerSm = 1;
#else
constexpr int kBlocksPerSm = 7;
#endif

constexpr int kHeaderWords = 3;  // 1 + 64 + 5 + 11 + 11 bits at most
// coeff_token and trailing ones' signs, 16 levels of 28 bits, total_zeros and runs: no block exceeds 464
// bits.
constexpr int kBlockFullWords = 14;
// Of these, in shared memory; what few blocks have beyond lies with the spilled ones.
constexpr int kStagedWords = 3;
// A block beyond one word is spilled whole: macroblocks within their limit need no more words than this, and
// where one is not, the picture is lost and it does not matter what its blocks hold.
constexpr std::uint32_t kSpillWords = kGroup * (kMacroblockWords + kBlocksPerMacroblock);
constexpr std::uint32_t kMoreWords = 32 * (kBlockFullWords - kStagedWords);  // a warp's
constexpr std::uint32_t kWarpWords = kSpillWords + kMoreWords, kTeamWords = kSpillWords + kWarps * kMoreWords;
constexpr std::uint32_t kSpilled = 33;  // instead of a length

struct Shared {
  std::uint32_t words[kBlocksPerMacroblock][kGroup];  // a block's bits, or where they are << 10 | length
  std::uint32_t lengths[kGroup][7];                   // of blocks, by slot, a byte each
  std::uint32_t header[kHeaderWords][kGroup];
  std::uint32_t spilled_bits[kGroup];  // beyond kSpilled a block
  union {
    std::uint16_t list[kGroup * kBlocksPerMacroblock];  // macroblock << 5 | slot
    std::uint32_t edges[33];
  };
  alignas(32) std::uint8_t levels[StagedLevels::kWarpBytes];
  std::uint32_t staged[kStagedWords][32];  // full words of the block that a lane codes
  std::uint32_t spilled;                   // words
};
static_assert(kWarps * sizeof(Shared) <= 48 * 1024);

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

struct BlockSink {
  BitQueue queue;
  std::uint32_t* const s_staged;
  std::uint32_t* const d_more;
  int words = 0;

  __device__ __forceinline__ void put(std::uint32_t bits, int count) {
    if (!queue.push(bits, count)) return;
    const std::uint32_t word = queue.pop();
    if (words < kStagedWords) {
      s_staged[32 * words] = word;
    } else {
      d_more[32 * (words - kStagedWords)] = word;
    }
    ++words;
  }
};

// Shuffled, so that the compiler does not compute the address anew for each use. All lanes.
__device__ __forceinline__ const std::int16_t* held(const std::int16_t* address) {
  return reinterpret_cast<const std::int16_t*>(
      __shfl_sync(kAllLanes, reinterpret_cast<unsigned long long>(address), 0));
}

// kTeam warps code the group: one, or all of the block.
template <int kTeam, bool kModeCodes>
class GroupCoder {
 public:
  __device__ __forceinline__ GroupCoder(const CodeJob& job, const Group& group, Shared* s_all, int warp,
                                        std::uint32_t* d_spill, int lane)
      : batch_(job.batch),
        bits_(job.bits),
        group_(group),
        s_(s_all[kTeam == 1 ? warp : 0]),
        s_staged_(&s_all[warp].staged[0][lane]),
        s_base_(reinterpret_cast<std::uint8_t*>(s_all)),
        levels_offset_(warp * static_cast<int>(sizeof(Shared)) + static_cast<int>(offsetof(Shared, levels))),
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
    int header_length = 0;
    if (rank_ == 0) {
      header_length = survey(mb);
      if (kTeam > 1 && lane_ == 0) s_listed = listed_;
    }
    wait_for_team();
    if (kTeam > 1) listed_ = s_listed;
    code();
    wait_for_team();
    if (rank_ != 0) return;
    int length = header_length + static_cast<int>(s_.spilled_bits[lane_]);
#pragma unroll
    for (int i = 0; i < 7; ++i) {
      length =
          static_cast<int>(__dp4a(s_.lengths[lane_][i], 0x01010101u, static_cast<std::uint32_t>(length)));
    }
    GroupWriter writer(batch_, bits_, group_, s_.edges, lane_);
    writer.write(mb, header_length, length,
                 [&](auto& sink) { put(sink, header_length, mb.nonzero() | 3u << core::kSlotChromaDc); });
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
  __device__ __forceinline__ int survey(const MacroblockLane& mb) {
    std::uint32_t lengths[7] = {}, nonzero = 0, many[3] = {};
    int header_length = 0;
    if (mb.exists) {
      const Counts counts = mb.counts(batch_);
      mb.lengths_if_empty(batch_, counts, lengths);
      HeaderSink header{{}, &s_.header[0][lane_]};
      mb.put_header<kModeCodes>(header, batch_);
      header_length =
          32 * static_cast<int>(header.s_next - &s_.header[0][lane_]) / kGroup + header.queue.count;
      *header.s_next = header.queue.bits & ~(~0u << header.queue.count);
      nonzero = mb.nonzero();
#pragma unroll
      for (int c = 0; c < 3; ++c) many[c] = nonzero & slots_from(counts, 2 << c);
    }
    // Half of the length is coeff_token's column, of chroma DC too if not empty.
    lengths[4] += ((nonzero >> core::kSlotChromaDc) & 1) * (6u << 8) +
                  ((nonzero >> (core::kSlotChromaDc + 1)) & 1) * (6u << 16);
#pragma unroll
    for (int i = 0; i < 7; ++i) s_.lengths[lane_][i] = lengths[i];
    // The token of a chroma DC block without coefficients is 01.
    s_.words[core::kSlotChromaDc][lane_] = s_.words[core::kSlotChromaDc + 1][lane_] =
        (lengths[4] & 0xff00) != 0;
    s_.spilled_bits[lane_] = 0;
    if (lane_ == 0) s_.spilled = 0;
    listed_ = list_blocks(nonzero, many, lane_, s_.list);
    return header_length;
  }

  struct Listed {
    int m, slot;
    BlockLevels levels;
  };

  __device__ __forceinline__ Listed fetch(int i) const {
    const int entry = s_.list[min(i, listed_ - 1)];
    const int m = entry >> 5, slot = entry & 31;
    return {m, slot,
            load_levels(d_levels_ + (m * core::kLevelsPerMacroblock + slot * core::kLevelsPerBlock))};
  }

  __device__ __forceinline__ void code() {
    const std::uint32_t ones = pair_of_ones();
    if (listed_ == 0) return;
    Listed next = fetch(32 * rank_ + lane_);
#pragma unroll 1
    for (int i = 32 * rank_ + lane_; i < listed_; i += 32 * kTeam) {
      const Listed block = next;
      next = fetch(i + 32 * kTeam);
      code(block, ones);
    }
  }

  __device__ __forceinline__ void code(const Listed& block, std::uint32_t ones) {
    const int m = block.m, slot = block.slot;
    std::uint8_t* const s_length = reinterpret_cast<std::uint8_t*>(s_.lengths[m]) + slot;
    // AC blocks of 15 levels, by slot.
    const std::uint32_t fifteen = (intra16x16_ >> m) & 1 ? 0x7f9fffeu : 0x7f80000u;
    int max_num_coeff = 16 - static_cast<int>((fifteen >> slot) & 1);
    if (slot >= core::kSlotChromaDc && slot < core::kSlotChromaAc) max_num_coeff = 4;
    const StagedLevels levels(s_base_, levels_offset_, lane_);
    levels.store(block.levels);
    BlockSink sink{{}, s_staged_, d_more_};
    put_nonempty_block(sink, levels, level_signs(block.levels, ones), max_num_coeff, *s_length >> 1);
    std::uint32_t bits = sink.queue.bits;
    int length = sink.queue.count;
    if (sink.words > 0) {
      bits = spill(sink);
      atomicAdd(&s_.spilled_bits[m], (bits & 1023) - kSpilled);
      length = kSpilled;
    }
    s_.words[slot][m] = bits;
    *s_length = static_cast<std::uint8_t>(length);
  }

  // Where the block's words are << 10 | its length.
  __device__ __forceinline__ std::uint32_t spill(const BlockSink& sink) {
    const auto words = static_cast<std::uint32_t>(sink.words + (sink.queue.count > 0));
    std::uint32_t at = atomicAdd(&s_.spilled, words);
    if (at + words > kSpillWords) at = 0;
    for (int i = 0; i < sink.words; ++i) {
      d_spill_[at + i] = i < kStagedWords ? sink.s_staged[32 * i] : sink.d_more[32 * (i - kStagedWords)];
    }
    if (sink.queue.count > 0) d_spill_[at + sink.words] = sink.queue.bits & ~(~0u << sink.queue.count);
    return at << 10 | static_cast<std::uint32_t>(32 * sink.words + sink.queue.count);
  }

  // The lane's macroblock; `stored`: the slots whose bits are in `words`, empty or not.
  template <class Sink>
  __device__ __forceinline__ void put(Sink& sink, int header_length, std::uint32_t stored) const {
#pragma unroll
    for (int i = 0; i < kHeaderWords; ++i) {
      const int length = max(0, min(header_length - 32 * i, 32));
      sink.put(length > 0 ? s_.header[i][lane_] : 0, length);
    }
    // An empty block is all ones, but where six bits long 000011: a digit for each length.
    constexpr std::uint32_t kEmpty = 0x030f0310u;
#pragma unroll 1
    for (int i = 0; i < 7; ++i, stored >>= 4) {
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
};

template <bool kModeCodes>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm) code_groups(const __grid_constant__ CodeJob job) {
  __shared__ Shared s_shared[kWarps];
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  std::uint32_t* const d_spill = job.spill + (blockIdx.x * kWarps + warp) * std::size_t{kWarpWords};
  const auto groups = static_cast<std::uint32_t>(job.layout.groups());
  int none;
  for (;;) {
    std::uint32_t ticket = 0;
    if (lane == 0) ticket = atomicAdd(job.ticket, 1u);
    ticket = __shfl_sync(kAllLanes, ticket, 0);
    if (ticket >= groups) return;
    const Group group = group_at(job.batch, job.layout, ticket);
    if (group.first >= group.end) continue;
    GroupCoder<1, kModeCodes>(job, group, s_shared, warp, d_spill, lane).run(none);
    __syncwarp();
  }
}

// A block a group.
template <bool kModeCodes>
__global__ void __launch_bounds__(kThreads) code_groups_by_teams(const __grid_constant__ CodeJob job) {
  __shared__ Shared s_shared[kWarps];
  __shared__ int s_listed;
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  const Group group = group_at(job.batch, job.layout, blockIdx.x);
  if (group.first >= group.end) return;
  std::uint32_t* const d_spill = job.spill + blockIdx.x * std::size_t{kTeamWords};
  GroupCoder<kWarps, kModeCodes>(job, group, s_shared, warp, d_spill, lane).run(s_listed);
}

// A warp a group, a lane a macroblock.
template <bool kModeCodes>
__global__ void __launch_bounds__(kThreads)
    join_blocks(const __grid_constant__ CodeJob job, const __grid_constant__ BlockCodes codes) {
  __shared__ std::uint32_t s_edges[kWarps][33];
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  const std::size_t index = blockIdx.x * std::size_t{kWarps} + warp;
  if (index >= job.layout.groups()) return;
  const Group group = group_at(job.batch, job.layout, static_cast<std::uint32_t>(index));
  if (group.first >= group.end) return;
  const MacroblockLane mb(job.batch, group, lane);
  const std::size_t first_block =
      (static_cast<std::size_t>(group.picture) * job.batch.macroblocks_per_picture() + mb.index) *
      kBlocksPerMacroblock;
  int header_length = 0, length = 0;
  if (mb.exists) {
    core::BitCounter header;
    mb.put_header<kModeCodes>(header, job.batch);
    length = header_length = static_cast<int>(header.bits);
    for (int slot = 0; slot < kBlocksPerMacroblock; ++slot) length += codes.lengths[first_block + slot];
  }
  GroupWriter writer(job.batch, job.bits, group, s_edges[warp], lane);
  writer.write(mb, header_length, length, [&](auto& sink) {
    if (!mb.exists) return;
    mb.put_header<kModeCodes>(sink, job.batch);
    for (int slot = 0; slot < kBlocksPerMacroblock; ++slot) {
      const std::uint32_t* d_word = codes.words + (first_block + slot) * kBlockWords;
      for (int left = codes.lengths[first_block + slot]; left > 0; left -= 32) {
        const int count = min(left, 32);
        sink.put(__funnelshift_rc(*d_word++, 0, 32 - count), count);
      }
    }
  });
}

}  // namespace

std::size_t code_scratch_bytes(const GroupLayout& layout) {
  const std::size_t blocks = std::min<std::size_t>((layout.groups() + kWarps - 1) / kWarps, kMostBlocks);
  const std::size_t teams = std::min<std::size_t>(layout.groups(), kMostBlocks);
  return 256 + std::max(blocks * kWarps * kWarpWords, teams * kTeamWords) * sizeof(std::uint32_t);
}

void launch_code(const BatchView& batch, void* scratch, const GroupBits& bits, cudaStream_t stream) {
  CodeJob job;
  job.batch = batch;
  job.layout = group_layout(batch);
  job.bits = bits;
  job.ticket = static_cast<std::uint32_t*>(scratch);
  job.spill = job.ticket + 256 / sizeof(std::uint32_t);
  const auto kernel = batch.mode_codes ? code_groups<true> : code_groups<false>;
  int device = 0, multiprocessors = 0, blocks = 0;
  check_call(cudaGetDevice(&device), "cudaGetDevice");
  check_call(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  check_call(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kThreads, 0),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const std::size_t at_once =
      std::min<std::size_t>(static_cast<std::size_t>(multiprocessors) * blocks, kMostBlocks);
  // Most teams at once: while their first warps work alone the others leave room unused.
  if (job.layout.groups() <= std::min<std::size_t>(at_once + at_once / 2, kMostBlocks)) {
    const auto by_teams = batch.mode_codes ? code_groups_by_teams<true> : code_groups_by_teams<false>;
    by_teams<<<static_cast<unsigned>(job.layout.groups()), kThreads, 0, stream>>>(job);
    return check_launch("code_groups_by_teams");
  }
  const std::size_t needed = (job.layout.groups() + kWarps - 1) / kWarps;
  const auto grid = static_cast<unsigned>(std::min(needed, at_once));
  check_call(cudaMemsetAsync(job.ticket, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  kernel<<<grid, kThreads, 0, stream>>>(job);
  check_launch("code_groups");
}

void launch_join(const BatchView& batch, const BlockCodes& codes, const GroupBits& bits,
                 cudaStream_t stream) {
  CodeJob job{};
  job.batch = batch;
  job.layout = group_layout(batch);
  job.bits = bits;
  const auto kernel = batch.mode_codes ? join_blocks<true> : join_blocks<false>;
  kernel<<<static_cast<unsigned>((job.layout.groups() + kWarps - 1) / kWarps), kThreads, 0, stream>>>(job,
                                                                                                      codes);
  check_launch("join_blocks");
}

}  // namespace cu264::entropy
