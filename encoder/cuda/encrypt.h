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
  core::MacroblockRecord* macroblocks =
      nullptr;  // [picture][mb]; only for launch_encrypt, if modes are encrypted

  CU264_HD_MEMBER bool levels() const { return parts.signs || parts.codewords; }
};

// The functions below are asynchronous on `stream` and throw cu264::Error if a launch is refused.

// Writes the keystream of each group to where its bits will be (group_keystream.cuh).
void launch_group_keystream(const BatchView& batch, const EncryptionPlan& plan,
                            const entropy::GroupBits& bits, cudaStream_t stream);

// Runs the stage `code` (entropy/cavlc/code_batch.h) with encryption; the batch itself stays as it is.
void launch_code_encrypted(const BatchView& batch, const EncryptionPlan& plan,
                           const entropy::CodeScratch& scratch, const entropy::GroupBits& bits,
                           cudaStream_t stream);

// The slower form, for other coders: encrypts the batch's levels in place. If modes are encrypted, the
// returned batch refers to the plan's macroblocks, which must be coded instead of the batch's. The plan's
// memory belongs to the launch until the batch is coded.
BatchView launch_encrypt(const BatchView& batch, const EncryptionPlan& plan, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
