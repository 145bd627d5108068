// Picks the build of the search that suits the processor.

#include "encoder/cpu/reconstruct_slice.h"

#include "core/mb_qp_delta.h"
#include "encoder/cpu/reconstruct_isa.h"

namespace cu264::encoder {
namespace {

struct Implementation {
  const char* name;
  decltype(&isa_portable::reconstruct_slice) reconstruct_slice;
};

Implementation choose() {
#if defined(CU264_X86_64_LEVELS)
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd")) {
    return {"AVX-512", isa_x86_64_v4::reconstruct_slice};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma")) {
    return {"AVX2", isa_x86_64_v3::reconstruct_slice};
  }
#endif
  return {"portable", isa_portable::reconstruct_slice};
}

const Implementation& chosen() {
  static const Implementation implementation = choose();
  return implementation;
}

}  // namespace

void reconstruct_slice(CpuPicture& picture, int slice, int qp, Preset preset) {
  chosen().reconstruct_slice(picture, slice, qp, preset);
  if (picture.qp_offsets.empty()) return;
  // The slice's macroblocks follow one another in the array too.
  const int begin = core::slice_first_row(slice, picture.slices, picture.mb_height) * picture.mb_width;
  const int end = core::slice_first_row(slice + 1, picture.slices, picture.mb_height) * picture.mb_width;
  int predicted = qp;
  for (int mb = begin; mb < end; ++mb) {
    core::MacroblockRecord& record = picture.macroblocks[static_cast<std::size_t>(mb)];
    core::chain_qp(record, predicted);
    predicted = record.qp;
  }
}

const char* instruction_set() {
  return chosen().name;
}

}  // namespace cu264::encoder
