// The loop filter over a whole picture (H.264 8.7), as a decoder applies it. The reconstruction that the
// encoder returns needs it, and so does a picture that others refer to; intra prediction reads unfiltered
// samples.
#pragma once

#include "encoder/cpu_picture.h"
#include "encoder/row_progress.h"

namespace cu264::encoder {

// Filters picture.reconstruction in place, across slice edges too (disable_deblocking_filter_idc 0). The
// offsets are FilterOffsetA and FilterOffsetB (twice slice_alpha_c0_offset_div2 and slice_beta_offset_div2),
// -12..12. Rows of macroblocks go to for_rows.
void deblock_picture(CpuPicture& picture, int filter_offset_a = 0, int filter_offset_b = 0,
                     const ForRows& for_rows = one_row_after_another);

}  // namespace cu264::encoder
