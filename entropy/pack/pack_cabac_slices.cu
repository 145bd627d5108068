// Packs CABAC's slices. A slice's RBSP is cut into as many pieces as it has groups of 32
// macroblocks. The first kernel counts the emulation prevention bytes of each piece; its last thread block
// computes where the slices lie in the stream. In the second, a warp writes a piece.
#include "entropy/pack/pack_cabac_slices.h"

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "entropy/pack/cabac_payload.cuh"
#include "entropy/pack/escape_count.cuh"
#include "entropy/pack/nal_units.cuh"
#include "entropy/pack/pack_stages.cuh"
#include "entropy/pack/write_payload.cuh"

namespace cu264::entropy {
namespace {

constexpr int kWriteThreads = 128;
// Threads that count the escapes of a slice, a piece in each warp: more where a slice has many pieces.
constexpr int kFewOffsetThreads = 256, kManyOffsetThreads = 1024, kManyPieces = 64;

struct CabacPackJob {
  PackJob pack;  // without groups
  SliceBitsLayout layout;
  const CabacSliceRecord* records;
  const std::uint32_t* slice_bits;
  std::uint32_t* escapes;  // [picture][slice][piece]
  int pieces;              // of a slice

  // The slice header with cabac_alignment_one_bit.
  __device__ core::SliceHeaderBits header(std::size_t slice) const {
    core::SliceHeaderBits header = pack.headers[slice];
    const int ones = -header.length & 7;
    header.put((1u << ones) - 1, ones);
    return header;
  }
  __device__ CabacPayload payload(std::size_t slice) const {
    const auto bytes = static_cast<int>((records[slice].bits + 7) / 8);
    return CabacPayload(header(slice), slice_bits + layout.first_word_of(slice), bytes);
  }
};

int pieces_a_slice(const SliceBitsLayout& layout) {
  return (layout.most_macroblocks + kGroup - 1) / kGroup;
}

struct CabacPackScratch {
  std::uint32_t *finished_slices, *escapes;
  SliceRecord* slices;
};

CabacPackScratch carve(Arena& arena, const SliceBitsLayout& layout) {
  CabacPackScratch scratch;
  scratch.finished_slices = arena.take<std::uint32_t>(1);
  scratch.escapes =
      arena.take<std::uint32_t>(layout.slice_count() * static_cast<std::size_t>(pieces_a_slice(layout)));
  scratch.slices = arena.take<SliceRecord>(layout.slice_count());
  return scratch;
}

// Puts the cabac_zero_words of a picture after its last slice. The slices must have their escapes.
__device__ void set_zero_words(const CabacPackJob& job, int picture) {
  std::uint64_t bins = 0, bytes = 0;
  const int slices = job.pack.batch.slices;
  for (int slice = 0; slice < slices; ++slice) {
    const SliceRecord& record = job.pack.slice(picture, slice);
    bins += job.records[picture * slices + slice].bins;
    bytes += 1 + record.rbsp_bytes() + record.escapes;  // nal_unit_header has one byte
  }
  const auto macroblocks = static_cast<std::uint64_t>(job.pack.batch.macroblocks_per_picture());
  job.pack.slice(picture, slices - 1).zero_words =
      static_cast<std::uint32_t>(core::cabac_zero_words(bins, bytes, macroblocks));
}

// One thread block a slice.
template <int kThreads>
__global__ void __launch_bounds__(kThreads) find_cabac_offsets(const __grid_constant__ CabacPackJob job) {
  __shared__ std::uint32_t s_escapes;
  __shared__ bool s_last;
  const int slice = static_cast<int>(blockIdx.x), picture = static_cast<int>(blockIdx.y);
  const std::size_t index = static_cast<std::size_t>(picture) * job.pack.batch.slices + slice;
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
  const CabacSliceRecord& coded = job.records[index];
  if (threadIdx.x == 0) s_escapes = 0;
  __syncthreads();
  if (coded.broken == 0) {
    const CabacPayload payload = job.payload(index);
    for (int i = warp; i < job.pieces; i += kThreads / 32) {
      const auto escapes =
          static_cast<std::uint32_t>(count_escapes(CabacPiece(payload, i, job.pieces), 0, 1, lane));
      if (lane != 0) continue;
      job.escapes[index * job.pieces + i] = escapes;
      atomicAdd(&s_escapes, escapes);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    SliceRecord record;
    record.header = job.header(index);
    set_prefix(record, job.pack.batch, picture, slice);
    record.bits = static_cast<std::uint64_t>(record.header.length) + coded.bits - 1;
    record.escapes = s_escapes;
    for (int kind = 0; kind < core::kMacroblockKinds; ++kind) record.mbs[kind] = coded.mbs[kind];
    record.broken = coded.broken;
    job.pack.slice(picture, slice) = record;
    s_last = is_last_block(job.pack.scratch.finished_slices);
  }
  __syncthreads();
  if (!s_last) return;
  for (int i = static_cast<int>(threadIdx.x); i < job.pack.batch.pictures; i += kThreads)
    set_zero_words(job, i);
  __syncthreads();
  find_nal_unit_offsets<kThreads>(job.pack);
}

// The number of escapes in the slice's pieces before one. All lanes must call this.
__device__ std::uint32_t escapes_before(const std::uint32_t* d_first, int piece, int lane) {
  std::uint32_t sum = 0;
  for (int i = lane; i < piece; i += 32) sum += d_first[i];
  return warp_sum(sum);
}

// Writes `bytes` bytes of cabac_zero_words.
__device__ void write_zero_words(std::uint8_t* d_out, std::uint32_t bytes, int lane) {
  for (std::uint32_t i = static_cast<std::uint32_t>(lane); i < bytes; i += 32) {
    d_out[i] =
        i % core::kCabacZeroWordBytes == core::kCabacZeroWordBytes - 1 ? core::kEmulationPreventionByte : 0;
  }
}

__global__ void __launch_bounds__(kWriteThreads)
    write_cabac_slices(const __grid_constant__ CabacPackJob job) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const std::size_t index = (static_cast<std::size_t>(blockIdx.x) * kWriteThreads + threadIdx.x) / 32;
  const auto pieces = static_cast<std::size_t>(job.pieces), slice_index = index / pieces;
  if (slice_index >= job.layout.slice_count()) return;
  const auto piece_index = static_cast<int>(index - slice_index * pieces);
  const SliceRecord& slice = job.pack.scratch.slices[slice_index];
  if (slice.lost != 0) return;
  const CabacPayload payload = job.payload(slice_index);
  const CabacPiece piece(payload, piece_index, job.pieces);
  if (piece.bytes() == 0) return;
  const std::uint32_t* const d_escapes = job.escapes + slice_index * pieces;
  std::uint8_t* d_out =
      job.pack.stream + slice.offset + slice.prefix_bytes + static_cast<std::size_t>(piece.first_byte());
  if (slice.escapes != 0) d_out += escapes_before(d_escapes, piece_index, lane);
  if (piece_index == 0 && lane == 0) write_prefix(d_out, slice);
  const std::uint32_t escapes = slice.escapes != 0 ? d_escapes[piece_index] : 0;
  if (escapes != 0) {
    write_escaped(piece, d_out, lane);
  } else {
    const int to_aligned = static_cast<int>(-reinterpret_cast<std::uintptr_t>(d_out) & 3);
    for (int i = to_aligned - 4 + 4 * lane; i < piece.bytes(); i += 4 * 32) write_word(piece, d_out, i);
  }
  if (piece.is_last() && slice.zero_words != 0) {
    write_zero_words(d_out + piece.bytes() + escapes, slice.zero_words * core::kCabacZeroWordBytes, lane);
  }
}

}  // namespace

std::size_t cabac_pack_scratch_bytes(int pictures, int mb_width, int mb_height, int slices) {
  Arena arena(nullptr);
  carve(arena, slice_bits_layout(pictures, mb_width, mb_height, slices));
  return arena.bytes();
}

std::size_t max_packed_cabac_bytes(int mb_width, int mb_height, int slices) {
  // The slice header takes 10 bytes, the prefix of the NAL unit 5. Every second byte may need an escape.
  // cabac_zero_words, where there are any, take fewer bytes than that: 9.4 % of the number of bins.
  const SliceBitsLayout layout = slice_bits_layout(1, mb_width, mb_height, slices);
  const std::size_t rbsp = 4 * std::size_t{layout.slice_words} + 10;
  return static_cast<std::size_t>(slices) * (rbsp + rbsp / 2 + 5);
}

void launch_pack_cabac_slices(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                              const CabacSliceRecord* d_records, const std::uint32_t* d_slice_bits,
                              const CabacPackMemory& memory, PackedPicture* d_pictures, cudaStream_t stream) {
  Arena arena(memory.scratch);
  CabacPackJob job;
  job.layout = slice_bits_layout(batch);
  job.records = d_records;
  job.slice_bits = d_slice_bits;
  job.pieces = pieces_a_slice(job.layout);
  const CabacPackScratch scratch = carve(arena, job.layout);
  job.escapes = scratch.escapes;
  job.pack.batch = batch;
  job.pack.headers = d_headers;
  job.pack.scratch.finished_slices = scratch.finished_slices;
  job.pack.scratch.slices = scratch.slices;
  job.pack.stream = memory.stream;
  job.pack.capacity = memory.capacity;
  job.pack.pictures = d_pictures;
  check_cuda(cudaMemsetAsync(scratch.finished_slices, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  const dim3 slices(static_cast<unsigned>(batch.slices), static_cast<unsigned>(batch.pictures));
  if (job.pieces < kManyPieces) {
    find_cabac_offsets<kFewOffsetThreads><<<slices, kFewOffsetThreads, 0, stream>>>(job);
  } else {
    find_cabac_offsets<kManyOffsetThreads><<<slices, kManyOffsetThreads, 0, stream>>>(job);
  }
  check_launch("find_cabac_offsets");
  const std::size_t warps = job.layout.slice_count() * static_cast<std::size_t>(job.pieces);
  constexpr std::size_t kWarps = kWriteThreads / 32;
  write_cabac_slices<<<static_cast<unsigned>((warps + kWarps - 1) / kWarps), kWriteThreads, 0, stream>>>(job);
  check_launch("write_cabac_slices");
}

}  // namespace cu264::entropy
