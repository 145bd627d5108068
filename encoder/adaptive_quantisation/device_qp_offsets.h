// Adaptive quantisation on the device: three sums for each macroblock of a batch of pictures, and a QP offset
// from these, with the arithmetic of encoder/adaptive_quantisation/qp_offsets.h.
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
  std::int8_t* previous;  // [stream][mb]: offsets of the stream's last picture, before and after the batch
  std::int8_t* offsets;   // [picture][mb]
};

// The number of macroblocks of a picture.
inline int macroblocks_of_size(int width, int height) {
  return (width + kMacroblockSide - 1) / kMacroblockSide * ((height + kMacroblockSide - 1) / kMacroblockSide);
}

// Sums over the luma of pictures of width x height, of any size, pitch and alignment, and over their edge
// maps (edges.first null: none, as variance needs none).
void launch_macroblock_sums(const PicturePlanes& luma, const EdgePlanes& edges, int width, int height,
                            int pictures, MacroblockSums* sums, cudaStream_t stream);

// The same with steps of the half-size picture as edges (vision/half_size_steps.h).
void launch_step_sums(const PicturePlanes& luma, int width, int height, int pictures, MacroblockSums* sums,
                      cudaStream_t stream);

// Computes the offsets, from the sums unless the mode is `none`. If they are remembered, pictures are in
// order in each stream, and `previous` holds kNoPrevious before the first batch. `picture_params` is
// [picture], of which the stream, the index (a picture with the index 0 has none before it) and the raised
// rows are read, or null: all pictures belong to stream 0, and no row is raised.
void launch_qp_offsets(const AqParams& params, int mb_width, int mb_height, int pictures,
                       const QpOffsetMemory& work, cudaStream_t stream,
                       const core::PictureParams* picture_params = nullptr);

// Writes kNoPrevious to `previous`.
void launch_qp_offset_reset(int macroblocks, std::int8_t* previous, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
