// Decodes grids of blocks, each by one thread, with the parser of core/cavlc_parse.h.
#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "core/cavlc_block.h"
#include "core/cavlc_parse.h"
#include "cu264/status.h"
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

__global__ void __launch_bounds__(kThreads)
    decode_grids(const __grid_constant__ DeviceDecode call, std::uint8_t* d_counts) {
  const std::uint64_t g = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  const Grids& grids = call.grids;
  if (g >= grids.count) return;
  if (g == 0) call.d_result->bits = call.d_index[grids.count];
  const std::uint64_t begin = call.d_index[g], end = call.d_index[g + 1];
  bool good = begin <= end && end <= 8 * call.stream_size;
  const std::uint64_t byte = good ? begin / 8 : 0;
  core::BitReader reader(call.d_stream + byte, call.stream_size - byte);
  reader.skip(static_cast<int>(begin % 8));

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
        left = core::cavlc_parse_block(reader, levels.levels, grids.levels, nC);
        good = left >= 0;
        if (!good) levels = {};
        d_count = static_cast<std::uint8_t>(left);
      }
      store(d_levels + block, levels);
    }
  }
  if (!good || 8 * byte + reader.bit_position() != end)
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
