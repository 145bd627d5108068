// The bytes of NAL units (H.264 7.3.1, annex B), a warp a group.
#include "entropy/launch_check.cuh"
#include "entropy/pack/escapes.cuh"
#include "entropy/pack/group_payload.cuh"
#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {
namespace {

constexpr int kThreads = 128;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr std::uint8_t kIdrSliceHeader = 3 << 5 | 5;  // nal_ref_idc 3, nal_unit_type 5

// Of a slice's groups before the `index`-th, whose d_escapes are. All lanes.
__device__ std::uint32_t escapes_before(const std::uint32_t* d_escapes, std::uint32_t index, int lane) {
  std::uint32_t sum = 0;
#pragma unroll 4
  for (int i = lane - static_cast<int>(index); i < 0; i += 32) sum += d_escapes[i];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
  return sum;
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

// Most groups: pairs of words of the output, which are bytes of the RBSP in their order. Those from `first`
// to `last` lie within the group's string, and with 65 bits of it there, so that three words can be read.
__device__ __forceinline__ void write_plain(const PackJob& job, const GroupPayload& payload,
                                            std::uint8_t* d_out, int lane) {
  const int skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(d_out) & 7);
  const int lead = 8 * skew + payload.lead();
  const int first = (lead + 63) >> 6, last = max(first, (lead + payload.group().before - 1) >> 6);
  const int begin = 64 * first - lead;
  const std::uint32_t* d_from = words_of(job, payload.group()) + (begin >> 5) + 2 * lane;
  auto* d_to = reinterpret_cast<uint2*>(d_out - skew) + first + lane;
#pragma unroll 1
  for (int left = last - first - lane; left > 0; left -= 32, d_from += 64, d_to += 32) {
    const std::uint32_t words[3] = {d_from[0], d_from[1], d_from[2]};
    *d_to = {__byte_perm(__funnelshift_l(words[1], words[0], begin), 0, 0x0123),
             __byte_perm(__funnelshift_l(words[2], words[1], begin), 0, 0x0123)};
  }
  // The words on both sides.
  const int words = (skew + payload.bytes() + 3) >> 2;
  for (int i = lane; i < 2 * (first - last) + words; i += 32) {
    write_word(payload, d_out, 4 * (i < 2 * first ? i : i + 2 * (last - first)) - skew);
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
    int written = bytes + __popc(escapes);
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int before = __shfl_up_sync(kAllLanes, written, step);
      if (lane >= step) written += before;
    }
    std::uint8_t* d_to = d_out + written - bytes - __popc(escapes);
    for (int k = 0; k < bytes; ++k) {
      if ((escapes >> k) & 1) *d_to++ = core::kEmulationPreventionByte;
      *d_to++ = byte_of(word, k);
    }
    d_out += __shfl_sync(kAllLanes, written, 31);
  }
}

__global__ void __launch_bounds__(kThreads)
    write_groups(const __grid_constant__ PackJob job, std::uint32_t groups) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const std::uint32_t group = (blockIdx.x * kThreads + threadIdx.x) / 32;
  if (group >= groups) return;
  const GroupPayload payload(job, group);
  const SliceRecord& slice = payload.slice();
  if (payload.bytes() == 0 || job.pictures[slice.picture].failure != 0) return;
  std::uint8_t* const d_payload = job.stream + slice.offset + slice.prefix_bytes;
  if (payload.is_first() && lane < static_cast<int>(slice.prefix_bytes)) {
    d_payload[-1 - lane] = lane == 0 ? kIdrSliceHeader : lane == 1 ? 1 : 0;
  }
  std::uint8_t* d_out = d_payload + payload.first_byte();
  const std::uint32_t* const d_escapes = job.scratch.escapes + group;
  if (slice.escapes != 0) d_out += escapes_before(d_escapes, payload.group().index, lane);
  if (slice.escapes == 0 || *d_escapes == 0) {
    write_plain(job, payload, d_out, lane);
  } else {
    write_escaped(payload, d_out, lane);
  }
}

}  // namespace

void launch_write(const PackJob& job, cudaStream_t stream) {
  const auto groups = static_cast<std::uint32_t>(job.layout.groups());
  const std::uint32_t warps_a_block = kThreads / 32;
  write_groups<<<(groups + warps_a_block - 1) / warps_a_block, kThreads, 0, stream>>>(job, groups);
  check_launch("write_groups");
}

}  // namespace cu264::entropy
