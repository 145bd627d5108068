// Writes the macroblocks of a group as one run of bits. Each lane writes the bits of one macroblock.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/cuda/warp.cuh"
#include "core/bit_run.h"
#include "core/bits.h"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/macroblock_lane.cuh"
#include "entropy/cavlc/source_samples.cuh"
#include "entropy/cavlc/word_sink.cuh"
#include "entropy/cavlc/zero_watch.cuh"

namespace cu264::entropy {

// Writes a lane's bits to global memory, each word when it is full.
struct LaneSink {
  BitQueue queue;
  std::uint32_t* d_next;
  std::uint32_t others;  // a mask of the bits in front of the lane's first bit in its word
  ZeroWatch zeros;

  __device__ __forceinline__ LaneSink(std::uint32_t* d_words, std::uint32_t position)
      : d_next(d_words + (position >> 5)), others(~(~0u >> (position & 31))) {
    queue.count = static_cast<int>(position & 31);
  }
  __device__ __forceinline__ void put(std::uint32_t bits, int count) {
    if (!queue.push(bits, count)) return;
    const std::uint32_t word = queue.pop();
    *d_next++ = word;
    zeros.see(word | others);
    others = 0;
  }
  // Call this after the last bit. Returns the number of zeros that the bits end in; 32 stands for 32 or
  // more.
  __device__ __forceinline__ int look_at_rest() {
    const std::uint32_t full = zeros.last, rest = queue.rest() | others;
    zeros.see(rest | ~0u >> queue.count);
    zeros.see(~0u);
    return __clz(static_cast<int>(__brev(__funnelshift_l(rest, full, queue.count))));
  }
};

// The same for words that hold zeros, where there may be gaps between the bits of two lanes.
struct OrSink {
  BitQueue queue;
  std::uint32_t* d_next;

  __device__ __forceinline__ OrSink(std::uint32_t* d_words, std::uint32_t position)
      : d_next(d_words + (position >> 5)) {
    queue.count = static_cast<int>(position & 31);
  }
  __device__ __forceinline__ void put(std::uint32_t bits, int count) {
    if (queue.push(bits, count)) atomicOr(d_next++, queue.pop());
  }
  __device__ __forceinline__ void finish() const {
    if (queue.count > 0) atomicOr(d_next, queue.rest());
  }
};

// All lanes of a warp use it together. Each has a macroblock whose `length` bits are written by put(sink).
// The length of an I_PCM macroblock is that of mb_type; the writer itself writes mb_type and the samples.
// `s_edges` holds 33 words. kInter: the batch has P pictures. Then mb_skip_run may come before a macroblock,
// put(sink) also puts mb_type of I_PCM macroblocks, and macroblocks may have no bits at all.
template <bool kInter = false>
class GroupWriter {
 public:
  __device__ __forceinline__ GroupWriter(const core::BatchView& batch, const GroupBits& bits,
                                         const Group& group, std::uint32_t* s_edges, int lane)
      : batch_(batch),
        group_(group),
        d_words_(bits.words_of(batch, group)),
        d_record_(bits.records + group.index),
        s_edges_(s_edges),
        lane_(lane) {}

  // join(record, begin) may write the whole group: record.before bits, in which the lane's
  // macroblock begins at bit `begin`. It returns whether it did. It is not called for groups that hold I_PCM
  // macroblocks. `outside` of the bits need not have room where the macroblock's own are.
  template <class Put, class Join>
  __device__ __forceinline__ void write(const MacroblockLane& mb, int header_length, int length,
                                        const Put& put, const Join& join, int outside = 0) {
    using core::MacroblockKind;
    GroupRecord record;
    const auto lanes_of = [&](MacroblockKind kind) {
      return __ballot_sync(kAllLanes, mb.exists && mb.record.kind == kind);
    };
    const unsigned pcm = lanes_of(MacroblockKind::pcm);
#pragma unroll
    for (int kind = 0; kind < core::kMacroblockKinds; ++kind) {
      record.mbs[kind] = static_cast<std::uint8_t>(__popc(lanes_of(static_cast<MacroblockKind>(kind))));
    }
    record.header_bits = static_cast<std::uint16_t>(warp_sum(static_cast<std::uint32_t>(header_length)));
    record.broken = __any_sync(kAllLanes, length - outside > 32 * kMacroblockWords);
    if (record.broken == 0) {
      if (pcm == 0) {
        std::uint32_t end = static_cast<std::uint32_t>(length);
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
          const std::uint32_t before = __shfl_up_sync(kAllLanes, end, step);
          if (lane_ >= step) end += before;
        }
        record.before = __shfl_sync(kAllLanes, end, 31);
        const std::uint32_t begin = end - static_cast<std::uint32_t>(length);
        if (!join(record, begin)) write_by_lanes(record, begin, length, put);
      } else {
        write_parts(record, mb, length, put);
      }
    }
    if (lane_ == 0) *reinterpret_cast<uint4*>(d_record_) = *reinterpret_cast<const uint4*>(&record);
    __syncwarp();
  }

 private:
  // A word is stored by the lane that completes it. That lane adds from s_edges the bits that earlier lanes
  // have in the word.
  template <class Put>
  __device__ __forceinline__ void write_by_lanes(GroupRecord& record, std::uint32_t begin, int length,
                                                 const Put& put) {
    const std::uint32_t bits = record.before;
    s_edges_[lane_] = 0;
    if (lane_ == 0) s_edges_[32] = 0;
    __syncwarp();
    LaneSink sink(d_words_, begin);
    std::uint32_t* const d_first = sink.d_next;
    put(sink);
    __syncwarp();
    const bool full = sink.d_next != d_first;
    const unsigned later = __ballot_sync(kAllLanes, full) & ~1u << lane_;
    if (sink.queue.count > 0) {
      const std::uint32_t rest = sink.queue.rest();
      if (rest != 0) atomicOr(s_edges_ + (later != 0 ? __ffs(static_cast<int>(later)) - 1 : 32), rest);
    }
    __syncwarp();
    if (full && s_edges_[lane_] != 0) atomicOr(d_first, s_edges_[lane_]);
    if (lane_ == 0 && (bits & 31) != 0) d_words_[bits >> 5] = s_edges_[32];
    // No mb_type other than I_PCM begins with more zeros (H.264 9.1, table 7-11), nor does mb_skip_run where
    // there is one: no level has more than 2^18 - 2 macroblocks in a picture (table A-1). Both have a one.
    constexpr int kMaxLeadingZeros = kInter ? 17 : 4;
    const int zeros_last = sink.look_at_rest();
    record.may_escape =
        __any_sync(kAllLanes, sink.zeros.found || zeros_last + kMaxLeadingZeros >= kEscapeZeros);
    record.zeros_first = kMaxLeadingZeros;
    record.zeros_last =
        static_cast<std::uint8_t>(min(__shfl_sync(kAllLanes, zeros_last, last_lane(length)), 31));
  }

  // The lane that writes the last bits.
  __device__ __forceinline__ int last_lane(int length) const {
    if constexpr (!kInter) return group_.end - group_.first - 1;
    return max(31 - __clz(static_cast<int>(__ballot_sync(kAllLanes, length > 0))), 0);
  }

  // Writes a group that holds I_PCM macroblocks. Such groups are rare, so simple code is better than fast
  // code.
  template <class Put>
  __device__ __forceinline__ void write_parts(GroupRecord& record, const MacroblockLane& mb, int length,
                                              const Put& put) {
    const bool pcm = mb.exists && mb.record.kind == core::MacroblockKind::pcm;
    core::BitRun run;
    run.before = static_cast<std::uint64_t>(length);
    run.aligned = pcm;
    if (pcm) run.after = kPcmSampleBits;
    for (int step = 1; step < 32; step *= 2) {
      core::BitRun before;
      before.before = __shfl_up_sync(kAllLanes, run.before, step);
      before.after = __shfl_up_sync(kAllLanes, run.after, step);
      before.aligned = __shfl_up_sync(kAllLanes, static_cast<int>(run.aligned), step) != 0;
      if (lane_ >= step) run = core::followed_by(before, run);
    }
    core::BitRun before;
    before.before = __shfl_up_sync(kAllLanes, run.before, 1);
    before.after = __shfl_up_sync(kAllLanes, run.after, 1);
    before.aligned = __shfl_up_sync(kAllLanes, static_cast<int>(run.aligned), 1) != 0;
    if (lane_ == 0) before = core::BitRun();
    record.before = static_cast<std::uint32_t>(__shfl_sync(kAllLanes, run.before, 31));
    record.after = static_cast<std::uint32_t>(__shfl_sync(kAllLanes, run.after, 31)) & 0x7fffffffu;
    record.aligned = 1;
    const std::uint32_t second = (record.before + 31) / 32 * 32;  // where the aligned part begins
    const std::uint32_t words = (second + record.after + 31) / 32;
    for (std::uint32_t word = static_cast<std::uint32_t>(lane_); word < words; word += 32) d_words_[word] = 0;
    __syncwarp();
    const auto position = static_cast<std::uint32_t>(before.aligned ? second + before.after : before.before);
    OrSink sink(d_words_, position);
    if (pcm && !kInter) {
      core::put_ue(sink, core::kMbTypePcm);
    } else {
      put(sink);
    }
    sink.finish();
    const std::uint32_t type_end = position + static_cast<std::uint32_t>(length);
    const std::uint32_t samples = before.aligned ? (type_end + 7) & ~7u : second;
    for (unsigned rest = __ballot_sync(kAllLanes, pcm); rest != 0; rest &= rest - 1) {
      const int m = __ffs(static_cast<int>(rest)) - 1;
      put_samples(group_.first + m, __shfl_sync(kAllLanes, samples, m));
    }
  }

  // Writes the samples of an I_PCM macroblock from a byte boundary on. All lanes must call this.
  __device__ void put_samples(int mb, std::uint32_t position) {
    const core::SourcePicture& source = batch_.sources[group_.picture];
    for (int i = lane_; i < kPcmSampleBits / 8; i += 32) {
      const std::uint32_t sample = pcm_sample(batch_, source, mb % batch_.mb_width, mb / batch_.mb_width, i);
      const std::uint32_t bit = position + 8 * static_cast<std::uint32_t>(i);
      if (sample != 0) atomicOr(d_words_ + (bit >> 5), sample << (24 - (bit & 31)));
    }
  }

  const core::BatchView& batch_;
  const Group& group_;
  std::uint32_t* const d_words_;
  GroupRecord* const d_record_;
  std::uint32_t* const s_edges_;
  const int lane_;
};

}  // namespace cu264::entropy
