// Step 4 without the hysteresis runs: SM_H from the connected components of {G > low}, one labelling a low.
//
// Hysteresis with (low, high) keeps the components of {G > low} whose greatest level M reaches high. So with
// n(v) candidates <= v, a pixel is linked for n(M) - n(G) of the highs above low, if G > low. Summed over the
// lows this is SM_H, exactly. Here the sums of n(M) - i are made, i being n(low); what the pixel itself takes
// off them is known from its level (`own_share` in link.cuh).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "vision/cuda/words.h"
#include "vision/params.h"

namespace cu264::vision::cuda {

struct LinkWork {
  const std::uint32_t* levels;  // [picture][kLevelPlanes][word]
  // [part][picture][sum_planes][word]: each part sums some of the lows
  std::uint32_t* sums;
  int parts;
  int sum_planes;  // see sum_planes()
};

// Bits that the largest sum of a part needs.
int sum_planes(const CandidateSet& set, int parts);

// A thread block a sub-image and part, labels in shared memory. 0: a sub-image does not fit.
int shared_label_threads(const WordGrid& grid, std::size_t shared_bytes);
std::size_t label_shared_bytes(const WordGrid& grid);
void launch_link_shared(const WordGrid& grid, int pictures, const CandidateSet& set, const LinkWork& work,
                        std::size_t shared_bytes, cudaStream_t stream);

// Sub-images of any size, labels in global memory; parts is 1.
struct GlobalLabels {
  std::uint32_t* maps;     // [low][picture][word]
  std::uint32_t* parents;  // [low][picture][kNodesPerWord * word]
  int lows;                // labelled at once
};
// Of `lows` maps of each picture whose runs are planted: joined and flattened.
void launch_labels_global(const WordGrid& grid, int lows, int pictures, const GlobalLabels& labels,
                          cudaStream_t stream);
void launch_link_global(const WordGrid& grid, int pictures, const CandidateSet& set, const LinkWork& work,
                        const GlobalLabels& labels, cudaStream_t stream);

}  // namespace cu264::vision::cuda
