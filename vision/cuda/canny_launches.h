// The launches of canny_plan.h, in the order in which a batch passes through them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "vision/cuda/planes.h"
#include "vision/cuda/words.h"
#include "vision/params.h"
#include "vision/thresholds.h"

namespace cu264::vision::cuda {

// Steps 1 to 3 in one kernel (ridges.cu): smoothing, gradient, suppression and each tile's largest magnitude.
struct Ridges {
  // [picture][y][x]: a pixel's magnitude if it is a maximum along its gradient, else 0; rows of row_samples.
  std::uint16_t* magnitude;
  int row_samples;
  // [picture][tile]
  std::uint16_t* tile_largest;
  int tiles;
};

// The number of tiles of a picture of that size in a batch of `pictures`: small batches take smaller tiles.
int ridge_tiles(int width, int height, int pictures);

void launch_ridges(const PicturePlanes& planes, int width, int height, int pictures, int sigma_tenths,
                   const Ridges& ridges, cudaStream_t stream);

// The end of step 3 (level_words.cu): a picture's largest magnitude is reduced from those of its tiles, and
// magnitudes become levels, which are kept as bit planes.
struct LevelWords {
  std::uint32_t* planes;  // [picture][kLevelPlanes][word]
  std::int32_t* largest;  // [picture]: the largest magnitude
  // [picture][sub-image] and [picture]; set to zero for the kernels that add to them. Null: not wanted.
  LevelCounts* counts;
  unsigned* blocks_done;
  std::uint8_t* levels;  // [picture][y][x], dense; or null
};

void launch_level_words(const WordGrid& grid, int pictures, const CannyParams& params, const Ridges& ridges,
                        const LevelWords& words, cudaStream_t stream);

// Step 4 (link_shared.cu, link_global.cu) without the hysteresis runs: SM_H from the connected components of
// {G > low}, which are labelled once for each low.
//
// Hysteresis with (low, high) keeps the components of {G > low} whose greatest level M reaches high. So with
// n(v) candidates <= v, a pixel is linked for n(M) - n(G) of the highs above low, if G > low. Summed over the
// lows this is SM_H, exactly. The kernels sum n(M) - i, where i is n(low); what is to be subtracted for the
// pixel itself is known from its level (`own_share` in link.cuh).
struct LinkWork {
  const std::uint32_t* levels;  // [picture][kLevelPlanes][word]
  // [part][picture][sum_planes][word]: each part sums some of the lows
  std::uint32_t* sums;
  int parts;
  int sum_planes;  // see sum_planes()
};

// The bits that the largest sum of a part needs.
int sum_planes(const CandidateSet& set, int parts);

// Labels in shared memory: each part of each sub-image has a thread block of this many threads. 0: a
// sub-image does not fit.
int shared_label_threads(const WordGrid& grid, std::size_t shared_bytes);
std::size_t label_shared_bytes(const WordGrid& grid);
void launch_link_shared(const WordGrid& grid, int pictures, const CandidateSet& set, const LinkWork& work,
                        std::size_t shared_bytes, cudaStream_t stream);

// Labels in global memory, for sub-images of any size; `parts` is 1.
struct GlobalLabels {
  std::uint32_t* maps;     // [low][picture][word]
  std::uint32_t* parents;  // [low][picture][kNodesPerWord * word]
  int lows;                // labelled at once
};
// Joins and flattens the runs, planted before, of `lows` maps of each picture.
void launch_labels_global(const WordGrid& grid, int lows, int pictures, const GlobalLabels& labels,
                          cudaStream_t stream);
void launch_link_global(const WordGrid& grid, int pictures, const CandidateSet& set, const LinkWork& work,
                        const GlobalLabels& labels, cudaStream_t stream);

// Steps 5 to 7 (counts.cu): Prob(SM_H), |F(x)| and the histogram, and the thresholds that follow from them.
// Only pixels that some pair links are visited, because all others count nowhere.
struct CountWork {
  LevelCounts* counts;     // [picture][sub-image], zero before
  unsigned* blocks_done;   // [picture], zero before
  Thresholds* thresholds;  // [picture][sub-image]
  std::uint16_t* sm;       // [picture][y][x], dense; or null
};

void launch_counts(const WordGrid& grid, int pictures, const CandidateSet& set, const LinkWork& link,
                   const CountWork& work, cudaStream_t stream);

// Density scaling of the thresholds found (density.cu; vision/thresholds.h). The levels are a batch's bit
// planes (words.h) ...
void launch_density_scaling(const WordGrid& grid, int pictures, const std::uint32_t* levels,
                            Thresholds* thresholds, cudaStream_t stream);
// ... or one picture's dense bytes.
void launch_density_scaling(const WordGrid& grid, const std::uint8_t* level, Thresholds* thresholds,
                            cudaStream_t stream);

// Step 8 (hysteresis.cu): a sub-image's edges are the components of {G > low} that reach high.
struct EdgeWork {
  const std::uint32_t* levels;  // [picture][kLevelPlanes][word]
  Thresholds* thresholds;       // [picture][sub-image]; fixed ones are written here, others are read
  EdgePlanes edges;
};

// One kernel with labels in shared memory, where shared_label_threads is not 0.
void launch_hysteresis_shared(const WordGrid& grid, int pictures, const CannyParams& params,
                              const EdgeWork& work, std::size_t shared_bytes, cudaStream_t stream);
// Several kernels with labels in global memory, in the room of one low.
void launch_hysteresis_global(const WordGrid& grid, int pictures, const CannyParams& params,
                              const EdgeWork& work, const GlobalLabels& labels, cudaStream_t stream);

}  // namespace cu264::vision::cuda
