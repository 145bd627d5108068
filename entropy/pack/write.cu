// The bytes of NAL units (H.264 7.3.1, annex B). A warp takes several groups: first a lane sees to each one's
// place, then all lanes copy one after the other, and at last a few lanes each what is left at its ends.
#include <cstdint>

#include "common/cuda/error_check.h"
#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"
#include "entropy/pack/escapes.cuh"
#include "entropy/pack/group_payload.cuh"
#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {
namespace {

constexpr int kThreads = 128;
constexpr std::uint8_t kIdrSliceHeader = 3 << 5 | 5;  // nal_ref_idc 3, nal_unit_type 5

// Of the slice before the lane's group, which is its `index`-th and has `own` of them; the first lane's are
// at d_first. All lanes.
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

// Pairs of words of the output within a group's string: its bits from the `shift`-th of word `from` on. The
// last pair is not the string's end, so that there is a word behind it.
struct Pairs {
  std::uint64_t from;  // in all groups' words
  std::uint64_t to;    // bytes in the stream
  int count;
  int shift;
};

__device__ __forceinline__ Pairs pairs_of(const PackJob& job, const GroupPayload& payload,
                                          std::uint64_t out) {
  const int skew = static_cast<int>((reinterpret_cast<std::uintptr_t>(job.stream) + out) & 7);
  const int lead = 8 * skew + payload.lead(), first = (lead + 63) >> 6, begin = 64 * first - lead;
  Pairs pairs;
  pairs.from = 4 * std::uint64_t{payload.group().words} + (begin >> 5);
  pairs.to = out + (8 * first - skew);
  pairs.count = max((payload.group().before - begin - 1) >> 6, 0);
  pairs.shift = begin & 31;
  return pairs;
}

// All lanes.
__device__ __forceinline__ void write_pairs(const PackJob& job, const Pairs& pairs, int lane) {
  const std::uint32_t* const d_from = job.scratch.coded.words + pairs.from;
  auto* const d_to = reinterpret_cast<uint2*>(job.stream + pairs.to);
  constexpr int kAtOnce = 4;  // loads of so many wait together
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

// Bytes i to i + 3, as far as there are such.
__device__ __forceinline__ void write_word(const GroupPayload& payload, std::uint8_t* d_out, int i) {
  const std::uint32_t word = payload.word_at(i);
  if (i >= 0 && i + 4 <= payload.bytes()) {
    *reinterpret_cast<std::uint32_t*>(d_out + i) = __byte_perm(word, 0, 0x0123);
    return;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if (i + k >= 0 && i + k < payload.bytes()) d_out[i + k] = byte_of(word, k);
  }
}

// The words on both sides of the pairs, the first one of which is byte `begin`, by so many lanes.
__device__ __forceinline__ void write_sides(const GroupPayload& payload, std::uint8_t* d_out, int begin,
                                            int pairs, int lane, int lanes) {
  const int end = begin + 8 * pairs;
  const int before = (begin + 3) >> 2, words = before + max((payload.bytes() - end + 3) >> 2, 0);
  for (int i = lane; i < words; i += lanes) {
    write_word(payload, d_out, 4 * (i - before) + (i < before ? begin : end));
  }
}

__device__ void write_escaped(const GroupPayload& payload, std::uint8_t* d_out, int lane) {
  const auto first = static_cast<std::int64_t>(payload.first_byte());
  const auto word_at = [&](std::int64_t at) { return payload.word_at(static_cast<int>(at - first)); };
  for (int base = 0; base < payload.bytes(); base += 4 * 32) {
    const int i = base + 4 * lane, bytes = max(0, min(payload.bytes() - i, 4));
    const std::uint32_t word = bytes > 0 ? payload.word_at(i) : 0;
    const std::uint32_t escapes = bytes > 0 ? escapes_in_word(first + i, bytes, word_at) : 0;
    __syncwarp();
    const int written = scan_lanes(bytes + __popc(escapes), Plus());
    std::uint8_t* d_to = d_out + written - bytes - __popc(escapes);
    for (int k = 0; k < bytes; ++k) {
      if ((escapes >> k) & 1) *d_to++ = core::kEmulationPreventionByte;
      *d_to++ = byte_of(word, k);
    }
    d_out += __shfl_sync(kAllLanes, written, 31);
  }
}

// Start code and header, in front of the payload.
__device__ void write_prefix(std::uint8_t* d_payload, int bytes) {
  d_payload[-1] = kIdrSliceHeader;
  d_payload[-2] = 1;
#pragma unroll 1
  for (int i = 3; i <= bytes; ++i) d_payload[-i] = 0;
}

__global__ void __launch_bounds__(kThreads) write_groups(const __grid_constant__ PackJob job) {
  const int lane = static_cast<int>(threadIdx.x) & 31, log2 = job.warp_groups_log2;
  const std::uint32_t first = (blockIdx.x * kThreads + threadIdx.x) / 32 << log2;
  if (first >= job.groups) return;
  const std::uint32_t group = min(first + lane, job.groups - 1), escapes = job.scratch.escapes[group];
  const GroupPayload own(job, group);
  const SliceRecord& slice = own.slice();
  const bool written = lane >> log2 == 0 && first + lane < job.groups && own.bytes() != 0 && slice.lost == 0;
  std::uint64_t out = slice.offset + slice.prefix_bytes + own.first_byte();
  if (__any_sync(kAllLanes, written && slice.escapes != 0)) {
    out += escapes_before(job.scratch.escapes + first, static_cast<int>(own.group().index), escapes, lane);
  }
  if (written && own.is_first()) write_prefix(job.stream + out, static_cast<int>(slice.prefix_bytes));
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
    write_sides(GroupPayload(job, first + other), job.stream + others, begin, count, lane & (31 >> log2),
                32 >> log2);
  }
  for (unsigned rest = escaped; rest != 0; rest &= rest - 1) {
    const int i = __ffs(static_cast<int>(rest)) - 1;
    write_escaped(GroupPayload(job, first + i), job.stream + from_lane(out, i), lane);
  }
}

}  // namespace

void launch_write(const PackJob& job, cudaStream_t stream) {
  write_groups<<<job.blocks_of(kThreads / 32), kThreads, 0, stream>>>(job);
  check_launch("write_groups");
}

}  // namespace cu264::entropy
