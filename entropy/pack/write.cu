// NAL units of a byte stream (H.264 7.3.1, annex B): their places, then their bytes.
#include <cub/block/block_scan.cuh>

#include "core/nal.h"
#include "entropy/launch_check.cuh"
#include "entropy/pack/escapes.cuh"
#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {
namespace {

constexpr int kThreads = kTileWords;
constexpr int kPlaceThreads = 512;
constexpr int kBlocksAtOnce = 2048;
constexpr std::uint8_t kIdrSliceHeader = 3 << 5 | 5;  // nal_ref_idc 3, nal_unit_type 5

// Start code and NAL unit header; zero_byte comes before the first slice of a picture (B.1.2).
__device__ std::uint32_t prefix_bytes(int slice) {
  return slice == 0 ? 5 : 4;
}

__global__ void __launch_bounds__(kPlaceThreads) place_nal_units(const __grid_constant__ PackJob job) {
  using Scan = cub::BlockScan<std::uint64_t, kPlaceThreads>;
  __shared__ typename Scan::TempStorage s_scan;
  const int slices = job.batch.pictures * job.batch.slices;
  std::uint64_t stream_bytes = 0;
  for (int chunk = 0; chunk < slices; chunk += kPlaceThreads) {
    const int slice = chunk + static_cast<int>(threadIdx.x);
    std::uint64_t bytes = 0, before = 0, all = 0;
    if (slice < slices) {
      const SliceRecord& record = job.scratch.slices[slice];
      bytes = prefix_bytes(slice % job.batch.slices) + record.rbsp_bytes() + record.escapes;
    }
    Scan(s_scan).ExclusiveSum(bytes, before, all);
    if (slice < slices) job.scratch.slices[slice].offset = stream_bytes + before;
    stream_bytes += all;
    __syncthreads();
  }
}

// A warp a picture.
__global__ void report_pictures(const __grid_constant__ PackJob job) {
  const int picture = static_cast<int>(blockIdx.x), lane = static_cast<int>(threadIdx.x);
  std::uint64_t bits = 0, header_bits = 0;
  std::uint32_t mbs[3] = {}, broken = 0;
  for (int slice = lane; slice < job.batch.slices; slice += 32) {
    const SliceRecord& record = job.slice(picture, slice);
    header_bits += record.header_bits;
    bits += record.bits - static_cast<std::uint64_t>(job.header(picture, slice).length);
    for (int kind = 0; kind < 3; ++kind) mbs[kind] += record.mbs[kind];
    broken |= record.broken;
  }
  for (int step = 16; step > 0; step /= 2) {
    header_bits += __shfl_down_sync(0xffffffffu, header_bits, step);
    bits += __shfl_down_sync(0xffffffffu, bits, step);
    for (int kind = 0; kind < 3; ++kind) mbs[kind] += __shfl_down_sync(0xffffffffu, mbs[kind], step);
    broken |= __shfl_down_sync(0xffffffffu, broken, step);
  }
  if (lane != 0) return;
  const SliceRecord& last = job.slice(picture, job.batch.slices - 1);
  const std::uint64_t end =
      last.offset + prefix_bytes(job.batch.slices - 1) + last.rbsp_bytes() + last.escapes;
  PackedPicture packed;
  packed.offset = job.slice(picture, 0).offset;
  packed.size = end - packed.offset;
  packed.header_bits = header_bits;
  packed.residual_bits = bits - header_bits;
  packed.intra4x4_mbs = mbs[0];
  packed.intra16x16_mbs = mbs[1];
  packed.pcm_mbs = mbs[2];
  packed.failure = broken != 0 ? 2 : end > job.capacity ? 1 : 0;
  job.pictures[picture] = packed;
}

__global__ void __launch_bounds__(kThreads) write_tiles(const __grid_constant__ PackJob job) {
  using Scan = cub::BlockScan<std::uint32_t, kThreads>;
  __shared__ typename Scan::TempStorage s_scan;
  const int slice = static_cast<int>(blockIdx.y), picture = static_cast<int>(blockIdx.z);
  const int thread = static_cast<int>(threadIdx.x);
  if (job.pictures[picture].failure != 0) return;
  const SliceRecord& record = job.slice(picture, slice);
  std::uint8_t* const d_payload = job.stream + record.offset + prefix_bytes(slice);
  if (blockIdx.x == 0 && thread < static_cast<int>(prefix_bytes(slice))) {
    d_payload[-1 - thread] = thread == 0 ? kIdrSliceHeader : thread == 1 ? 1 : 0;
  }
  const std::size_t first_tile = job.first_tile_of(picture, slice);
  const std::uint32_t* const d_rbsp = job.scratch.rbsp + first_tile * kTileWords;
  const std::uint64_t rbsp_bytes = record.rbsp_bytes();
  for (std::uint32_t tile = blockIdx.x; tile < record.tiles(); tile += gridDim.x) {
    const std::int64_t index = static_cast<std::int64_t>(tile) * kTileWords + thread;
    const int bytes = bytes_in_word(index, rbsp_bytes);
    const auto word_at = [&](std::int64_t i) { return d_rbsp[i]; };
    const std::uint32_t escapes = bytes > 0 ? escapes_in_word(index, bytes, word_at) : 0;
    std::uint32_t before = 0;
    Scan(s_scan).ExclusiveSum(static_cast<std::uint32_t>(__popc(escapes)), before);
    std::uint8_t* d_out = d_payload + 4 * index + job.scratch.tile_escapes[first_tile + tile] + before;
    for (int i = 0; i < bytes; ++i) {
      if ((escapes >> i) & 1) *d_out++ = core::kEmulationPreventionByte;
      *d_out++ = byte_of(word_at(index), i);
    }
    __syncthreads();
  }
}

}  // namespace

void launch_write(const PackJob& job, cudaStream_t stream) {
  const auto slices = static_cast<unsigned>(job.batch.slices);
  const auto pictures = static_cast<unsigned>(job.batch.pictures);
  place_nal_units<<<1, kPlaceThreads, 0, stream>>>(job);
  check_launch("place_nal_units");
  report_pictures<<<pictures, 32, 0, stream>>>(job);
  check_launch("report_pictures");
  const unsigned blocks_a_slice = 1 + kBlocksAtOnce / (slices * pictures);
  write_tiles<<<dim3(blocks_a_slice, slices, pictures), kThreads, 0, stream>>>(job);
  check_launch("write_tiles");
}

}  // namespace cu264::entropy
