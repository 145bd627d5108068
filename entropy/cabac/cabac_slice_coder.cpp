#include "entropy/cabac/cabac_slice_coder.h"

#include "core/bits.h"
#include "core/block.h"
#include "core/cabac_encoder.h"
#include "core/cabac_macroblock.h"
#include "core/cabac_p_macroblock.h"
#include "cu264/status.h"

namespace cu264::entropy {
namespace {

using core::CodedPictureView;
using core::MacroblockKind;
using core::MacroblockRecord;

// Ends the codeword, and begins the next one after the samples (9.3.1.2).
void put_pcm_samples(core::CabacEncoder& encoder, const CodedPictureView& picture, int mb_x, int mb_y) {
  encoder.finish();
  for (int c = 0; c < 3; ++c) {
    const int size = c == 0 ? 16 : 8;
    for (int y = 0; y < size; ++y) {
      const std::uint8_t* const row =
          picture.source[c] + (size * mb_y + y) * picture.source_pitch[c] + size * mb_x;
      for (int x = 0; x < size; ++x) encoder.put_byte(row[x]);
    }
  }
  encoder.restart();
}

// macroblock_layer of an I slice, or mb_skip_flag and macroblock_layer of a P slice.
void put_macroblock(core::CabacEncoder& encoder, const CodedPictureView& picture, int mb_x, int mb_y,
                    bool has_above, SliceStats& stats) {
  const std::size_t index = static_cast<std::size_t>(mb_y) * picture.mb_width + mb_x;
  const MacroblockRecord* const mb = picture.macroblocks + index;
  const MacroblockRecord* const left = mb_x > 0 ? mb - 1 : nullptr;
  const MacroblockRecord* const above = has_above ? mb - picture.mb_width : nullptr;
  const MacroblockRecord* const before = mb_x > 0 || has_above ? mb - 1 : nullptr;
  core::CabacNeighbours neighbours{core::cabac_neighbour(left), core::cabac_neighbour(above)};

  count_macroblock(mb->kind, stats);
  if (picture.motion == nullptr) {
    core::put_cabac_header(encoder, *mb, left, above, neighbours, core::changes_qp(before));
  } else {
    core::put_cabac_skip_flag(encoder, *mb, left, above);
    if (mb->kind == MacroblockKind::p_skip) return;
    const core::MotionRecord* const motion = picture.motion + index;
    const core::PNeighbours around{left, above, left != nullptr ? motion - 1 : nullptr,
                                   above != nullptr ? motion - picture.mb_width : nullptr};
    neighbours = core::cabac_p_neighbours(*mb, left, above);
    core::put_cabac_p_header(encoder, *mb, *motion, around, neighbours, core::changes_qp(before));
  }
  if (mb->kind == MacroblockKind::pcm) {
    put_pcm_samples(encoder, picture, mb_x, mb_y);
  } else {
    core::put_cabac_residual(encoder, *mb, picture.levels + index * core::kLevelsPerMacroblock, neighbours);
  }
}

core::CabacEncoder encoder_of(const CodedPictureView& picture, std::uint8_t* bytes, std::size_t capacity,
                              int slice_qp, int cabac_init_idc) {
  if (picture.motion == nullptr) return {bytes, capacity, slice_qp};
  return {bytes, capacity, slice_qp, cabac_init_idc};
}

}  // namespace

std::size_t max_cabac_slice_rbsp_bytes(int macroblocks) {
  constexpr std::size_t kSliceHeaderAndTrailing = 16, kMacroblock = 1664;
  return kSliceHeaderAndTrailing + kMacroblock * static_cast<std::size_t>(macroblocks);
}

std::size_t code_cabac_slice(const CodedPictureView& picture, int slice, const core::SliceHeaderBits& header,
                             int slice_qp, std::uint8_t* bytes, std::size_t capacity, SliceStats& stats,
                             int cabac_init_idc) {
  core::BitWriter writer(bytes, capacity);
  put_slice_header(header, writer);
  while (!writer.aligned()) writer.put(1, 1);  // cabac_alignment_one_bit
  writer.align_with_zeros();
  const std::size_t header_bytes = writer.size();

  core::CabacEncoder encoder =
      encoder_of(picture, bytes + header_bytes, capacity - header_bytes, slice_qp, cabac_init_idc);
  const int first_row = core::slice_first_row(slice, picture.slices, picture.mb_height);
  const int end_row = core::slice_first_row(slice + 1, picture.slices, picture.mb_height);
  for (int mb_y = first_row; mb_y < end_row; ++mb_y) {
    for (int mb_x = 0; mb_x < picture.mb_width; ++mb_x) {
      put_macroblock(encoder, picture, mb_x, mb_y, mb_y > first_row, stats);
      const bool last = mb_y == end_row - 1 && mb_x == picture.mb_width - 1;
      encoder.terminate(last ? 1 : 0);  // end_of_slice_flag
    }
  }
  stats.residual_bits += encoder.bit_position() + 8;  // up to rbsp_stop_one_bit
  encoder.finish();
  stats.bins += encoder.bins();
  if (writer.overflowed() || encoder.overflowed())
    throw Error(ErrorCode::encode_failure, "a slice exceeds the largest size that a slice can have");
  return header_bytes + encoder.size();
}

}  // namespace cu264::entropy
