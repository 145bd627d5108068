#include "entropy/cavlc/published/entropy_kernels.h"

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/block.h"
#include "entropy/cavlc/code_batch.h"
#include "entropy/cavlc/published/cavlc_su.h"
#include "entropy/cavlc/published/cavlcu.h"
#include "entropy/cavlc/published/join_blocks.h"
#include "common/cuda/error_check.h"

namespace cu264::entropy {
namespace {

// A coder's memory, one array behind the other; laid out at address null it is only measured.
class Layout {
 public:
  Layout(void* memory, int pictures, int mb_width, int mb_height)
      : memory_(static_cast<std::uint8_t*>(memory)) {
    const std::size_t blocks =
        static_cast<std::size_t>(pictures) * mb_width * mb_height * core::kBlocksPerMacroblock;
    codes.words = take<std::uint32_t>(blocks * kBlockWords);
    codes.lengths = take<std::uint16_t>(blocks);
  }

  template <class T>
  T* take(std::size_t count) {
    T* const array = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + size_);
    size_ += (count * sizeof(T) + 255) / 256 * 256;
    return array;
  }
  std::size_t size() const { return size_; }

  BlockCodes codes;

 private:
  std::uint8_t* memory_;
  std::size_t size_ = 0;
};

std::size_t cavlc_su_bytes(int pictures, int mb_width, int mb_height) {
  Layout layout(nullptr, pictures, mb_width, mb_height);
  layout.take<std::uint32_t>(pictures * packed_block_words(mb_width, mb_height));
  layout.take<std::uint64_t>(static_cast<std::size_t>(pictures));
  layout.take<std::uint8_t>(cavlc_su_scratch_bytes(pictures, mb_width, mb_height));
  return layout.size();
}

void launch_cavlc_su_groups(const core::BatchView& batch, const CodeScratch&, void* own,
                            const GroupBits& bits, cudaStream_t stream) {
  Layout layout(own, batch.pictures, batch.mb_width, batch.mb_height);
  PackedBlocks packed;
  packed.words =
      layout.take<std::uint32_t>(batch.pictures * packed_block_words(batch.mb_width, batch.mb_height));
  packed.bits = layout.take<std::uint64_t>(static_cast<std::size_t>(batch.pictures));
  launch_cavlc_su(batch, layout.take<std::uint8_t>(0), layout.codes, packed, stream);
  launch_join(batch, layout.codes, bits, stream);
}

std::size_t cavlcu_bytes(int pictures, int mb_width, int mb_height) {
  Layout layout(nullptr, pictures, mb_width, mb_height);
  layout.take<std::uint8_t>(cavlcu_scratch_bytes(pictures, mb_width, mb_height));
  return layout.size();
}

void launch_cavlcu_groups(const core::BatchView& batch, const CodeScratch& scratch, void* own,
                          const GroupBits& bits, cudaStream_t stream) {
  Layout layout(own, batch.pictures, batch.mb_width, batch.mb_height);
  const std::size_t bytes = cavlcu_scratch_bytes(batch.pictures, batch.mb_width, batch.mb_height);
  auto* const hand_over = layout.take<std::uint8_t>(bytes);
  check_cuda(cudaMemsetAsync(hand_over, 0, bytes, stream), "cudaMemsetAsync");
  launch_cavlcu(batch, scratch.zeros_and_runs, hand_over, layout.codes, stream);
  launch_join(batch, layout.codes, bits, stream);
}

}  // namespace

const EntropyKernel kCavlcSu{"cavlc_su", cavlc_su_bytes, launch_cavlc_su_groups};
const EntropyKernel kCavlcu{"cavlcu", cavlcu_bytes, launch_cavlcu_groups};

}  // namespace cu264::entropy
