// A row of the loop filter, compiled once for each instruction set.
#include "encoder/deblock_isa.h"

#include "encoder/deblock_i_inl.h"
#include "encoder/deblock_p_inl.h"

namespace cu264::encoder::CU264_ISA {

// A macroblock is filtered after those to its left, above it, and above to the right, whose left edge changes
// samples of the one above (H.264 8.7).
template <class Filter>
static inline void filter_row(const CpuPicture& picture, int row, RowProgress& progress,
                              const Filter& filter) {
  for (int x = 0; x < picture.mb_width; ++x) {
    progress.wait_above(row, x + 2);
    filter(x);
    progress.set_done(row, x + 1);
  }
}

void filter_i_row(CpuPicture& picture, int row, core::FilterOffsets offsets, RowProgress& progress) {
  filter_row(picture, row, progress, [&](int x) { filter_i_macroblock(picture, x, row, offsets); });
}

void filter_p_row(CpuPicture& picture, int row, core::FilterOffsets offsets, RowProgress& progress) {
  filter_row(picture, row, progress, [&](int x) { filter_p_macroblock(picture, x, row, offsets); });
}

}  // namespace cu264::encoder::CU264_ISA
