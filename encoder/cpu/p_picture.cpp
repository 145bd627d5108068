#include "encoder/cpu/p_picture.h"

#include <cstring>

#include "core/motion_limits.h"
#include "encoder/cpu/reconstruct_slice.h"

namespace cu264::encoder {
namespace {

void copy_row(const Plane& from, PaddedPlane& to, int y) {
  std::memcpy(to.at(0, y), from.row(y), static_cast<std::size_t>(from.width));
  to.pad_row(y);
}

// Where P_Skip was found, the macroblock becomes that; then the QPs are as a decoder derives them.
void settle_kinds(const PPicture& p) {
  CpuPicture& picture = p.picture;
  for (std::size_t mb = 0; mb < picture.macroblocks.size(); ++mb) {
    if (p.chain.skips[mb] != 0) picture.macroblocks[mb].kind = core::MacroblockKind::p_skip;
  }
  if (picture.qp_offsets.empty()) return;
  for (int slice = 0; slice < picture.slices; ++slice) set_mb_qp_deltas(picture, slice, p.qp);
}

void take_source(const PPicture& p, const ForRows& for_rows) {
  GopChain& chain = p.chain;
  PaddedPlane(&source)[GopChain::kSizes] = chain.source[chain.current];
  for_rows(source[0].height, [&](int y) { copy_row(p.picture.source[0], source[0], y); });
  source[0].pad_top_and_bottom();
  constexpr PPass kPasses[] = {PPass::half_size, PPass::quarter_size};
  for (int i = 1; i < GopChain::kSizes; ++i) {
    for_rows(source[i].height, [&](int y) {
      run_p_pass(p, kPasses[i - 1], y);
      source[i].pad_row(y);
    });
    source[i].pad_top_and_bottom();
  }
  const PaddedPlane& smallest = source[GopChain::kSizes - 1];
  for_rows(smallest.height + 2 * smallest.pad - 3, [&](int row) { run_p_pass(p, PPass::sum_blocks, row); });
}

}  // namespace

void take_reference(GopChain& chain, const ForRows& for_rows) {
  PaddedPlane& luma = chain.luma[core::kWholeSamples];
  for_rows(luma.height, [&](int y) { copy_row(chain.decoded[0], luma, y); });
  luma.pad_top_and_bottom();
  for (int c = 0; c < 2; ++c) {
    for_rows(chain.chroma[c].height, [&](int y) { copy_row(chain.decoded[1 + c], chain.chroma[c], y); });
    chain.chroma[c].pad_top_and_bottom();
  }
  constexpr int kPad = core::kHalfSamplePad;
  for_rows(luma.height + 2 * kPad, [&](int row) { half_samples(chain, row - kPad); });
  if (chain.decoded_inter) {
    chain.whole_before = chain.whole[1];
  } else {
    chain.whole_before.assign(chain.whole_before.size(), {});
  }
}

void begin_picture(const PPicture& p, bool replaces, const ForRows& for_rows) {
  if (!replaces) {
    if (p.picture.inter) take_reference(p.chain, for_rows);
    p.chain.current ^= 1;
  }
  take_source(p, for_rows);
}

void reconstruct_p_picture(const PPicture& p, const ForRows& for_rows) {
  const auto run = [&](PPass pass, int rows) { for_rows(rows, [&](int row) { run_p_pass(p, pass, row); }); };
  const int rows = p.picture.mb_height;
  run(PPass::search_quarter, p.chain.region_height);
  run(PPass::search_half, rows);
  run(PPass::search_whole, rows);
  run(PPass::search_whole_again, rows);
  if (p.preset != Preset::fast) run(PPass::search_blocks, rows);
  run(PPass::refine, rows);
  run(PPass::merge, rows);
  run(PPass::merge_again, rows);
  run(PPass::code, rows);
  for (const PPass pass : {PPass::decide_skips, PPass::intra_search}) {
    for_rows_in_order(for_rows, rows, p.picture.mb_width, [&](int row, RowProgress& progress) {
      PPicture in_order = p;
      in_order.rows_in_order = &progress;
      run_p_pass(in_order, pass, row);
    });
  }
  run(PPass::finish, rows);
  settle_kinds(p);
}

void keep_picture(const PPicture& p) {
  for (int c = 0; c < 3; ++c) p.chain.decoded[c] = p.picture.reconstruction[c];
  p.chain.decoded_inter = p.picture.inter;
}

}  // namespace cu264::encoder
