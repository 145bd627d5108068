// Selective encryption of a batch while it is coded.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/hd.h"
#include "cu264/protect.h"
#include "encoder/cuda/batch.h"
#include "entropy/cavlc/code_batch.h"
#include "entropy/cavlc/group_bits.h"
#include "protect/aes.h"

namespace cu264::encoder::cuda {

struct EncryptionPlan {
  protect::AesKey key;
  std::uint64_t nonce = 0;
  EncryptionParts parts;
  core::MacroblockRecord* macroblocks = nullptr;  // [picture][mb], for launch_encrypt if modes are encrypted

  CU264_HD_MEMBER bool levels() const { return parts.signs || parts.codewords; }
};

// All of these are asynchronous on `stream` and throw cu264::Error if a launch is refused.

// The keystream of each group to where its bits will be (group_keystream.cuh).
void launch_group_keystream(const BatchView& batch, const EncryptionPlan& plan,
                            const entropy::GroupBits& bits, cudaStream_t stream);

// Stage `code` (entropy/cavlc/code_batch.h) of the encrypted batch, which itself stays as it is.
void launch_code_encrypted(const BatchView& batch, const EncryptionPlan& plan,
                           const entropy::CodeScratch& scratch, const entropy::GroupBits& bits,
                           cudaStream_t stream);

// For other coders, and slowly: encrypts the batch's levels where they are. If modes are encrypted, the
// plan's macroblocks are what is to be coded instead of the batch's, and the returned batch has them. The
// plan's memory belongs to the launch until the batch is coded.
BatchView launch_encrypt(const BatchView& batch, const EncryptionPlan& plan, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
