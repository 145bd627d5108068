// Codes and packs a batch on the GPU. This header needs no header of CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "entropy/pack/pack_batch.h"
#include "tests/parity/coded_pictures.h"

namespace cu264::parity {

struct PackedBatch {
  std::vector<std::uint8_t> stream;
  std::vector<entropy::PackedPicture> pictures;
};

// `headers` is [picture][slice]. Runs `repeats` times with the same scratch memory, which is poisoned at
// first, as are the levels of empty blocks. `capacity` 0 stands for as much as may be needed. Throws
// cu264::Error with CUDA's message.
std::vector<PackedBatch> pack_on_device(const Shape& shape, const std::vector<TestPicture>& pictures,
                                        const std::vector<core::SliceHeaderBits>& headers, int repeats,
                                        std::uint64_t capacity = 0,
                                        const entropy::EntropyKernel* kernel = nullptr,
                                        const entropy::Packer* packer = nullptr);

enum class CodingForm { cavlcu, cavlcu_tuned, cavlc_su };

// The codes of all blocks, and what lag packing makes of them.
struct CodedBlocks {
  std::vector<std::uint32_t> words;    // [picture][mb][27][entropy::kBlockWords], whatever the form stores
  std::vector<std::uint16_t> lengths;  // [picture][mb][27]
  std::vector<std::uint32_t> packed;   // [picture][packed_words]
  std::vector<std::uint64_t> packed_bits;
  std::size_t packed_words = 0;
};

// Runs `repeats` times with the same scratch memory.
std::vector<CodedBlocks> code_on_device(CodingForm form, const Shape& shape,
                                        const std::vector<TestPicture>& pictures, int repeats);

// The lengths of the luma blocks, [picture][mb][16], as the form of CAVLCU gives them that codes only luma.
std::vector<std::uint16_t> luma_lengths_on_device(const Shape& shape,
                                                  const std::vector<TestPicture>& pictures);

}  // namespace cu264::parity
