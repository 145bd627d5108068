#include "encoder/cuda/encrypt.h"

#include "common/cuda/error_check.h"
#include "encoder/cuda/cipher_transform.cuh"
#include "entropy/cavlc/code_groups.cuh"

namespace cu264::encoder::cuda {
namespace {

constexpr int kWarps = 4;

// Each warp takes a group, and each lane one of its macroblocks.
__global__ void __launch_bounds__(32 * kWarps)
    encrypt_macroblocks(const __grid_constant__ BatchView batch, const __grid_constant__ EncryptionPlan plan,
                        const __grid_constant__ entropy::GroupLayout layout) {
  const std::uint32_t index = blockIdx.x * kWarps + threadIdx.x / 32;
  if (index >= layout.groups()) return;
  const entropy::Group group = entropy::group_at(batch, layout, index);
  const entropy::MacroblockLane lane(batch, group, static_cast<int>(threadIdx.x) & 31);
  if (!lane.exists) return;
  const std::size_t mb =
      static_cast<std::size_t>(group.picture) * batch.macroblocks_per_picture() + lane.index;
  const auto keystream = [&](std::uint32_t block) {
    return protect::keystream_block(plan.key, plan.nonce,
                                    static_cast<std::uint32_t>(batch.params[group.picture].index),
                                    static_cast<std::uint32_t>(lane.index), KeystreamUse::encryption, block);
  };
  if (plan.parts.modes) {
    const core::MacroblockRecord* const own = batch.macroblocks + mb;
    const core::MacroblockRecord* const left = lane.edges.no_left ? nullptr : own - 1;
    const core::MacroblockRecord* const above = lane.edges.no_above ? nullptr : own - batch.mb_width;
    const protect::AesBlock key = keystream(protect::kKeystreamModes);
    core::MacroblockRecord record = lane.record;
    protect::encrypt_mode_codes(record, left, above, key);
    protect::encrypt_other_modes(record, left != nullptr, above != nullptr, key);
    plan.macroblocks[mb] = record;
  }
  if (plan.levels()) {
    protect::encrypt_levels(lane.record, batch.total_coeff + mb * core::kTotalCoeffStride,
                            batch.levels + mb * core::kLevelsPerMacroblock, plan.parts.signs,
                            plan.parts.codewords, [&](protect::AesBlock* key, int count) {
                              for (int i = 0; i < count; ++i)
                                key[i] = keystream(static_cast<std::uint32_t>(i));
                            });
  }
}

}  // namespace

void launch_code_encrypted(const BatchView& batch, const EncryptionPlan& plan,
                           const entropy::CodeScratch& scratch, const entropy::GroupBits& bits,
                           cudaStream_t stream) {
  launch_group_keystream(batch, plan, bits, stream);
  if (plan.parts.codewords) {
    entropy::launch_code_groups<CipherTransform<true>>(batch, {plan.parts}, scratch, bits, stream);
  } else {
    entropy::launch_code_groups<CipherTransform<false>>(batch, {plan.parts}, scratch, bits, stream);
  }
}

BatchView launch_encrypt(const BatchView& batch, const EncryptionPlan& plan, cudaStream_t stream) {
  const entropy::GroupLayout layout = entropy::group_layout(batch);
  const auto blocks = static_cast<unsigned>((layout.groups() + kWarps - 1) / kWarps);
  encrypt_macroblocks<<<blocks, 32 * kWarps, 0, stream>>>(batch, plan, layout);
  check_launch("encrypt_macroblocks");
  BatchView coded = batch;
  if (plan.parts.modes) coded.macroblocks = plan.macroblocks, coded.mode_codes = true;
  return coded;
}

}  // namespace cu264::encoder::cuda
