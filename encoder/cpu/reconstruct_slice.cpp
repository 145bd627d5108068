// Picks the build of the search that the processor supports.

#include "encoder/cpu/reconstruct_slice.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/mb_qp_delta.h"
#include "core/qp_settings.h"
#include "core/quant.h"
#include "core/quant8x8.h"
#include "encoder/cpu/reconstruct_isa.h"
#include "encoder/instruction_set.h"
#include "encoder/presets.h"

namespace cu264::encoder {
namespace {

// The search with one rate model.
struct Search {
  decltype(&isa_portable::reconstruct_rows) reconstruct_rows;
  decltype(&isa_portable::run_p_pass) run_p_pass;
  decltype(&isa_portable::half_samples) half_samples;
};

struct Implementation {
  const char* name;
  Search by_cavlc;
  Search by_cabac;
};

#define CU264_SEARCH(isa) \
  { isa::reconstruct_rows, isa::run_p_pass, isa::half_samples }

Implementation choose() {
  switch (newest_instruction_set()) {
#if defined(CU264_X86_64_LEVELS)
    case InstructionSet::x86_64_v4:
      return {"AVX-512", CU264_SEARCH(isa_x86_64_v4), CU264_SEARCH(isa_x86_64_v4_cabac)};
    case InstructionSet::x86_64_v3:
      return {"AVX2", CU264_SEARCH(isa_x86_64_v3), CU264_SEARCH(isa_x86_64_v3_cabac)};
#endif
    default:
      return {"portable", CU264_SEARCH(isa_portable), CU264_SEARCH(isa_portable_cabac)};
  }
}

#undef CU264_SEARCH

const Implementation& chosen() {
  static const Implementation implementation = choose();
  return implementation;
}

constexpr int kMaxQp = 51;

// The least magnitude that core::quantise_with_dead_zone does not make zero.
std::int16_t least_magnitude(int first_level, int rounding, int multiplier) {
  return static_cast<std::int16_t>(
      std::min((first_level - rounding + multiplier - 1) / multiplier, INT16_MAX));
}

InterLevelLimits make_inter_level_limits(int qp) {
  const core::Quantiser luma = core::make_quantiser(qp);
  const core::Quantiser chroma = core::make_quantiser(core::chroma_qp(qp));
  const core::Quantiser8x8 large = core::make_quantiser8x8(qp);
  InterLevelLimits limits;
  for (int i = 0; i < 128; ++i) {
    constexpr int kOrder[4] = {0, 2, 1, 3};
    const int y = i / 32, raster = 4 * y + kOrder[i & 3], position = core::position_class(raster);
    const auto limit = [&](const core::Quantiser& q, core::DeadZone zone) {
      return least_magnitude(core::first_level_at(zone, raster, q.shift), q.rounding, q.multiplier[position]);
    };
    limits.luma[y][i & 31] = limit(luma, core::kInterOfP.luma);
    limits.chroma[y][i & 31] = raster == 0 ? std::int16_t{INT16_MAX} : limit(chroma, core::kInterOfP.chroma);
  }
  for (int i = 0; i < 64; ++i) {
    limits.luma8x8[i] = least_magnitude(core::first_level_at8x8(core::kInterOfP.luma8x8, i, large.shift),
                                        large.rounding, large.multiplier[core::position_class8x8(i)]);
  }
  return limits;
}

const Search& search_of(const CpuPicture& picture, Preset preset) {
  const bool by_cabac = counts_cabac(search_params(preset, picture.transform_8x8_mode), picture.cabac,
                                     picture.scaling_lists == ScalingLists{});
  return by_cabac ? chosen().by_cabac : chosen().by_cavlc;
}

}  // namespace

const core::CabacCosts& cabac_costs(int qp) {
  static const core::CabacCostTable table = core::make_cabac_cost_table();
  return table.at[qp];
}

const InterLevelLimits& inter_level_limits(int qp) {
  static const std::vector<InterLevelLimits> table = [] {
    std::vector<InterLevelLimits> limits;
    for (int of_qp = 0; of_qp <= kMaxQp; ++of_qp) limits.push_back(make_inter_level_limits(of_qp));
    return limits;
  }();
  return table[static_cast<std::size_t>(qp)];
}

void reconstruct_slice(CpuPicture& picture, int slice, int qp, Preset preset) {
  const int first_row = core::slice_first_row(slice, picture.slices, picture.mb_height);
  const int end_row = core::slice_first_row(slice + 1, picture.slices, picture.mb_height);
  search_of(picture, preset).reconstruct_rows(picture, first_row, end_row, qp, preset, nullptr);
  if (!picture.qp_offsets.empty()) set_mb_qp_deltas(picture, slice, qp);
}

void reconstruct_i_picture(CpuPicture& picture, int qp, Preset preset, const ForRows& for_rows) {
  const auto reconstruct_rows = search_of(picture, preset).reconstruct_rows;
  for_rows_in_order(for_rows, picture.mb_height, picture.mb_width, [&](int row, RowProgress& progress) {
    reconstruct_rows(picture, row, row + 1, qp, preset, &progress);
  });
  if (picture.qp_offsets.empty()) return;
  for (int slice = 0; slice < picture.slices; ++slice) set_mb_qp_deltas(picture, slice, qp);
}

void set_mb_qp_deltas(CpuPicture& picture, int slice, int qp) {
  // The slice's macroblocks are contiguous in the array.
  const int begin = core::slice_first_row(slice, picture.slices, picture.mb_height) * picture.mb_width;
  const int end = core::slice_first_row(slice + 1, picture.slices, picture.mb_height) * picture.mb_width;
  int predicted = qp;
  for (int mb = begin; mb < end; ++mb) {
    core::MacroblockRecord& record = picture.macroblocks[static_cast<std::size_t>(mb)];
    core::set_mb_qp_delta(record, predicted);
    predicted = record.qp;
  }
}

void run_p_pass(const PPicture& picture, PPass pass, int row) {
  search_of(picture.picture, picture.preset).run_p_pass(picture, pass, row);
}

void half_samples(GopChain& chain, int row) {
  chosen().by_cavlc.half_samples(chain, row);
}

const char* instruction_set() {
  return chosen().name;
}

}  // namespace cu264::encoder
