// The scratch of `code` and `pack`, and their order.
#include <cstddef>
#include <cstdint>

#include "entropy/cavlc/cavlc_su.h"
#include "entropy/cavlc/cavlcu.h"
#include "entropy/cavlc/code_batch.h"
#include "entropy/cavlc/zeros_and_runs.h"
#include "entropy/launch_check.cuh"
#include "entropy/pack/pack_batch.h"
#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {
namespace {

// With more of them, each may have more to do.
constexpr std::uint32_t kFillingWarps = 2048;

// Cuts aligned arrays out of one allocation; without one it only measures.
class Carver {
 public:
  explicit Carver(void* memory) : memory_(static_cast<std::uint8_t*>(memory)) {}

  template <class T>
  T* take(std::size_t count) {
    T* const array = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + size_);
    size_ += (count * sizeof(T) + 255) / 256 * 256;
    return array;
  }
  std::size_t size() const { return size_; }

 private:
  std::uint8_t* memory_;
  std::size_t size_ = 0;
};

// What a published coder works on; unused by the production kernel.
struct FormScratch {
  BlockCodes codes;
  void* own = nullptr;
  std::size_t own_bytes = 0;
  PackedBlocks packed;
};

FormScratch carve_form(Carver& carver, EntropyKernel kernel, int pictures, int mb_width, int mb_height) {
  FormScratch form;
  if (kernel == EntropyKernel::production) return form;
  const std::size_t blocks =
      static_cast<std::size_t>(pictures) * mb_width * mb_height * core::kBlocksPerMacroblock;
  form.codes.words = carver.take<std::uint32_t>(blocks * kBlockWords);
  form.codes.lengths = carver.take<std::uint16_t>(blocks);
  form.own_bytes = kernel == EntropyKernel::cavlcu ? cavlcu_scratch_bytes(pictures, mb_width, mb_height)
                                                   : cavlc_su_scratch_bytes(pictures, mb_width, mb_height);
  form.own = carver.take<std::uint8_t>(form.own_bytes);
  if (kernel == EntropyKernel::cavlc_su) {
    form.packed.words = carver.take<std::uint32_t>(pictures * packed_block_words(mb_width, mb_height));
    form.packed.bits = carver.take<std::uint64_t>(static_cast<std::size_t>(pictures));
  }
  return form;
}

void launch_form(const core::BatchView& batch, EntropyKernel kernel, const FormScratch& form,
                 const std::uint32_t* zeros_and_runs, cudaStream_t stream) {
  if (kernel == EntropyKernel::cavlcu) {
    check_call(cudaMemsetAsync(form.own, 0, form.own_bytes, stream), "cudaMemsetAsync");
    launch_cavlcu(batch, zeros_and_runs, form.own, form.codes, stream);
  } else {
    launch_cavlc_su(batch, form.own, form.codes, form.packed, stream);
  }
}

// What is there from the first launch to the last, and so comes first, whatever the batch.
struct LastingScratch {
  std::uint32_t* zeros_and_runs;
  std::uint32_t *ticket, *placed_slices;  // zero between launches
};

LastingScratch carve_lasting(Carver& carver) {
  LastingScratch scratch;
  scratch.zeros_and_runs = carver.take<std::uint32_t>(kZerosAndRunsEntries);
  scratch.ticket = carver.take<std::uint32_t>(1);
  scratch.placed_slices = carver.take<std::uint32_t>(1);
  return scratch;
}

PackScratch carve(Carver& carver, const GroupLayout& layout) {
  PackScratch scratch;
  const LastingScratch lasting = carve_lasting(carver);
  scratch.code.zeros_and_runs = lasting.zeros_and_runs;
  scratch.code.ticket = lasting.ticket;
  scratch.placed_slices = lasting.placed_slices;
  scratch.unknown = carver.take<std::uint32_t>(layout.groups());
  scratch.code.own = carver.take<std::uint8_t>(code_scratch_bytes(layout));
  scratch.coded.records = carver.take<GroupRecord>(layout.groups());
  scratch.groups = carver.take<PlacedGroup>(layout.groups());
  scratch.escapes = carver.take<std::uint32_t>(layout.groups());
  scratch.slices = carver.take<SliceRecord>(static_cast<std::size_t>(layout.pictures) * layout.slices);
  return scratch;
}

}  // namespace

std::size_t pack_scratch_bytes(int pictures, int mb_width, int mb_height, int slices, EntropyKernel kernel) {
  Carver carver(nullptr);
  carve(carver, group_layout(pictures, mb_width, mb_height, slices));
  carve_form(carver, kernel, pictures, mb_width, mb_height);
  return carver.size();
}

std::size_t coded_bytes(int pictures, int mb_width, int mb_height, int slices) {
  const GroupLayout layout = group_layout(pictures, mb_width, mb_height, slices);
  return group_words(layout, mb_width, mb_height) * sizeof(std::uint32_t);
}

std::size_t max_packed_bytes(int mb_width, int mb_height, int slices) {
  // Header and trailing bits: 9 bytes; the NAL unit's prefix: 5. Every second byte may need an escape.
  const std::size_t rbsp = static_cast<std::size_t>(mb_width) * mb_height * kMacroblockWords * 4 +
                           static_cast<std::size_t>(slices) * 9;
  return rbsp + rbsp / 2 + static_cast<std::size_t>(slices) * 5;
}

void launch_prepare_pack(void* scratch, cudaStream_t stream) {
  Carver carver(scratch);
  const LastingScratch lasting = carve_lasting(carver);
  launch_make_zeros_and_runs(lasting.zeros_and_runs, stream);
  for (std::uint32_t* const counter : {lasting.ticket, lasting.placed_slices}) {
    check_call(cudaMemsetAsync(counter, 0, sizeof(*counter), stream), "cudaMemsetAsync");
  }
}

void launch_code_and_pack(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                          const PackMemory& memory, PackedPicture* d_pictures, cudaStream_t stream,
                          EntropyKernel kernel, const LaunchCode& code) {
  Carver carver(memory.scratch);
  PackJob job;
  job.batch = batch;
  job.layout = group_layout(batch);
  job.groups = static_cast<std::uint32_t>(job.layout.groups());
  for (std::uint32_t warps = job.groups; warps >= 2 * kFillingWarps && job.warp_groups_log2 < 2; warps /= 2) {
    ++job.warp_groups_log2;
  }
  job.headers = d_headers;
  job.scratch = carve(carver, job.layout);
  job.scratch.coded.words = static_cast<std::uint32_t*>(memory.coded);
  job.stream = memory.stream;
  job.capacity = memory.capacity;
  job.pictures = d_pictures;
  if (kernel == EntropyKernel::production) {
    code(batch, job.scratch.code, job.scratch.coded, stream);
  } else {
    const FormScratch form = carve_form(carver, kernel, batch.pictures, batch.mb_width, batch.mb_height);
    launch_form(batch, kernel, form, job.scratch.code.zeros_and_runs, stream);
    launch_join(batch, form.codes, job.scratch.coded, stream);
  }
  launch_place(job, stream);
  launch_write(job, stream);
}

}  // namespace cu264::entropy
