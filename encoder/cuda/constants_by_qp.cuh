// Constants of the search where pictures or macroblocks differ in QP: one set for each QP in shared memory,
// from which a warp takes its macroblock's. In a batch of one QP all this is the launch's one set.
#pragma once

#include "core/mb_qp_delta.h"
#include "encoder/cuda/candidates.cuh"

namespace cu264::encoder::cuda {

__host__ __device__ inline SearchConstants search_constants(const SearchParams& search, int qp) {
  SearchConstants constants;
  constants.search = search;
  constants.qp = qp;
  constants.satd_lambda = core::satd_lambda(qp);
  constants.rd_lambda = core::rd_lambda(qp);
  constants.chroma_error_weight = core::chroma_error_weight(qp);
  constants.luma = core::make_quantiser(qp);
  constants.chroma = core::make_quantiser(core::chroma_qp(qp));
  return constants;
}

// Where all macroblocks of a batch have one QP: its constants, which are the kernel's argument.
template <bool kQpVaries>
struct ConstantsByQp {
  __device__ void fill(const SearchConstants&) {}
  __device__ const SearchConstants& of(const SearchConstants& fixed, const BatchView&, const Place&,
                                       LaneConstants&) const {
    return fixed;
  }
};

template <>
struct ConstantsByQp<true> {
  SearchConstants at[core::kQps];

  // By all threads of the block, a barrier before the first use.
  __device__ void fill(const SearchConstants& fixed) {
    for (int qp = static_cast<int>(threadIdx.x); qp < core::kQps; qp += static_cast<int>(blockDim.x)) {
      at[qp] = search_constants(fixed.search, qp);
    }
  }
  // Of the macroblock at `place`, for which `mine` is changed too. The picture's QP is loaded beside the
  // macroblock's offset: kept for the row, in registers or in shared memory, it makes all presets spill more.
  __device__ const SearchConstants& of(const SearchConstants&, const BatchView& batch, const Place& place,
                                       LaneConstants& mine) const {
    int qp = batch.params[place.picture].qp;
    if (batch.qp_offsets != nullptr) {
      const std::size_t mb = static_cast<std::size_t>(place.picture) * batch.macroblocks_per_picture() +
                             static_cast<std::size_t>(place.mb_y) * batch.mb_width + place.mb_x;
      qp = core::macroblock_qp(qp, batch.qp_offsets[mb]);
    }
    const SearchConstants& here = at[qp];
    mine.luma = LaneQuantiser(here.luma, mine.place.position, core::kDeadZoneLuma);
    mine.chroma = LaneQuantiser(here.chroma, mine.place.position, core::kDeadZoneChroma);
    return here;
  }
};

}  // namespace cu264::encoder::cuda
