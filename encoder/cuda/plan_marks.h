// Which blocks of a batch carry which bits of a watermark.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/picture_params.h"
#include "protect/aes.h"

namespace cu264::encoder::cuda {

struct MarkPlan {
  protect::AesKey key;
  std::uint64_t nonce = 0;
  std::uint32_t density = 0;
  const std::uint8_t* frame = nullptr;  // in device memory
  std::uint32_t frame_bytes = 0;
};

// Fills marks [picture][mb] (protect/watermark.h) of the pictures with parameters [picture]. Asynchronous on
// `stream`. Throws cu264::Error if the launch is refused.
void launch_plan_marks(const MarkPlan& plan, const core::PictureParams* params, int pictures, int macroblocks,
                       std::uint32_t* marks, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
