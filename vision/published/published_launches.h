// The launches of published_canny.h, one for each step.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "vision/published/published_canny.h"

namespace cu264::vision::cuda {

// Steps 1 to 3. All arrays of pixels are dense.
void launch_published_gauss_x(const Plane<const std::uint8_t>& picture, int width, int height,
                              int sigma_tenths, const PublishedArrays& arrays, cudaStream_t stream);
void launch_published_gauss_y(int width, int height, int sigma_tenths, const PublishedArrays& arrays,
                              cudaStream_t stream);
void launch_published_gradient(int width, int height, const PublishedArrays& arrays, cudaStream_t stream);
void launch_published_suppression(int width, int height, const CannyParams& params,
                                  const PublishedArrays& arrays, cudaStream_t stream);

// Says where the hysteresis runs keep their three maps (now, next, unstable): in shared memory, or in
// arrays.maps, which has room for those of `blocks` thread blocks.
struct PassMemory {
  bool shared;
  int blocks;
};
std::size_t pass_map_bytes(const WordGrid& grid);

// Steps 4 to 8.
void launch_published_sm(const WordGrid& grid, const CandidateSet& set, const PublishedArrays& arrays,
                         const PassMemory& memory, cudaStream_t stream);
void launch_published_prob(std::size_t pixels, const CandidateSet& set, const PublishedArrays& arrays,
                           cudaStream_t stream);
void launch_published_counts(const WordGrid& grid, const CandidateSet& set, const PublishedArrays& arrays,
                             cudaStream_t stream);
void launch_published_search(const WordGrid& grid, const CannyParams& params, const PublishedArrays& arrays,
                             cudaStream_t stream);
// Gives thresholds to the sub-images in which the search found none, of which the paper says nothing.
void launch_published_fallback(const WordGrid& grid, const CandidateSet& set, const PublishedArrays& arrays,
                               cudaStream_t stream);
void launch_published_hysteresis(const WordGrid& grid, const PublishedArrays& arrays,
                                 const PassMemory& memory, const Plane<std::uint8_t>& edges,
                                 cudaStream_t stream);

}  // namespace cu264::vision::cuda
