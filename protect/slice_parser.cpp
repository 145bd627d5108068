#include "protect/slice_parser.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/block.h"
#include "core/cavlc_block.h"
#include "core/mb_syntax.h"
#include "cu264/status.h"

namespace cu264::protect {
namespace {

// coded_block_pattern of Intra macroblocks by codeNum (table 9-4): for 4:2:0, where it is the inverse of what
// the coder writes, and for monochrome.
const std::array<std::uint8_t, 48>& patterns_420() {
  static const auto patterns = [] {
    std::array<std::uint8_t, 48> by_code{};
    for (int pattern = 0; pattern < 48; ++pattern) {
      by_code[static_cast<std::size_t>(core::intra_pattern_code_num(pattern))] =
          static_cast<std::uint8_t>(pattern);
    }
    return by_code;
  }();
  return patterns;
}
constexpr std::uint8_t kPatternMonochrome[16] = {15, 0, 7, 11, 13, 14, 3, 5, 10, 12, 1, 2, 4, 8, 6, 9};

// The longest level_prefix that any profile can need.
constexpr int kMaxLevelPrefix = 24;

}  // namespace

void TotalCoeffs::begin_slice(int mb_width, int macroblocks, int first_mb) {
  mb_width_ = mb_width, first_mb_ = first_mb;
  totals_.resize(32 * static_cast<std::size_t>(macroblocks));
}

void TotalCoeffs::begin_macroblock(int address) {
  current_ = totals_.data() + 32 * static_cast<std::ptrdiff_t>(address);
  std::fill(current_, current_ + 32, std::uint8_t{0});
  left_ = address % mb_width_ != 0 && address - 1 >= first_mb_ ? current_ - 32 : nullptr;
  above_ =
      address - mb_width_ >= first_mb_ ? current_ - 32 * static_cast<std::ptrdiff_t>(mb_width_) : nullptr;
}

void TotalCoeffs::set_all(int total_coeff) {
  std::fill(current_, current_ + 32, static_cast<std::uint8_t>(total_coeff));
}

int TotalCoeffs::nC(int slot) const {
  if (slot == core::kSlotChromaDc || slot == core::kSlotChromaDc + 1) return core::kChromaDcNc;
  const auto count = [](const std::uint8_t* mb, int at) { return mb != nullptr ? mb[at] : -1; };
  if (slot >= core::kSlotChromaAc) {
    const int plane = (slot - core::kSlotChromaAc) & ~3, block = (slot - core::kSlotChromaAc) & 3;
    const int first = core::kSlotChromaAc + plane;
    return core::nc_from_neighbours(count((block & 1) != 0 ? current_ : left_, first + (block ^ 1)),
                                    count((block & 2) != 0 ? current_ : above_, first + (block ^ 2)));
  }
  const int block = slot == core::kSlotLumaDc ? 0 : slot - core::kSlotLuma;
  const int x = core::luma_block_x(block), y = core::luma_block_y(block);
  return core::nc_from_neighbours(
      count(x > 0 ? current_ : left_, core::kSlotLuma + core::luma_block_index((x + 3) & 3, y)),
      count(y > 0 ? current_ : above_, core::kSlotLuma + core::luma_block_index(x, (y + 3) & 3)));
}

void SliceParser::damaged(const char* what) const {
  throw Error(ErrorCode::bad_input, "macroblock " + std::to_string(mb_.address) + ": " + what,
              "the stream is damaged or cut off");
}

int SliceParser::parse(bitstream::RbspReader& bits, std::uint64_t stop,
                       const bitstream::ParameterSets::Active& sets, const bitstream::SliceHeader& header,
                       MacroblockVisitor& visitor) {
  sets_ = &sets;
  coefficients_ = 0;
  mb_.qp = header.qp;
  const int macroblocks = sets.sps.macroblocks();
  totals_.begin_slice(sets.sps.mb_width, macroblocks, header.first_mb);
  int address = header.first_mb;
  do {
    mb_.address = address;
    if (address >= macroblocks) damaged("the picture has no such macroblock");
    begin_macroblock(address, header.first_mb);
    macroblock(bits);
    if (bits.position() > stop) damaged("the slice ends inside it");
    visitor.macroblock(mb_);
    ++address;
  } while (bits.position() < stop);
  return address;
}

void SliceParser::begin_macroblock(int address, int first_mb) {
  const int width = sets_->sps.mb_width;
  mb_.x = address % width, mb_.y = address / width;
  mb_.left = mb_.x > 0 && address - 1 >= first_mb;
  mb_.above = address - width >= first_mb;
  mb_.above_left = mb_.x > 0 && address - width - 1 >= first_mb;
  mb_.above_right = mb_.x + 1 < width && address - width + 1 >= first_mb;
  mb_.modes = 0, mb_.block_count = 0, mb_.coded_block_pattern = 0;
  mb_.chroma_mode_end = 0, mb_.intra_chroma_pred_mode = 0;
  mb_.pcm_at = 0, mb_.pcm_alignment = 0;
  totals_.begin_macroblock(address);
}

void SliceParser::macroblock(bitstream::RbspReader& bits) {
  mb_.begin = bits.position();
  const std::uint32_t mb_type = bits.ue();
  if (mb_type > 25 || bits.failed()) damaged("its mb_type is not one of an I slice");
  mb_.mb_type = static_cast<int>(mb_type);
  mb_.mb_type_end = bits.position();
  if (mb_type == 25) return pcm(bits);
  prediction(bits);
  if (mb_.kind == IntraKind::luma16x16) {
    mb_.coded_block_pattern = ((mb_.mb_type - 1) / 4 % 3) << 4 | (mb_.mb_type > 12 ? 15 : 0);
  } else {
    const bool monochrome = sets_->sps.chroma_format_idc == 0;
    const std::uint32_t code = bits.ue();
    if (code >= (monochrome ? 16u : 48u)) damaged("coded_block_pattern is invalid");
    mb_.coded_block_pattern = monochrome ? kPatternMonochrome[code] : patterns_420()[code];
    if (mb_.coded_block_pattern == 0) return;
  }
  const std::int32_t delta = bits.se();
  if (delta < -64 || delta > 64) damaged("mb_qp_delta is invalid");
  mb_.qp += delta;
  residual(bits);
}

void SliceParser::prediction(bitstream::RbspReader& bits) {
  mb_.kind = IntraKind::luma16x16;
  if (mb_.mb_type == 0) {
    const bool large = sets_->pps.transform_8x8_mode && bits.flag() != 0;
    mb_.kind = large ? IntraKind::luma8x8 : IntraKind::luma4x4;
    mb_.modes = large ? 4 : 16;
    for (int i = 0; i < mb_.modes; ++i) {
      const std::uint32_t ahead = bits.peek(4);
      mb_.rem_mode_at[i] = bits.position() + 1;
      mb_.rem_mode[i] = static_cast<std::int8_t>(ahead >= 8 ? -1 : static_cast<int>(ahead));
      bits.skip(ahead >= 8 ? 1 : 4);
    }
  }
  if (sets_->sps.chroma_format_idc == 0) return;
  const std::uint32_t chroma_mode = bits.ue();
  if (chroma_mode > 3) damaged("intra_chroma_pred_mode is invalid");
  mb_.intra_chroma_pred_mode = static_cast<int>(chroma_mode);
  mb_.chroma_mode_end = bits.position();
}

void SliceParser::pcm(bitstream::RbspReader& bits) {
  mb_.kind = IntraKind::pcm;
  mb_.pcm_at = bits.position();
  mb_.pcm_alignment = static_cast<int>(-bits.position() & 7);
  const int chroma = sets_->sps.chroma_format_idc == 0 ? 0 : 128;
  const int samples = 256 * sets_->sps.bit_depth_luma + chroma * sets_->sps.bit_depth_chroma;
  bits.skip(static_cast<std::uint64_t>(mb_.pcm_alignment) + static_cast<std::uint64_t>(samples));
  totals_.set_all(16);
}

void SliceParser::residual(bitstream::RbspReader& bits) {
  if (bits.failed()) damaged("the slice ends inside it");
  bitstream::CodeReader codes(bits);
  end_ = bits.bits();
  const bool intra16x16 = mb_.kind == IntraKind::luma16x16;
  if (intra16x16) block(codes, core::kSlotLumaDc, 16);
  for (int i = 0; i < 16; ++i) {
    if ((mb_.coded_block_pattern >> (i >> 2) & 1) != 0)
      block(codes, core::kSlotLuma + i, intra16x16 ? 15 : 16);
  }
  const int chroma = sets_->sps.chroma_format_idc == 0 ? 0 : mb_.coded_block_pattern >> 4;
  if (chroma != 0) {
    for (int plane = 0; plane < 2; ++plane) block(codes, core::kSlotChromaDc + plane, 4);
  }
  if (chroma == 2) {
    for (int i = 0; i < 8; ++i) block(codes, core::kSlotChromaAc + i, 15);
  }
  bits.skip(codes.position() - bits.position());
}

void SliceParser::block(bitstream::CodeReader& codes, int slot, int max_num_coeff) {
  BlockSyntax& block = mb_.blocks[mb_.block_count++];
  block.begin = codes.position();
  block.slot = static_cast<std::uint8_t>(slot);
  block.max_num_coeff = static_cast<std::uint8_t>(max_num_coeff);
  block.column = static_cast<std::uint8_t>(core::coeff_token_column(totals_.nC(slot)));
  codes.refill();
  const bitstream::VlcEntry token = tables_.coeff_token(codes.window(), block.column);
  block.total_coeff = token.symbol >> 2, block.trailing_ones = token.symbol & 3;
  if (token.length == 0 || block.total_coeff > max_num_coeff) damaged("coeff_token is invalid");
  block.token_length = token.length;
  block.total_zeros = block.coded_runs = 0;
  block.zeros_at = token.length;
  block.length = token.length;
  codes.skip(token.length);
  if (block.total_coeff != 0) {
    coefficients_ += block.total_coeff;
    // No neighbour uses TotalCoeff of Intra16x16DCLevel.
    if (slot != core::kSlotLumaDc) totals_.set(slot, block.total_coeff);
    levels(codes, block);
    if (block.total_coeff < max_num_coeff) zeros_and_runs(codes, block);
    block.length = static_cast<std::uint16_t>(codes.position() - block.begin);
  }
  if (codes.position() > end_) damaged("the slice ends inside it");
}

void SliceParser::levels(bitstream::CodeReader& codes, BlockSyntax& block) const {
  const int ones = block.trailing_ones, total = block.total_coeff;
  int end = block.token_length;
  // The window still holds three signs.
  const std::uint64_t signs = codes.window();
  for (int i = 0; i < 3; ++i) {
    block.levels[i] = {1 - 2 * static_cast<int>(signs << i >> 63), static_cast<std::uint16_t>(end + i + 1), 0,
                       0};
  }
  codes.skip(ones);
  end += ones;
  if (ones < total) {
    codes.refill();
    const int suffix_length = total > 10 && ones < 3 ? 1 : 0;
    end += level(codes, block.levels[ones], suffix_length, ones < 3);
    block.levels[ones].end = static_cast<std::uint16_t>(end);
    int magnitude = block.levels[ones].level;
    magnitude = magnitude < 0 ? -magnitude : magnitude;
    int next = core::next_suffix_length(suffix_length, magnitude);
    for (int i = ones + 1; i < total; ++i) {
      LevelCode& code = block.levels[i];
      codes.refill();
      const bitstream::LevelEntry entry = tables_.level(codes.window(), next);
      if (entry.length != 0) [[likely]] {
        codes.skip(entry.length);
        end += entry.length;
        code = {entry.level, static_cast<std::uint16_t>(end), static_cast<std::uint8_t>(next),
                static_cast<std::uint8_t>(next)};
        next = entry.next_suffix_length;
        continue;
      }
      end += level(codes, code, next, false);
      code.end = static_cast<std::uint16_t>(end);
      next = core::next_suffix_length(next, code.level < 0 ? -code.level : code.level);
    }
  }
  block.zeros_at = static_cast<std::uint16_t>(end);
}

// Reads a level (9.2.2.1), with the longer escapes of the High profiles. Returns the code's length.
inline int SliceParser::level(bitstream::CodeReader& codes, LevelCode& code, int suffix_length,
                              bool first) const {
  const std::uint64_t window = codes.window();
  const int prefix = __builtin_clzll(window | 1);
  int size = suffix_length, level_code;
  if (prefix < 14 || (prefix == 14 && suffix_length != 0)) [[likely]] {
    // This is the prefix's one bit and the suffix together.
    const std::uint64_t tail = window << prefix >> (63 - size);
    level_code = (prefix << size) + static_cast<int>(tail ^ std::uint64_t{1} << size);
  } else {
    if (prefix > kMaxLevelPrefix) damaged("level_prefix is invalid");
    size = prefix == 14 ? 4 : prefix - 3;
    level_code =
        (std::min(prefix, 15) << suffix_length) + static_cast<int>(window << (prefix + 1) >> (64 - size));
    if (prefix >= 15 && suffix_length == 0) level_code += 15;
    if (prefix >= 16) level_code += (1 << (prefix - 3)) - 4096;
  }
  if (first) level_code += 2;
  codes.skip(prefix + 1 + size);
  const int magnitude = (level_code + 2) >> 1;
  code.level = (level_code & 1) != 0 ? -magnitude : magnitude;
  code.suffix_size = static_cast<std::uint8_t>(size);
  code.suffix_length = static_cast<std::uint8_t>(suffix_length);
  return prefix + 1 + size;
}

inline void SliceParser::zeros_and_runs(bitstream::CodeReader& codes, BlockSyntax& block) const {
  const int total = block.total_coeff, room = block.max_num_coeff - total;
  codes.refill();
  const bitstream::VlcEntry zeros = tables_.total_zeros(codes.window(), total, block.max_num_coeff == 4);
  if (zeros.length == 0 || zeros.symbol > room) damaged("total_zeros is invalid");
  codes.skip(zeros.length);
  block.total_zeros = zeros.symbol;
  // The codes take at most 47 bits, because only one of the runs can have a code of more than three.
  int left = zeros.symbol, coded = 0;
  for (; left > 0 && coded + 1 < total; ++coded) {
    const bitstream::VlcEntry run = tables_.run_before(codes.window(), left);
    if (run.length == 0 || run.symbol > left) damaged("run_before is invalid");
    codes.skip(run.length);
    block.run_before[coded] = run.symbol;
    left -= run.symbol;
  }
  block.coded_runs = static_cast<std::uint8_t>(coded);
}

}  // namespace cu264::protect
