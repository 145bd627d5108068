// Opens an encoder with a setting that Config does not offer, because only developers need it for
// comparisons.
#pragma once

#include "cu264/encoder.h"
#include "entropy/cavlc/entropy_kernel.h"

namespace cu264::encoder {

struct EncoderAccess {
  // `entropy_kernel` replaces the CUDA backend's kernel of the stage `code`; null: the production kernel. The
  // bytes are the same. Such kernels code CAVLC, so the profile `automatic` then has CAVLC. Throws as
  // Encoder's constructor does, and Error(unsupported) if the CPU backend or CABAC is asked for.
  static Encoder open(const Config& config, const entropy::EntropyKernel* entropy_kernel);
};

}  // namespace cu264::encoder
