// Steps 5 to 7: Prob(SM_H), |F(x)| and the histogram, of the pixels that were linked at all, as others count
// nowhere; and the thresholds that follow from them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "vision/cuda/link.h"
#include "vision/cuda/words.h"
#include "vision/thresholds.h"

namespace cu264::vision::cuda {

struct CountWork {
  LevelCounts* counts;     // [picture][sub-image], zero before
  unsigned* blocks_done;   // [picture], zero before
  Thresholds* thresholds;  // [picture][sub-image]
  std::uint16_t* sm;       // [picture][y][x], dense; or null
};

void launch_counts(const WordGrid& grid, int pictures, const CandidateSet& set, const LinkWork& link,
                   const CountWork& work, cudaStream_t stream);

}  // namespace cu264::vision::cuda
