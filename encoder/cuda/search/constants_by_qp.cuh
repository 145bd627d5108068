// The constants of the search, an argument of the kernels. A batch with a single QP has one set; where
// pictures or macroblocks differ in QP, a warp takes what its macroblock needs from tables.
//
// The tables are in constant memory, and the warp tells the compiler that all its lanes have the same QP. So
// it knows the same of the constants (warp_block.cuh, uniform), and only the QP need be kept.
#pragma once

#include <cstdint>

#include "core/mb_qp_delta.h"
#include "core/qp_settings.h"
#include "encoder/cuda/search/candidates.cuh"
#include "encoder/cuda/search/search_rate.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

__host__ __device__ inline SearchConstants search_constants(const SearchParams& search,
                                                            bool transform_8x8_mode, int qp,
                                                            const core::QpSettings& settings) {
  SearchConstants constants;
  constants.search = search;
  constants.transform_8x8_mode = transform_8x8_mode;
  constants.qp = qp;
  constants.satd_lambda = core::scaled_lambda(core::satd_lambda<SearchRate>(qp), settings.satd_lambda);
  constants.chroma_satd_lambda = core::chroma_satd_lambda(qp);
  constants.rd_lambda = core::scaled_lambda(core::rd_lambda(qp), settings.rd_lambda);
  constants.chroma_error_weight = core::chroma_error_weight(qp);
  constants.luma = core::make_quantiser(qp);
  constants.chroma = core::make_quantiser(core::chroma_qp(qp));
  return constants;
}

// All macroblocks of the batch have one QP.
template <bool kQpVaries>
class ConstantsByQp {
 public:
  ConstantsByQp(const SearchParams& search, bool transform_8x8_mode, int qp)
      : constants_(search_constants(search, transform_8x8_mode, qp, core::kIPictures)) {}

  // Returns those for which LaneConstants are made first.
  __device__ const SearchConstants& initial() const { return constants_; }
  template <class Lists>
  __device__ const SearchConstants& of(const BatchView&, const MacroblockPosition&,
                                       LaneConstants<Lists>&) const {
    return constants_;
  }

 private:
  SearchConstants constants_;
};

template <>
class ConstantsByQp<true> {
 public:
  ConstantsByQp(const SearchParams& search, bool transform_8x8_mode, int,
                const core::QpSettings& settings = core::kIPictures)
      : search_(search), transform_8x8_mode_(transform_8x8_mode) {
    for (int qp = 0; qp < core::kQps; ++qp) {
      const SearchConstants all = search_constants(search, transform_8x8_mode, qp, settings);
      weights_[qp] = {all.satd_lambda, all.chroma_satd_lambda, all.rd_lambda, all.chroma_error_weight,
                      core::chroma_qp(qp)};
      quantisers_[qp] = all.luma;
    }
  }

  __device__ SearchConstants initial() const { return at(0); }
  // Returns the constants of the macroblock at `position` and updates `mine` for it. The picture's QP is
  // loaded for every macroblock along with its offset. If it is kept for the row, in registers or in shared
  // memory, all presets spill more.
  template <class Lists>
  __device__ SearchConstants of(const BatchView& batch, const MacroblockPosition& position,
                                LaneConstants<Lists>& mine) const {
    int qp = batch.params[position.picture].qp;
    if (batch.qp_offsets != nullptr) {
      const std::size_t mb = static_cast<std::size_t>(position.picture) * batch.macroblocks_per_picture() +
                             static_cast<std::size_t>(position.mb_y) * batch.mb_width + position.mb_x;
      qp = core::macroblock_qp(qp, batch.qp_offsets[mb]);
    }
    qp = uniform(qp);
    const SearchConstants here = at(qp);
    const int lane = mine.lane.position;
    mine.luma = typename Lists::Luma(here.luma, lane, core::kDeadZoneLuma, mine.lists.luma(qp));
    mine.chroma = typename Lists::Chroma(here.chroma, lane, core::kDeadZoneChroma, mine.lists.chroma(qp));
    return here;
  }

 private:
  struct Weights {
    int satd_lambda, chroma_satd_lambda, rd_lambda, chroma_error_weight, chroma_qp;
  };

  __device__ SearchConstants at(int qp) const {
    const Weights& weights = weights_[qp];
    SearchConstants constants;
    constants.search = search_;
    constants.transform_8x8_mode = transform_8x8_mode_;
    constants.qp = qp;
    constants.satd_lambda = weights.satd_lambda;
    constants.chroma_satd_lambda = weights.chroma_satd_lambda;
    constants.rd_lambda = weights.rd_lambda;
    constants.chroma_error_weight = weights.chroma_error_weight;
    constants.luma = quantisers_[qp];
    constants.chroma = quantisers_[weights.chroma_qp];
    return constants;
  }

  SearchParams search_;
  bool transform_8x8_mode_;
  Weights weights_[core::kQps];
  core::Quantiser quantisers_[core::kQps];  // of luma, or of chroma at its QP
};

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
