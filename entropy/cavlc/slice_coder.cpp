#include "entropy/cavlc/slice_coder.h"

#include "core/block.h"
#include "core/cavlc_block.h"
#include "core/mb_syntax.h"
#include "core/p_syntax.h"
#include "core/slot_neighbours.h"

namespace cu264::entropy {
namespace {

using core::CodedPictureView;
using core::MacroblockKind;
using core::MacroblockRecord;

// A macroblock and its neighbours in the slice. A null pointer stands for a neighbour that is not available.
struct Neighbourhood {
  const MacroblockRecord* left = nullptr;
  const MacroblockRecord* above = nullptr;
  const std::uint8_t* here_counts = nullptr;  // total_coeff by slot
  const std::uint8_t* left_counts = nullptr;
  const std::uint8_t* above_counts = nullptr;
};

void put_pcm_samples(core::BitWriter& writer, const CodedPictureView& picture, int mb_x, int mb_y) {
  writer.align_with_zeros();
  for (int c = 0; c < 3; ++c) {
    const int size = c == 0 ? 16 : 8;
    for (int y = 0; y < size; ++y) {
      const std::uint8_t* const row =
          picture.source[c] + (size * mb_y + y) * picture.source_pitch[c] + size * mb_x;
      for (int x = 0; x < size; ++x) writer.put(row[x], 8);
    }
  }
}

void put_residual(core::BitWriter& writer, const MacroblockRecord& mb, const std::int16_t* levels,
                  const Neighbourhood& n) {
  for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
    if (!core::slot_is_coded(mb, slot)) continue;
    const std::int16_t* const block = levels + slot * core::kLevelsPerBlock;
    const int max_num_coeff = core::slot_max_num_coeff(mb, slot);
    core::put_block(
        writer, block, core::cavlc_symbols(block, max_num_coeff), max_num_coeff,
        core::slot_nc(slot, core::slot_neighbours(slot), n.here_counts, n.left_counts, n.above_counts));
  }
}

}  // namespace

std::size_t max_slice_rbsp_bytes(int macroblocks) {
  constexpr std::size_t kSliceHeaderAndTrailing = 16, kMacroblock = 3200 / 8;
  return kSliceHeaderAndTrailing + kMacroblock * static_cast<std::size_t>(macroblocks);
}

void count_macroblock(MacroblockKind kind, SliceStats& stats) {
  if (core::is_inter(kind)) {
    ++stats.inter_mbs;
    return;
  }
  ++(kind == MacroblockKind::pcm        ? stats.pcm_mbs
     : kind == MacroblockKind::intra4x4 ? stats.intra4x4_mbs
     : kind == MacroblockKind::intra8x8 ? stats.intra8x8_mbs
                                        : stats.intra16x16_mbs);
}

void put_slice_header(core::SliceHeaderBits header, core::BitWriter& writer) {
  if (header.length > 64) {
    writer.put(0, header.length - 64);
    header.length = 64;
  }
  if (header.length > 32) {
    writer.put(static_cast<std::uint32_t>(header.bits >> 32), header.length - 32);
    header.length = 32;
  }
  writer.put(static_cast<std::uint32_t>(header.bits), header.length);
}

void code_slice(const CodedPictureView& picture, int slice, std::uint64_t header_bits, int header_length,
                core::BitWriter& writer, SliceStats& stats) {
  put_slice_header({header_bits, header_length}, writer);

  std::uint32_t mb_skip_run = 0;
  const int first_row = core::slice_first_row(slice, picture.slices, picture.mb_height);
  const int end_row = core::slice_first_row(slice + 1, picture.slices, picture.mb_height);
  for (int mb_y = first_row; mb_y < end_row; ++mb_y) {
    for (int mb_x = 0; mb_x < picture.mb_width; ++mb_x) {
      const std::size_t index = static_cast<std::size_t>(mb_y) * picture.mb_width + mb_x;
      const MacroblockRecord* const mb = picture.macroblocks + index;
      const std::uint8_t* const counts = picture.total_coeff + index * core::kTotalCoeffStride;
      Neighbourhood n;
      n.here_counts = counts;
      if (mb_x > 0) n.left = mb - 1, n.left_counts = counts - core::kTotalCoeffStride;
      if (mb_y > first_row) {
        n.above = mb - picture.mb_width;
        n.above_counts = counts - static_cast<std::ptrdiff_t>(core::kTotalCoeffStride) * picture.mb_width;
      }
      const std::uint64_t start = writer.bit_position();
      count_macroblock(mb->kind, stats);
      if (mb->kind == MacroblockKind::p_skip) {
        ++mb_skip_run;
        continue;
      }
      if (picture.motion == nullptr) {
        core::put_macroblock_header(writer, *mb, n.left, n.above);
      } else {
        core::put_ue(writer, mb_skip_run);
        mb_skip_run = 0;
        core::put_p_macroblock_header(writer, *mb, picture.motion[index], n.left, n.above);
      }
      const std::uint64_t header_end = writer.bit_position();
      if (mb->kind == MacroblockKind::pcm) {
        put_pcm_samples(writer, picture, mb_x, mb_y);
      } else {
        put_residual(writer, *mb, picture.levels + index * core::kLevelsPerMacroblock, n);
      }
      stats.header_bits += header_end - start;
      stats.residual_bits += writer.bit_position() - header_end;
    }
  }
  const std::uint64_t layers_end = writer.bit_position();
  if (mb_skip_run > 0) core::put_ue(writer, mb_skip_run);
  stats.header_bits += writer.bit_position() - layers_end;
  core::put_trailing_bits(writer);
}

}  // namespace cu264::entropy
