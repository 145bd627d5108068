#include "encoder/cuda/published_stages.h"

#include "entropy/cavlc/published/entropy_kernels.h"
#include "entropy/pack/published/gvle_packer.h"

namespace cu264::encoder::cuda {

const entropy::EntropyKernel* entropy_kernel_of(const StageParams& params) {
  if (params.entropy_kernel != nullptr) return params.entropy_kernel;
  return params.entropy == EntropyCoder::cavlcu ? &entropy::kCavlcu : nullptr;
}

const entropy::Packer* packer_of(const StageParams& params) {
  return params.packing == Packing::gvle ? &entropy::kGvlePacker : nullptr;
}

}  // namespace cu264::encoder::cuda
