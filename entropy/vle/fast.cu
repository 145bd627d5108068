#include "entropy/vle/fast.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "common/cuda/error_check.h"
#include "common/cuda/kernel_shared_memory.h"
#include "cu264/status.h"
#include "entropy/vle/fast_kernel.cuh"

namespace cu264::vle {
namespace {

using fast::KernelCall;
using fast::Layout;

constexpr int kThreadSymbols = 64;
// The number of encoding warps: as many as the shared memory and registers of one multiprocessor allow.
constexpr int kLargeWarps = 19;
constexpr int kSmallWarps = 10;  // the same with a small table, for GPUs with less shared memory

// The shape in which the kernel is launched on the current device.
struct Geometry {
  bool large;  // whether the table has all its copies
  int warps;   // encoding warps of a block
  int shared_bytes;
  int blocks;  // the most that are launched
  bool dependent_launch;

  std::uint64_t tile_symbols() const { return std::uint64_t{32} * kThreadSymbols * warps; }
  std::uint64_t tiles(std::size_t size) const { return size / tile_symbols() + (size % tile_symbols() != 0); }
};

Geometry geometry(int most_shared) {
  int device = 0, shared = 0, processors = 0, major = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "shared memory");
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "multiprocessors");
  check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "compute capability");
  shared = std::min(shared, most_shared);
  using Large = Layout<kThreadSymbols, 256>;
  using Small = Layout<kThreadSymbols, 64>;
  Geometry geometry{};
  geometry.large = shared >= Large::shared_bytes(kSmallWarps);
  const int most = geometry.large ? kLargeWarps : kSmallWarps;
  const auto bytes = [&](int warps) {
    return geometry.large ? Large::shared_bytes(warps) : Small::shared_bytes(warps);
  };
  geometry.warps = most;
  while (geometry.warps > 1 && bytes(geometry.warps) > shared) --geometry.warps;
  geometry.shared_bytes = bytes(geometry.warps);
  geometry.blocks = processors;
  geometry.dependent_launch = major >= 9;
  return geometry;
}

struct FastScratch {
  static constexpr std::size_t kTicketBytes = 256;
  static std::size_t bytes(std::uint64_t tiles) {
    constexpr std::size_t segment = fast::TilePositions::kSegment;
    return kTicketBytes + (tiles + segment - 1) / segment * segment * sizeof(std::uint64_t);
  }
};

__global__ void prepare_kernel(std::uint64_t* scratch, std::uint64_t words, EncodeResult* result) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::uint64_t i = first; i < words; i += std::uint64_t{gridDim.x} * blockDim.x) scratch[i] = 0;
  if (first == 0) *result = {0, 0, 0};
}

}  // namespace

std::size_t fast_scratch_bytes(std::size_t size, int most_shared) {
  return FastScratch::bytes(geometry(most_shared).tiles(size));
}

void fast_encode(const EncodeCall& call, std::uint64_t* d_chunk_index, int most_shared) {
  const Geometry geometry = vle::geometry(most_shared);
  const std::uint64_t tiles = geometry.tiles(call.size);
  const std::size_t scratch = FastScratch::bytes(tiles);
  if (call.scratch_size < scratch) {
    throw Error(ErrorCode::invalid_argument,
                "fast_encode: " + std::to_string(call.scratch_size) + " bytes of scratch are not enough",
                "it needs the " + std::to_string(scratch) + " bytes that fast_scratch_bytes returns");
  }
  // Each block takes two tickets beyond the last tile, and the counter must not wrap around to 0.
  if (tiles > 0xffffffff - 64 - 2 * static_cast<std::uint64_t>(geometry.blocks)) {
    throw Error(ErrorCode::invalid_argument, "fast_encode: the input is too large", "encode it in parts");
  }
  auto* const stream = static_cast<cudaStream_t>(call.stream);
  auto* const words = static_cast<std::uint64_t*>(call.d_scratch);

  const std::uint64_t count = scratch / sizeof(std::uint64_t);
  const int zero_blocks = static_cast<int>(std::min<std::uint64_t>((count + 255) / 256, 256));
  prepare_kernel<<<zero_blocks, 256, 0, stream>>>(words, count, call.d_result);
  check_launch("prepare_kernel");
  if (tiles == 0) return;

  KernelCall kernel_call{call.d_input,
                         call.size,
                         call.d_table,
                         call.d_output,
                         call.capacity,
                         call.d_result,
                         d_chunk_index,
                         reinterpret_cast<std::uint32_t*>(words),
                         words + FastScratch::kTicketBytes / sizeof(std::uint64_t),
                         static_cast<std::uint32_t>(tiles),
                         static_cast<std::uint32_t>(call.size / geometry.tile_symbols())};
  const auto kernel = geometry.large ? fast::encode_kernel<kThreadSymbols, 256, kLargeWarps>
                                     : fast::encode_kernel<kThreadSymbols, 64, kSmallWarps>;
  allow_shared_memory(kernel);
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(std::min<std::uint64_t>(tiles, geometry.blocks));
  config.blockDim = 32 * (geometry.warps + 1);
  config.dynamicSmemBytes = geometry.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  if (geometry.dependent_launch) {
    config.attrs = &overlap;
    config.numAttrs = 1;
  }
  void* arguments[] = {&kernel_call};
  check_cuda(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments), "encode_kernel");
}

DeviceEncoder fast_encoder() {
  return {"fast", kShortCode, [](std::size_t size) { return fast_scratch_bytes(size); },
          [](const EncodeCall& call) { fast_encode(call); }};
}

}  // namespace cu264::vle
