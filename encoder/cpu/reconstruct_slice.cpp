// Picks the build of the search that the processor supports.

#include "encoder/cpu/reconstruct_slice.h"

#include "core/mb_qp_delta.h"
#include "encoder/cpu/reconstruct_isa.h"
#include "encoder/presets.h"

namespace cu264::encoder {
namespace {

struct Implementation {
  const char* name;
  decltype(&isa_portable::reconstruct_slice) by_cavlc;
  decltype(&isa_portable::reconstruct_slice) by_cabac;
};

Implementation choose() {
#if defined(CU264_X86_64_LEVELS)
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd")) {
    return {"AVX-512", isa_x86_64_v4::reconstruct_slice, isa_x86_64_v4_cabac::reconstruct_slice};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma")) {
    return {"AVX2", isa_x86_64_v3::reconstruct_slice, isa_x86_64_v3_cabac::reconstruct_slice};
  }
#endif
  return {"portable", isa_portable::reconstruct_slice, isa_portable_cabac::reconstruct_slice};
}

const Implementation& chosen() {
  static const Implementation implementation = choose();
  return implementation;
}

}  // namespace

const core::CabacCosts& cabac_costs(int qp) {
  static const core::CabacCostTable table = core::make_cabac_cost_table();
  return table.at[qp];
}

void reconstruct_slice(CpuPicture& picture, int slice, int qp, Preset preset) {
  const Implementation& search = chosen();
  const bool by_cabac = counts_cabac(search_params(preset, picture.transform_8x8_mode), picture.cabac,
                                     picture.scaling_lists == ScalingLists{});
  (by_cabac ? search.by_cabac : search.by_cavlc)(picture, slice, qp, preset);
  if (picture.qp_offsets.empty()) return;
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

const char* instruction_set() {
  return chosen().name;
}

}  // namespace cu264::encoder
