// The builds of the loop filter, each in its own namespace (encoder/instruction_set.h).
#pragma once

#include "core/deblock.h"
#include "encoder/cpu_picture.h"
#include "encoder/row_progress.h"

namespace cu264::encoder {

#define CU264_DECLARE_FILTER(isa)                                                                      \
  namespace isa {                                                                                      \
  void filter_i_row(CpuPicture& picture, int row, core::FilterOffsets offsets, RowProgress& progress); \
  void filter_p_row(CpuPicture& picture, int row, core::FilterOffsets offsets, RowProgress& progress); \
  }

CU264_DECLARE_FILTER(isa_portable)
CU264_DECLARE_FILTER(isa_x86_64_v3)
CU264_DECLARE_FILTER(isa_x86_64_v4)

#undef CU264_DECLARE_FILTER

}  // namespace cu264::encoder
