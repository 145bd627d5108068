// The papers' kernels that can replace the production coder and packer: Config::entropy and packing.
#pragma once

#include "encoder/stream_params.h"
#include "entropy/pack/pack_batch.h"

namespace cu264::encoder::cuda {

// These return null for the production form.
const entropy::EntropyKernel* entropy_kernel_of(const StreamParams& params);
const entropy::Packer* packer_of(const StreamParams& params);

}  // namespace cu264::encoder::cuda
