// Codes and packs a batch on the GPU. The CUDA runtime stays behind this header.
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

// `headers` is [picture][slice]. `repeats` times with the same scratch, which holds rubbish at first; so do
// the levels of empty blocks. `capacity` 0: as much as may be needed. Throws cu264::Error with CUDA's own
// message.
std::vector<PackedBatch> pack_on_device(const Shape& shape, const std::vector<TestPicture>& pictures,
                                        const std::vector<core::SliceHeaderBits>& headers, int repeats,
                                        std::uint64_t capacity = 0,
                                        const entropy::EntropyKernel* kernel = nullptr);

enum class CodingForm { cavlcu, cavlc_su };

// The codes of all blocks, and of CAVLC_SU also what lag packing made of them.
struct CodedBlocks {
  std::vector<std::uint32_t> words;    // [picture][mb][27][entropy::kBlockWords]
  std::vector<std::uint16_t> lengths;  // [picture][mb][27]
  std::vector<std::uint32_t> packed;   // [picture][packed_words]
  std::vector<std::uint64_t> packed_bits;
  std::size_t packed_words = 0;
};

// `repeats` times with the same scratch.
std::vector<CodedBlocks> code_on_device(CodingForm form, const Shape& shape,
                                        const std::vector<TestPicture>& pictures, int repeats);

}  // namespace cu264::parity
