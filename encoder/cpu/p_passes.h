// A P picture is coded in passes. Macroblocks of a pass do not depend on each other, except in decide_skips
// and intra_search, so its rows can be done in any order and at the same time; each pass needs the ones
// before it.
#pragma once

#include "cu264/encoder.h"
#include "encoder/cpu/gop_chain.h"
#include "encoder/cpu_picture.h"
#include "encoder/row_progress.h"

namespace cu264::encoder {

enum class PPass {
  half_size,       // the source picture at half size
  quarter_size,    // and at quarter size
  sum_blocks,      // there: a row of sums, of which the first is that of the padding's first row
  search_quarter,  // whole-sample vectors on the source: a row of blocks of 8x8 samples of quarter size
  search_half,
  search_whole,
  search_whole_again,
  search_blocks,  // and those of 8x8 blocks
  refine,         // vectors at quarter samples
  merge,
  merge_again,
  code,          // all macroblocks as inter macroblocks
  decide_skips,  // those that are better as P_Skip: each row after the one above
  intra_search,  // those that may be better as I macroblocks: each row after the one above
  finish,        // mvd
};

// A picture that is being coded.
struct PPicture {
  CpuPicture& picture;
  GopChain& chain;
  int qp;
  Preset preset;
  RowProgress* rows_in_order = nullptr;  // of decide_skips and intra_search
};

}  // namespace cu264::encoder
