// Selective encryption of a batch between its reconstruction and its coding.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cu264/protect.h"
#include "encoder/cuda/batch.h"
#include "protect/aes.h"

namespace cu264::encoder::cuda {

struct EncryptionPlan {
  protect::AesKey key;
  std::uint64_t nonce = 0;
  EncryptionParts parts;
  core::MacroblockRecord* macroblocks = nullptr;  // [picture][mb], if modes are encrypted
  std::uint32_t* ticket = nullptr;                // scratch
};

// Encrypts the batch's levels where they are. If modes are encrypted, the plan's macroblocks are what is to
// be coded instead of the batch's, which stay as they are, and the returned batch has them. The first picture
// is number `first`. Asynchronous on `stream`; the plan's memory belongs to the launch until the batch is
// coded. Throws cu264::Error if the launch is refused.
BatchView launch_encrypt(const BatchView& batch, const EncryptionPlan& plan, std::uint32_t first,
                         cudaStream_t stream);

}  // namespace cu264::encoder::cuda
