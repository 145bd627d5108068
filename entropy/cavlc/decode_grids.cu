// Decodes grids of blocks, each by one thread, with the parser of core/cavlc_parse.h and tables of its codes.
#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "core/cavlc_block.h"
#include "core/cavlc_parse.h"
#include "cu264/status.h"
#include "entropy/cavlc/decode_tables.cuh"
#include "entropy/cavlc/grid_kernels.h"

namespace cu264::cavlc {
namespace {

constexpr int kThreads = 64;

struct alignas(16) Block {
  std::int16_t levels[kBlockLevels];
};

__device__ void store(Block* d_block, const Block& block) {
  const auto* const from = reinterpret_cast<const uint4*>(&block);
  auto* const d_to = reinterpret_cast<uint4*>(d_block);
  d_to[0] = from[0], d_to[1] = from[1];
}

// Reads like core::BitReader, but keeps the next bits in a register: the stream is loaded in whole words.
class WindowReader {
 public:
  // d_stream is aligned to 4.
  __device__ WindowReader(const std::uint8_t* d_stream, std::uint64_t size, std::uint64_t position)
      : d_stream_(d_stream), size_(size), position_(position), next_(position / 32 + 2) {
    const int before = static_cast<int>(position % 32);
    window_ = (static_cast<std::uint64_t>(load(next_ - 2)) << 32 | load(next_ - 1)) << before;
    count_ = 64 - before;
  }

  __device__ __forceinline__ std::uint32_t peek(int length) const {
    return static_cast<std::uint32_t>(window_ >> 1 >> (63 - length));
  }
  __device__ __forceinline__ void skip(int length) {
    window_ <<= length;
    count_ -= length;
    position_ += length;
    if (count_ > 32) return;
    window_ |= static_cast<std::uint64_t>(load(next_++)) << (32 - count_);
    count_ += 32;
  }
  __device__ __forceinline__ std::uint32_t get(int length) {
    const std::uint32_t value = peek(length);
    skip(length);
    return value;
  }
  __device__ __forceinline__ std::uint64_t bit_position() const { return position_; }
  __device__ __forceinline__ bool failed() const { return position_ > 8 * size_; }

 private:
  // Bytes beyond the end are zero.
  __device__ std::uint32_t load(std::uint64_t word) const {
    if (4 * word + 4 <= size_)
      return __byte_perm(__ldg(reinterpret_cast<const std::uint32_t*>(d_stream_) + word), 0, 0x0123);
    std::uint32_t value = 0;
    for (std::uint64_t byte = 4 * word; byte < 4 * word + 4; ++byte)
      value = value << 8 | (byte < size_ ? d_stream_[byte] : 0u);
    return value;
  }

  const std::uint8_t* d_stream_;
  std::uint64_t size_, position_, next_;  // next_: the word to be loaded next
  std::uint64_t window_;                  // its high count_ bits are the next ones, the others are zero
  int count_;                             // 33 to 64 between calls
};

__global__ void __launch_bounds__(kThreads)
    decode_grids(const __grid_constant__ DeviceDecode call, std::uint8_t* d_counts) {
  __shared__ __align__(4) DecodeTables s_tables;
  s_tables.fill<kThreads>();
  const std::uint64_t g = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  const Grids& grids = call.grids;
  if (g >= grids.count) return;
  if (g == 0) call.d_result->bits = call.d_index[grids.count];
  const std::uint64_t begin = call.d_index[g], end = call.d_index[g + 1];
  bool good = begin <= end && end <= 8 * call.stream_size;
  WindowReader reader(call.d_stream, call.stream_size, good ? begin : 0);

  std::uint64_t block = g * static_cast<std::uint32_t>(grids.width) * grids.height;
  auto* const d_levels = reinterpret_cast<Block*>(call.d_levels);
  for (int y = 0; y < grids.height; ++y) {
    int left = -1;
    for (int x = 0; x < grids.width; ++x, ++block) {
      // TotalCoeff of the row above; the counts of one column of all grids lie side by side.
      std::uint8_t& d_count = d_counts[static_cast<std::uint64_t>(x) * grids.count + g];
      Block levels{};
      if (good) {
        const int nC = call.d_nC != nullptr ? min(call.d_nC[block], 16)
                                            : core::nc_from_neighbours(left, y > 0 ? d_count : -1);
        left = core::cavlc_parse_block(reader, levels.levels, grids.levels, nC, s_tables);
        good = left >= 0;
        if (!good) levels = {};
        d_count = static_cast<std::uint8_t>(left);
      }
      store(d_levels + block, levels);
    }
  }
  if (!good || reader.bit_position() != end)
    atomicMax(&call.d_result->failure, static_cast<unsigned>(ErrorCode::bad_input));
}

}  // namespace

std::size_t decode_scratch_bytes(const Grids& grids) {
  Arena arena(nullptr);
  arena.take(static_cast<std::size_t>(grids.width) * grids.count + 1);
  return arena.bytes();
}

void launch_decode_grids(const DeviceDecode& call, void* d_scratch, void* stream) {
  const auto cuda_stream = static_cast<cudaStream_t>(stream);
  check_cuda(cudaMemsetAsync(call.d_result, 0, sizeof(DeviceResult), cuda_stream), "cudaMemsetAsync");
  if (call.grids.count == 0) return;
  const auto blocks = (call.grids.count + kThreads - 1) / kThreads;
  decode_grids<<<static_cast<unsigned>(blocks), kThreads, 0, cuda_stream>>>(
      call, static_cast<std::uint8_t*>(d_scratch));
  check_launch("decode_grids");
}

}  // namespace cu264::cavlc
