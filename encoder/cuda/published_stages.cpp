#include "encoder/cuda/published_stages.h"

#include "entropy/cavlc/published/entropy_kernels.h"
#include "entropy/pack/published/gvle_packer.h"

namespace cu264::encoder::cuda {

const entropy::EntropyKernel* entropy_kernel_of(const StreamParams& params) {
  if (params.execution.entropy_kernel != nullptr) return params.execution.entropy_kernel;
  return params.execution.entropy == EntropyCoder::cavlcu ? &entropy::kCavlcu : nullptr;
}

const entropy::Packer* packer_of(const StreamParams& params) {
  return params.execution.packing == Packing::gvle ? &entropy::kGvlePacker : nullptr;
}

}  // namespace cu264::encoder::cuda
