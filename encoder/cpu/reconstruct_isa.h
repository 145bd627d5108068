// The builds of the search, each in its own namespace. Those of all instruction sets give the same results.
#pragma once

#include "core/cabac_costs.h"
#include "cu264/encoder.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/p_passes.h"
#include "encoder/cpu_picture.h"

namespace cu264::encoder {

// The costs of CABAC by QP.
const core::CabacCosts& cabac_costs(int qp);

// Builds that count the bits of CAVLC, and those of CABAC.
#define CU264_DECLARE_SEARCH(isa)                                                  \
  namespace isa {                                                                  \
  void reconstruct_slice(CpuPicture& picture, int slice, int qp, Preset preset);   \
  void run_p_pass(const PPicture& picture, PPass pass, int row);                   \
  void half_samples(GopChain& chain, int row);                                     \
  }                                                                                \
  namespace isa##_cabac {                                                          \
    void reconstruct_slice(CpuPicture& picture, int slice, int qp, Preset preset); \
    void run_p_pass(const PPicture& picture, PPass pass, int row);                 \
    void half_samples(GopChain& chain, int row);                                   \
  }

CU264_DECLARE_SEARCH(isa_portable)
CU264_DECLARE_SEARCH(isa_x86_64_v3)  // AVX2, BMI2
CU264_DECLARE_SEARCH(isa_x86_64_v4)  // AVX-512

#undef CU264_DECLARE_SEARCH

}  // namespace cu264::encoder
