// The tables by which kernels find the frames, the parameters and the slice headers of a batch's pictures.
#pragma once

#include <cuda_runtime_api.h>

#include "core/slice_header.h"
#include "encoder/cuda/batch.h"

namespace cu264::encoder::cuda {

// [picture], in page-locked memory.
struct HostTables {
  const SourcePicture* sources;
  const core::PictureParams* params;
};

struct DeviceTables {
  SourcePicture* sources;                // [picture]
  core::PictureParams* params;           // [picture]
  core::SliceHeaderBits* slice_headers;  // [picture][slice]
};

// Fills the tables for a batch. The kernel reads the host's memory itself: for so few bytes that takes less
// time than a copy before it. Asynchronous on `stream`. Throws cu264::Error if the launch is refused.
void launch_batch_tables(const BatchView& batch, const HostTables& host, const DeviceTables& d,
                         cudaStream_t stream);

}  // namespace cu264::encoder::cuda
