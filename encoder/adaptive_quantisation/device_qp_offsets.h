// Adaptive quantisation on the device: three sums for each macroblock of a batch of pictures, and from them a
// QP offset each, by the arithmetic of encoder/adaptive_quantisation/qp_offsets.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/picture_params.h"
#include "encoder/adaptive_quantisation/qp_offsets.h"
#include "vision/cuda/planes.h"

namespace cu264::encoder::cuda {

using vision::cuda::EdgePlanes, vision::cuda::PicturePlanes;

struct QpOffsetMemory {
  MacroblockSums* sums;   // [picture][mb], raster order
  std::int32_t* means;    // [picture]
  std::int8_t* previous;  // [stream][mb]: offsets of each stream's picture before the batch, then of its last
  std::int8_t* offsets;   // [picture][mb]
};

// Macroblocks of a picture.
inline int macroblocks_of_size(int width, int height) {
  return (width + kMacroblockSide - 1) / kMacroblockSide * ((height + kMacroblockSide - 1) / kMacroblockSide);
}

// Sums over the luma of pictures of width x height, of any size, pitch and alignment, and over their edge
// maps (edges.first null: none, as variance needs none).
void launch_macroblock_sums(const PicturePlanes& luma, const EdgePlanes& edges, int width, int height,
                            int pictures, MacroblockSums* sums, cudaStream_t stream);

// The same with steps of the half-size picture for edges (vision/half_size_steps.h): the encoder's.
void launch_step_sums(const PicturePlanes& luma, int width, int height, int pictures, MacroblockSums* sums,
                      cudaStream_t stream);

// From the sums, for pictures in the order of time in each stream. `previous` holds kNoPrevious before the
// first batch. `pictures_of`: [picture], of which only the stream counts, or null: they are all of stream 0.
void launch_qp_offsets(const AqParams& params, int macroblocks, int pictures, const QpOffsetMemory& work,
                       cudaStream_t stream, const core::PictureParams* pictures_of = nullptr);

// Writes kNoPrevious.
void launch_qp_offset_reset(int macroblocks, std::int8_t* previous, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
