// Stage 3, `reconstruct`, on the GPU: a macroblock wavefront over a batch of pictures.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cu264/encoder.h"
#include "encoder/cuda/batch.h"

namespace cu264::encoder::cuda {

// The bytes of scratch memory that launch_reconstruct needs for batches of up to `pictures` pictures. The
// memory must be aligned to 256 bytes.
std::size_t reconstruct_scratch_bytes(int pictures, int mb_width, int mb_height);

// Fills the batch's macroblocks, levels, total_coeff and, if it is not null, reconstruction. `common_qp` is
// the QP of all the batch's pictures, if they have the same; the search then looks up no QPs, which is a few
// per cent faster. `marks` is null or [picture][mb], the marks of a watermark (protect/watermark.h) in device
// memory. `lists` are flat unless the batch has transform_8x8_mode. `pictures_on_device` counts those of
// other batches too; the kernel that is quickest for few pictures is slower for many. Asynchronous on
// `stream`; the scratch memory belongs to the launch until it ends. Throws cu264::Error if the launch is
// refused.
void launch_reconstruct(const BatchView& batch, int pictures_on_device, std::optional<int> common_qp,
                        Preset preset, void* scratch, cudaStream_t stream,
                        const std::uint32_t* marks = nullptr, bool mark_parity = false,
                        const ScalingLists& lists = {});

}  // namespace cu264::encoder::cuda
