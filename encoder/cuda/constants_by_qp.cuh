// Constants of the search where pictures or macroblocks differ in QP: one set for each QP in shared memory,
// from which a warp takes its row's or its macroblock's. In a batch of one QP all this is the launch's one
// set.
#pragma once

#include "core/qp_chain.h"
#include "encoder/cuda/candidates.cuh"

namespace cu264::encoder::cuda {

__host__ __device__ inline SearchConstants search_constants(const SearchParams& search, int qp) {
  SearchConstants constants;
  constants.search = search;
  constants.qp = qp;
  constants.satd_lambda = core::satd_lambda(qp);
  constants.rd_lambda = core::rd_lambda(qp);
  constants.luma = core::make_quantiser(qp);
  constants.chroma = core::make_quantiser(core::chroma_qp(qp));
  return constants;
}

// Where all macroblocks of a batch have one QP: its constants, which are the kernel's argument.
template <bool kQpVaries>
struct ConstantsByQp {
  __device__ void fill(const SearchConstants&) {}
  __device__ const SearchConstants& of_picture(const SearchConstants& fixed, const BatchView&, const Place&,
                                               LaneConstants&) const {
    return fixed;
  }
  __device__ const SearchConstants& of_macroblock(const SearchConstants& picture, const BatchView&,
                                                  const Place&, LaneConstants&) const {
    return picture;
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
  // Of the picture at `place`: once a row. `mine` becomes the same picture's.
  __device__ const SearchConstants& of_picture(const SearchConstants&, const BatchView& batch,
                                               const Place& place, LaneConstants& mine) const {
    const SearchConstants& here = at[batch.params[place.picture].qp];
    take(here, mine);
    return here;
  }
  // Of the macroblock at `place`, whose picture's are known; `mine` becomes the macroblock's.
  __device__ const SearchConstants& of_macroblock(const SearchConstants& picture, const BatchView& batch,
                                                  const Place& place, LaneConstants& mine) const {
    if (batch.qp_offsets == nullptr) return picture;
    const std::size_t mb = static_cast<std::size_t>(place.picture) * batch.macroblocks_per_picture() +
                           static_cast<std::size_t>(place.mb_y) * batch.mb_width + place.mb_x;
    const SearchConstants& here = at[core::macroblock_qp(picture.qp, batch.qp_offsets[mb])];
    take(here, mine);
    return here;
  }

 private:
  __device__ static void take(const SearchConstants& here, LaneConstants& mine) {
    mine.luma = LaneQuantiser(here.luma, mine.place.position, kDeadZoneLuma);
    mine.chroma = LaneQuantiser(here.chroma, mine.place.position, kDeadZoneChroma);
  }
};

}  // namespace cu264::encoder::cuda
