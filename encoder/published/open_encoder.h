// Opens encoders that code with the papers' kernels, for comparisons. The bytes are those of cu264::Encoder;
// the kernels are slower and take more memory.
#pragma once

#include "cu264/encoder.h"

namespace cu264::published {

enum class Coder { cavlcu, cavlcu_tuned, cavlc_su };

// The encoder uses the CUDA backend. Throws as Encoder's constructor does, and Error(unsupported) if the CPU
// backend is asked for.
Encoder open_encoder(const Config& config, Coder coder);

}  // namespace cu264::published
