// Writes the bytes of NAL units (H.264 7.3.1, annex B). A warp takes several groups. First, each lane
// computes where one group goes; then all lanes together copy one group after the other; finally, a few lanes
// for each group write what remains at its ends.
#include <cstdint>

#include "common/cuda/error_check.h"
#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"
#include "entropy/pack/group_payload.cuh"
#include "entropy/pack/pack_stages.cuh"
#include "entropy/pack/write_payload.cuh"

namespace cu264::entropy {
namespace {

constexpr int kThreads = 128;

// The number of escapes in the slice before the lane's group. That group is the `index`-th of the slice and
// has `own` escapes; d_first holds the number of escapes of the first lane's group. All lanes must call this.
__device__ std::uint32_t escapes_before(const std::uint32_t* d_first, int index, std::uint32_t own,
                                        int lane) {
  std::uint32_t sum = 0;  // before the first lane's group
#pragma unroll 4
  for (int i = lane - from_lane(index, 0); i < 0; i += 32) sum += d_first[i];
  sum = warp_sum(sum);
  const std::uint32_t lanes = scan_lanes(own, Plus()) - own;
  const std::uint32_t before_slice = from_lane(lanes, max(lane - index, 0));
  return index <= lane ? lanes - before_slice : lanes + sum;
}

// Pairs of output words that lie within a group's bits: those from bit `shift` of word `from` on. The
// last pair is not the end of the group, so that another word follows it.
struct Pairs {
  std::uint64_t from;  // index in the words of all groups
  std::uint64_t to;    // byte offset in the stream
  int count;
  int shift;
};

template <class Payload>
__device__ __forceinline__ Pairs pairs_of(const PackJob& job, const Payload& payload, std::uint64_t out) {
  const int skew = static_cast<int>((reinterpret_cast<std::uintptr_t>(job.stream) + out) & 7);
  const int lead = 8 * skew + payload.lead(), first = (lead + 63) >> 6, begin = 64 * first - lead;
  Pairs pairs;
  pairs.from = 4 * std::uint64_t{payload.group().words} + (begin >> 5);
  pairs.to = out + (8 * first - skew);
  pairs.count = max((payload.group().before - begin - 1) >> 6, 0);
  pairs.shift = begin & 31;
  return pairs;
}

// All lanes must call this.
__device__ __forceinline__ void write_pairs(const PackJob& job, const Pairs& pairs, int lane) {
  const std::uint32_t* const d_from = job.scratch.coded.words + pairs.from;
  auto* const d_to = reinterpret_cast<uint2*>(job.stream + pairs.to);
  constexpr int kAtOnce = 4;  // pairs whose loads overlap
  for (int begin = lane; begin - lane < pairs.count; begin += 32 * kAtOnce) {
    std::uint32_t words[kAtOnce][3];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int i = begin + 32 * k;
      if (i >= pairs.count) break;
#pragma unroll
      for (int j = 0; j < 3; ++j) words[k][j] = __ldg(d_from + 2 * i + j);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int i = begin + 32 * k;
      if (i >= pairs.count) break;
      d_to[i] = {__byte_perm(__funnelshift_l(words[k][1], words[k][0], pairs.shift), 0, 0x0123),
                 __byte_perm(__funnelshift_l(words[k][2], words[k][1], pairs.shift), 0, 0x0123)};
    }
  }
}

// Writes the words on both sides of the pairs, which begin at byte `begin`, with `lanes` lanes.
template <class Payload>
__device__ __forceinline__ void write_sides(const Payload& payload, std::uint8_t* d_out, int begin, int pairs,
                                            int lane, int lanes) {
  const int end = begin + 8 * pairs;
  const int before = (begin + 3) >> 2, words = before + max((payload.bytes() - end + 3) >> 2, 0);
  for (int i = lane; i < words; i += lanes) {
    write_word(payload, d_out, 4 * (i - before) + (i < before ? begin : end));
  }
}

// kInter: the batch has P pictures.
template <bool kInter>
__global__ void __launch_bounds__(kThreads) write_groups(const __grid_constant__ PackJob job) {
  const int lane = static_cast<int>(threadIdx.x) & 31, log2 = job.warp_groups_log2;
  const std::uint32_t first = (blockIdx.x * kThreads + threadIdx.x) / 32 << log2;
  if (first >= job.groups) return;
  const std::uint32_t group = min(first + lane, job.groups - 1), escapes = job.scratch.escapes[group];
  const GroupPayload<kInter> own(job, group);
  const SliceRecord& slice = own.slice();
  const bool written = lane >> log2 == 0 && first + lane < job.groups && own.bytes() != 0 && slice.lost == 0;
  std::uint64_t out = slice.offset + slice.prefix_bytes + own.first_byte();
  if (__any_sync(kAllLanes, written && slice.escapes != 0)) {
    out += escapes_before(job.scratch.escapes + first, static_cast<int>(own.group().index), escapes, lane);
  }
  if (written && own.is_first()) write_prefix(job.stream + out, slice);
  const Pairs pairs = pairs_of(job, own, out);
  const unsigned escaped = __ballot_sync(kAllLanes, written && escapes != 0);
  const unsigned plain = __ballot_sync(kAllLanes, written) & ~escaped;
  for (unsigned rest = plain; rest != 0; rest &= rest - 1) {
    write_pairs(job, from_lane(pairs, __ffs(static_cast<int>(rest)) - 1), lane);
  }
  const int other = lane >> (5 - log2), count = from_lane(pairs.count, other);
  const int begin = from_lane(static_cast<int>(pairs.to - out), other);
  const std::uint64_t others = from_lane(out, other);
  if ((plain >> other & 1) != 0) {
    write_sides(GroupPayload<kInter>(job, first + other), job.stream + others, begin, count,
                lane & (31 >> log2), 32 >> log2);
  }
  for (unsigned rest = escaped; rest != 0; rest &= rest - 1) {
    const int i = __ffs(static_cast<int>(rest)) - 1;
    write_escaped(GroupPayload<kInter>(job, first + i), job.stream + from_lane(out, i), lane);
  }
}

}  // namespace

void launch_write(const PackJob& job, cudaStream_t stream) {
  const auto write = job.batch.motion != nullptr ? write_groups<true> : write_groups<false>;
  write<<<job.blocks_of(kThreads / 32), kThreads, 0, stream>>>(job);
  check_launch("write_groups");
}

}  // namespace cu264::entropy
