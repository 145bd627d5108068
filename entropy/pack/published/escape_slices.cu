// Makes NAL units of the RBSPs that slices were packed to. Each is cut into as many pieces as it has groups
// of 32 macroblocks. The first kernel counts the emulation prevention bytes of each piece; its last thread
// block computes where the slices lie in the stream. In the second, a warp writes a piece.
#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "entropy/pack/escape_count.cuh"
#include "entropy/pack/nal_units.cuh"
#include "entropy/pack/published/slice_pack_job.cuh"
#include "entropy/pack/write_payload.cuh"

namespace cu264::entropy {
namespace {

constexpr int kCountThreads = 256, kWriteThreads = 128;

// A piece of a slice's RBSP, whose words are zero after rbsp_stop_one_bit.
class RbspPiece {
 public:
  __device__ RbspPiece(const SlicePackJob& job, std::uint32_t slice, int piece)
      : d_words_(job.rbsp_of(slice)) {
    constexpr int kUnit = 128;
    all_ = static_cast<int>(job.slice(slice).rbsp_bytes());
    const int length = ((all_ + job.pieces - 1) / job.pieces + kUnit - 1) / kUnit * kUnit;
    begin_ = min(piece * length, all_);
    bytes_ = min(length, all_ - begin_);
  }

  __device__ __forceinline__ int first_byte() const { return begin_; }
  __device__ __forceinline__ int bytes() const { return bytes_; }
  // The four bytes from the piece's i-th on; bytes outside of the RBSP are zero.
  __device__ __forceinline__ std::uint32_t word_at(int i) const {
    const int at = begin_ + i, word = at >> 2;
    return __funnelshift_l(rbsp_word(word + 1), rbsp_word(word), 8 * (at & 3));
  }

 private:
  __device__ __forceinline__ std::uint32_t rbsp_word(int word) const {
    return word < 0 || 4 * word >= all_ ? 0 : d_words_[word];
  }

  const std::uint32_t* const d_words_;
  int all_, begin_, bytes_;
};

// One thread block a slice.
__global__ void __launch_bounds__(kCountThreads)
    count_slice_escapes(const __grid_constant__ SlicePackJob job) {
  __shared__ std::uint32_t s_escapes;
  __shared__ bool s_last;
  const std::uint32_t slice = blockIdx.x;
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
  SliceRecord& record = job.slice(slice);
  if (threadIdx.x == 0) s_escapes = 0;
  __syncthreads();
  if (record.broken == 0) {
    for (int i = warp; i < job.pieces; i += kCountThreads / 32) {
      const auto escapes = static_cast<std::uint32_t>(count_escapes(RbspPiece(job, slice, i), 0, 1, lane));
      if (lane != 0) continue;
      job.escapes[slice * static_cast<std::size_t>(job.pieces) + i] = escapes;
      atomicAdd(&s_escapes, escapes);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    record.escapes = s_escapes;
    s_last = is_last_block(job.pack.scratch.finished_slices);
  }
  __syncthreads();
  if (s_last) find_nal_unit_offsets<kCountThreads>(job.pack);
}

__global__ void __launch_bounds__(kWriteThreads) write_slices(const __grid_constant__ SlicePackJob job) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const std::size_t index = (static_cast<std::size_t>(blockIdx.x) * kWriteThreads + threadIdx.x) / 32;
  const auto pieces = static_cast<std::size_t>(job.pieces);
  const auto slice_index = static_cast<std::uint32_t>(index / pieces);
  if (slice_index >= job.slices()) return;
  const auto piece_index = static_cast<int>(index - slice_index * pieces);
  const SliceRecord& slice = job.slice(slice_index);
  if (slice.lost != 0) return;
  const RbspPiece piece(job, slice_index, piece_index);
  if (piece.bytes() == 0) return;
  const std::uint32_t* const d_escapes = job.escapes + slice_index * pieces;
  std::uint32_t before = 0, escapes = 0;
  if (slice.escapes != 0) {
    for (int i = lane; i < piece_index; i += 32) before += d_escapes[i];
    before = warp_sum(before);
    escapes = d_escapes[piece_index];
  }
  std::uint8_t* const d_out = job.pack.stream + slice.offset + slice.prefix_bytes +
                              static_cast<std::size_t>(piece.first_byte()) + before;
  if (piece_index == 0 && lane == 0) write_prefix(d_out, slice);
  if (escapes != 0) return write_escaped(piece, d_out, lane);
  const int to_aligned = static_cast<int>(-reinterpret_cast<std::uintptr_t>(d_out) & 3);
  for (int i = to_aligned - 4 + 4 * lane; i < piece.bytes(); i += 4 * 32) write_word(piece, d_out, i);
}

}  // namespace

void launch_escape(const SlicePackJob& job, cudaStream_t stream) {
  count_slice_escapes<<<job.slices(), kCountThreads, 0, stream>>>(job);
  check_launch("count_slice_escapes");
  const std::size_t warps = job.slices() * static_cast<std::size_t>(job.pieces);
  constexpr std::size_t kWarps = kWriteThreads / 32;
  write_slices<<<static_cast<unsigned>((warps + kWarps - 1) / kWarps), kWriteThreads, 0, stream>>>(job);
  check_launch("write_slices");
}

}  // namespace cu264::entropy
