#include "entropy/cavlc/code_batch.h"

#include <algorithm>
#include <cstddef>

#include "common/cuda/error_check.h"
#include "entropy/cavlc/code_groups.cuh"

namespace cu264::entropy {
std::size_t code_scratch_bytes(const GroupLayout& layout) {
  const std::size_t blocks = std::min<std::size_t>((layout.groups() + kWarps - 1) / kWarps, kMaxBlocks);
  const std::size_t teams = std::min<std::size_t>(layout.groups(), kMaxBlocks);
  return std::max(blocks * kWarps * kWarpWords, teams * kTeamWords) * sizeof(std::uint32_t);
}

void launch_code(const BatchView& batch, const CodeScratch& scratch, const GroupBits& bits,
                 cudaStream_t stream) {
  if (batch.motion != nullptr) return launch_code_p(batch, scratch, bits, stream);
  launch_code_groups<NoSymbolTransform>(batch, {}, scratch, bits, stream);
}

}  // namespace cu264::entropy
