// Computes keystream in device memory.
#pragma once

#include "cu264/protect.h"
#include "protect/aes.h"

namespace cu264::protect::cuda {

// Runs asynchronously on `stream`, a cudaStream_t. Throws cu264::Error if the launch is refused.
void launch_keystream(const AesKey& key, const KeystreamRange& range, void* d_out, void* stream);

}  // namespace cu264::protect::cuda
