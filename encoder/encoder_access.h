// Opening an encoder with what Config does not offer, because only developers who compare want it.
#pragma once

#include "cu264/encoder.h"
#include "entropy/cavlc/entropy_kernel.h"

namespace cu264::encoder {

struct EncoderAccess {
  // With other kernels of the CUDA backend in stage `code`; null: the production kernel. The bytes are the
  // same. Throws as Encoder's constructor does, and Error(unsupported) if the CPU backend is asked for.
  static Encoder open(const Config& config, const entropy::EntropyKernel* entropy_kernel);
};

}  // namespace cu264::encoder
