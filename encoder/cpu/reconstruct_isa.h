// The builds of the search, each in its own namespace. Those of all instruction sets give the same results.
#pragma once

#include <cstdint>

#include "core/cabac_costs.h"
#include "cu264/encoder.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/p_passes.h"
#include "encoder/cpu_picture.h"
#include "encoder/row_progress.h"

namespace cu264::encoder {

// The costs of CABAC by QP.
const core::CabacCosts& cabac_costs(int qp);

// The least magnitudes of coefficients that become levels by the dead zones of inter macroblocks with flat
// scaling lists. Where all are below, the block is zero.
struct InterLevelLimits {
  // They lie as the coefficients that they are compared with (encoder/cpu/coefficient_test_inl.h): by
  // vertical frequency, and there 4x4 blocks side by side with their horizontal frequencies in the order 0,
  // 2, 1, 3. Those of chroma are for AC levels.
  std::int16_t luma[4][32], chroma[4][32];
  std::int16_t luma8x8[64];  // either way round: they are symmetric
};
const InterLevelLimits& inter_level_limits(int qp);

// Builds that count the bits of CAVLC, and those of CABAC.
#define CU264_DECLARE_SEARCH(isa)                                                                 \
  namespace isa {                                                                                 \
  void reconstruct_rows(CpuPicture& picture, int first_row, int end_row, int qp, Preset preset,   \
                        RowProgress* progress);                                                   \
  void run_p_pass(const PPicture& picture, PPass pass, int row);                                  \
  void half_samples(GopChain& chain, int row);                                                    \
  }                                                                                               \
  namespace isa##_cabac {                                                                         \
    void reconstruct_rows(CpuPicture& picture, int first_row, int end_row, int qp, Preset preset, \
                          RowProgress* progress);                                                 \
    void run_p_pass(const PPicture& picture, PPass pass, int row);                                \
    void half_samples(GopChain& chain, int row);                                                  \
  }

CU264_DECLARE_SEARCH(isa_portable)
CU264_DECLARE_SEARCH(isa_x86_64_v3)  // AVX2, BMI2
CU264_DECLARE_SEARCH(isa_x86_64_v4)  // AVX-512

#undef CU264_DECLARE_SEARCH

}  // namespace cu264::encoder
