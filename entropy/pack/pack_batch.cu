// Lays out the scratch of `code` and `pack` and launches them in order.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "cu264/status.h"
#include "entropy/cavlc/code_batch.h"
#include "entropy/cavlc/zeros_and_runs.h"
#include "entropy/pack/pack_batch.h"
#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {
namespace {

// With more warps than this, each may take several groups.
constexpr std::uint32_t kFillingWarps = 2048;

// Data that lives from the first launch to the last. It comes first, so that its place does not depend on
// the batch.
struct LastingScratch {
  std::uint32_t* zeros_and_runs;
  std::uint32_t *ticket, *finished_slices;  // zero between launches
};

LastingScratch carve_lasting(Arena& arena) {
  LastingScratch scratch;
  scratch.zeros_and_runs = arena.take<std::uint32_t>(kZerosAndRunsEntries);
  scratch.ticket = arena.take<std::uint32_t>(1);
  scratch.finished_slices = arena.take<std::uint32_t>(1);
  return scratch;
}

PackScratch carve(Arena& arena, const GroupLayout& layout) {
  PackScratch scratch;
  const LastingScratch lasting = carve_lasting(arena);
  scratch.code.zeros_and_runs = lasting.zeros_and_runs;
  scratch.code.ticket = lasting.ticket;
  scratch.finished_slices = lasting.finished_slices;
  scratch.unknown = arena.take<std::uint32_t>(layout.groups());
  scratch.code.own = arena.take<std::uint8_t>(code_scratch_bytes(layout));
  scratch.coded.records = arena.take<GroupRecord>(layout.groups());
  scratch.groups = arena.take<GroupOffset>(layout.groups());
  scratch.escapes = arena.take<std::uint32_t>(layout.groups());
  scratch.slices = arena.take<SliceRecord>(static_cast<std::size_t>(layout.pictures) * layout.slices);
  return scratch;
}

void* take_own(Arena& arena, int pictures, int mb_width, int mb_height, const EntropyKernel* kernel) {
  return kernel == nullptr ? nullptr : arena.take(kernel->scratch_bytes(pictures, mb_width, mb_height));
}

}  // namespace

std::size_t pack_scratch_bytes(int pictures, int mb_width, int mb_height, int slices,
                               const EntropyKernel* kernel, const Packer* packer) {
  Arena arena(nullptr);
  carve(arena, group_layout(pictures, mb_width, mb_height, slices));
  take_own(arena, pictures, mb_width, mb_height, kernel);
  if (packer != nullptr) arena.take(packer->scratch_bytes(pictures, mb_width, mb_height, slices));
  return arena.bytes();
}

std::size_t coded_bytes(int pictures, int mb_width, int mb_height, int slices) {
  const GroupLayout layout = group_layout(pictures, mb_width, mb_height, slices);
  return group_words(layout, mb_width, mb_height) * sizeof(std::uint32_t);
}

std::size_t max_packed_bytes(int mb_width, int mb_height, int slices) {
  // The slice header and trailing bits take 10 bytes, the prefix of the NAL unit 5. Every second byte may
  // need an escape.
  const std::size_t rbsp = static_cast<std::size_t>(mb_width) * mb_height * kMacroblockWords * 4 +
                           static_cast<std::size_t>(slices) * 10;
  return rbsp + rbsp / 2 + static_cast<std::size_t>(slices) * 5;
}

void launch_prepare_pack(void* scratch, cudaStream_t stream) {
  Arena arena(scratch);
  const LastingScratch lasting = carve_lasting(arena);
  launch_make_zeros_and_runs(lasting.zeros_and_runs, stream);
  for (std::uint32_t* const counter : {lasting.ticket, lasting.finished_slices}) {
    check_cuda(cudaMemsetAsync(counter, 0, sizeof(*counter), stream), "cudaMemsetAsync");
  }
}

void launch_code_of(const PackJob& job, const EntropyKernel* kernel, const LaunchCode& code,
                    cudaStream_t stream) {
  if (kernel != nullptr) {
    kernel->launch(job.batch, job.scratch.code, job.scratch.kernel, job.scratch.coded, stream);
  } else {
    code(job.batch, job.scratch.code, job.scratch.coded, stream);
  }
}

void launch_code_and_pack(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                          const PackMemory& memory, PackedPicture* d_pictures, cudaStream_t stream,
                          const EntropyKernel* kernel, const LaunchCode& code, const Packer* packer) {
  if (kernel != nullptr && batch.motion != nullptr) {
    throw Error(ErrorCode::unsupported,
                std::string("the kernel ") + kernel->name + " does not code P pictures");
  }
  Arena arena(memory.scratch);
  PackJob job;
  job.batch = batch;
  job.layout = group_layout(batch);
  job.groups = static_cast<std::uint32_t>(job.layout.groups());
  for (std::uint32_t warps = job.groups; warps >= 2 * kFillingWarps && job.warp_groups_log2 < 2; warps /= 2) {
    ++job.warp_groups_log2;
  }
  job.headers = d_headers;
  job.scratch = carve(arena, job.layout);
  job.scratch.coded.words = static_cast<std::uint32_t*>(memory.coded);
  job.stream = memory.stream;
  job.capacity = memory.capacity;
  job.pictures = d_pictures;
  job.scratch.kernel = take_own(arena, batch.pictures, batch.mb_width, batch.mb_height, kernel);
  if (packer != nullptr) return packer->launch(job, kernel, code, arena.take(0), stream);
  launch_code_of(job, kernel, code, stream);
  launch_bit_offsets(job, stream);
  launch_write(job, stream);
}

}  // namespace cu264::entropy
