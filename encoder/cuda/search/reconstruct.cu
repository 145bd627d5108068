#include "encoder/cuda/search/reconstruct.h"

#include <algorithm>

#include "encoder/cuda/search/mb_qp_delta_chain.h"
#include "encoder/cuda/search/reconstruct_kernels.cuh"

namespace cu264::encoder::cuda {

// The kernels for streams without Intra_8x8. Those for streams with it are in reconstruct_high.cu and
// reconstruct_weighted.cu.
void launch_without_intra8x8(const ReconstructLaunch& job) {
  job.qp_varies ? launch<true, false>(job) : launch<false, false>(job);
}

std::size_t reconstruct_scratch_bytes(int pictures, int mb_width, int mb_height) {
  const std::size_t mbs = static_cast<std::size_t>(mb_width) * mb_height;
  const std::size_t few = static_cast<std::size_t>(std::min(pictures, tuned::kMaxPicturesByPairs));
  const std::size_t records =
      std::max(sizeof(BottomRow) * static_cast<std::size_t>(pictures) * mbs, sizeof(TaggedRow) * few * mbs);
  return flag_bytes(pictures, mb_height) + aligned(records, Arena::kAlignment);
}

void launch_reconstruct(const BatchView& batch, int pictures_on_device, std::optional<int> common_qp,
                        Preset preset, void* d_scratch, cudaStream_t stream, const std::uint32_t* marks,
                        bool mark_parity, const ScalingLists& lists) {
  ReconstructLaunch job{batch,
                        search_params(preset, batch.transform_8x8_mode),
                        common_qp.value_or(0),
                        !common_qp || batch.qp_offsets != nullptr,
                        d_scratch,
                        std::max(pictures_on_device, batch.pictures),
                        marks,
                        mark_parity,
                        stream,
                        lists};
  const bool flat = lists == ScalingLists{};
  if (counts_cabac(job.search, batch.cabac, flat)) {
    batch.transform_8x8_mode ? launch_cabac_with_intra8x8(job) : launch_cabac_without_intra8x8(job);
  } else if (!batch.transform_8x8_mode) {
    launch_without_intra8x8(job);
  } else {
    flat ? launch_with_intra8x8(job) : launch_with_weights(job);
  }
  if (batch.qp_offsets != nullptr) launch_mb_qp_delta_chain(batch, stream);
}

}  // namespace cu264::encoder::cuda
