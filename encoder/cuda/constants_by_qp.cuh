// The constants of the search where pictures or macroblocks differ in QP: one set for each QP in shared
// memory, from which a warp takes the set of its macroblock. A batch with a single QP uses the one set of the
// launch.
#pragma once

#include "core/mb_qp_delta.h"
#include "encoder/cuda/candidates.cuh"
#include "encoder/cuda/search_rate.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

__host__ __device__ inline SearchConstants search_constants(const SearchParams& search, int qp) {
  SearchConstants constants;
  constants.search = search;
  constants.qp = qp;
  constants.satd_lambda = core::satd_lambda<SearchRate>(qp);
  constants.chroma_satd_lambda = core::chroma_satd_lambda(qp);
  constants.rd_lambda = core::rd_lambda(qp);
  constants.chroma_error_weight = core::chroma_error_weight(qp);
  constants.luma = core::make_quantiser(qp);
  constants.chroma = core::make_quantiser(core::chroma_qp(qp));
  return constants;
}

// All macroblocks of the batch have one QP, whose constants are an argument of the kernel.
template <bool kQpVaries>
struct ConstantsByQp {
  __device__ void fill(const SearchConstants&) {}
  template <class Lists>
  __device__ const SearchConstants& of(const SearchConstants& fixed, const BatchView&,
                                       const MacroblockPosition&, LaneConstants<Lists>&) const {
    return fixed;
  }
};

template <>
struct ConstantsByQp<true> {
  SearchConstants at[core::kQps];

  // All threads of the block call this; a barrier must follow before the first use.
  __device__ void fill(const SearchConstants& fixed) {
    for (int qp = static_cast<int>(threadIdx.x); qp < core::kQps; qp += static_cast<int>(blockDim.x)) {
      at[qp] = search_constants(fixed.search, qp);
      at[qp].transform_8x8_mode = fixed.transform_8x8_mode;
    }
  }
  // Returns the constants of the macroblock at `position` and updates `mine` for it. The picture's QP is
  // loaded for every macroblock beside its offset: if it is kept for the row, in registers or in shared
  // memory, all presets spill more.
  template <class Lists>
  __device__ const SearchConstants& of(const SearchConstants&, const BatchView& batch,
                                       const MacroblockPosition& position, LaneConstants<Lists>& mine) const {
    int qp = batch.params[position.picture].qp;
    if (batch.qp_offsets != nullptr) {
      const std::size_t mb = static_cast<std::size_t>(position.picture) * batch.macroblocks_per_picture() +
                             static_cast<std::size_t>(position.mb_y) * batch.mb_width + position.mb_x;
      qp = core::macroblock_qp(qp, batch.qp_offsets[mb]);
    }
    const SearchConstants& here = at[qp];
    const int lane = mine.lane.position;
    mine.luma = typename Lists::Luma(here.luma, lane, core::kDeadZoneLuma, mine.lists.luma(qp));
    mine.chroma = typename Lists::Chroma(here.chroma, lane, core::kDeadZoneChroma, mine.lists.chroma(qp));
    return here;
  }
};

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
