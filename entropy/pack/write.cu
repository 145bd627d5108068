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

// Escapes of a slice before one of its groups. All lanes.
__device__ std::uint32_t escapes_before(const PackJob& job, std::uint32_t group, int lane) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = group - group % job.layout.groups_a_slice + lane; i < group; i += 32) {
    sum += job.scratch.escapes[i];
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
  return sum;
}

// Most groups: words of the output, which are bytes of the RBSP in their order.
__device__ void write_plain(const GroupPayload& payload, std::uint8_t* d_out, int lane) {
  const int bytes = payload.bytes(), skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(d_out) & 3);
  for (int i = 4 * lane - skew; i < bytes; i += 4 * 32) {
    const std::uint32_t word = payload.word_at(i);
    if (i >= 0 && i + 4 <= bytes) {
      *reinterpret_cast<std::uint32_t*>(d_out + i) = __byte_perm(word, 0, 0x0123);
    } else {
      for (int k = max(0, -i); k < min(4, bytes - i); ++k) d_out[i + k] = byte_of(word, k);
    }
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

__global__ void __launch_bounds__(kThreads) write_groups(const __grid_constant__ PackJob job) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const std::uint32_t group = (blockIdx.x * kThreads + threadIdx.x) / 32;
  if (group >= job.layout.groups()) return;
  const std::uint32_t slice_index = group / job.layout.groups_a_slice;
  const SliceRecord& slice = job.scratch.slices[slice_index];
  const GroupPayload payload(job, group, slice);
  if (payload.bytes() == 0 || job.pictures[slice_index / job.batch.slices].failure != 0) return;
  std::uint8_t* const d_payload = job.stream + slice.offset + slice.prefix_bytes;
  if (group % job.layout.groups_a_slice == 0 && lane < static_cast<int>(slice.prefix_bytes)) {
    d_payload[-1 - lane] = lane == 0 ? kIdrSliceHeader : lane == 1 ? 1 : 0;
  }
  std::uint8_t* d_out = d_payload + payload.first_byte();
  if (slice.escapes != 0) d_out += escapes_before(job, group, lane);
  if (slice.escapes == 0 || job.scratch.escapes[group] == 0) {
    write_plain(payload, d_out, lane);
  } else {
    write_escaped(payload, d_out, lane);
  }
}

}  // namespace

void launch_write(const PackJob& job, cudaStream_t stream) {
  const std::size_t warps_a_block = kThreads / 32;
  const auto blocks = static_cast<unsigned>((job.layout.groups() + warps_a_block - 1) / warps_a_block);
  write_groups<<<blocks, kThreads, 0, stream>>>(job);
  check_launch("write_groups");
}

}  // namespace cu264::entropy
