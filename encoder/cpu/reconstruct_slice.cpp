// Picks the build of the search that the processor supports.

#include "encoder/cpu/reconstruct_slice.h"

#include "core/mb_qp_delta.h"
#include "encoder/cpu/reconstruct_isa.h"
#include "encoder/presets.h"

namespace cu264::encoder {
namespace {

// The search with one rate model.
struct Search {
  decltype(&isa_portable::reconstruct_slice) reconstruct_slice;
  decltype(&isa_portable::run_p_pass) run_p_pass;
  decltype(&isa_portable::half_samples) half_samples;
};

struct Implementation {
  const char* name;
  Search by_cavlc;
  Search by_cabac;
};

#define CU264_SEARCH(isa) \
  { isa::reconstruct_slice, isa::run_p_pass, isa::half_samples }

Implementation choose() {
#if defined(CU264_X86_64_LEVELS)
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd")) {
    return {"AVX-512", CU264_SEARCH(isa_x86_64_v4), CU264_SEARCH(isa_x86_64_v4_cabac)};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma")) {
    return {"AVX2", CU264_SEARCH(isa_x86_64_v3), CU264_SEARCH(isa_x86_64_v3_cabac)};
  }
#endif
  return {"portable", CU264_SEARCH(isa_portable), CU264_SEARCH(isa_portable_cabac)};
}

#undef CU264_SEARCH

const Implementation& chosen() {
  static const Implementation implementation = choose();
  return implementation;
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

void reconstruct_slice(CpuPicture& picture, int slice, int qp, Preset preset) {
  search_of(picture, preset).reconstruct_slice(picture, slice, qp, preset);
  if (!picture.qp_offsets.empty()) set_mb_qp_deltas(picture, slice, qp);
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
