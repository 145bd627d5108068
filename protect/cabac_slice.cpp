#include "protect/cabac_slice.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/bitstream/bin_reader.h"
#include "core/cabac_macroblock.h"
#include "cu264/status.h"

namespace cu264::protect {
namespace {

using core::MacroblockKind;
using core::MacroblockRecord;

// No profile's levels have a longer suffix of coeff_abs_level_minus1.
constexpr int kMaxSuffixBits = 24;

struct Contexts8x8 {
  static int significant(int k) { return core::kCtxSignificant8x8 + core::significant_inc_8x8(k); }
  static int last(int k) { return core::kCtxLast8x8 + core::last_inc_8x8(k); }
};

// slice_data() of one slice (7.3.4, 7.3.5).
class CabacSlice {
 public:
  CabacSlice(Bytes& rbsp, std::uint64_t stop, const bitstream::ParameterSets::Active& sets,
             const bitstream::SliceHeader& header, LevelFlips& flips)
      : rbsp_(rbsp),
        stop_(stop),
        sets_(sets),
        first_mb_(header.first_mb),
        flips_(flips),
        bins_(rbsp, std::clamp(header.qp, 0, 51)) {}

  ReadSlice read(std::uint64_t data_begin) {
    begin_codeword((data_begin + 7) / 8);  // after cabac_alignment_one_bits
    do {
      if (address() >= sets_.sps.macroblocks()) damaged("the picture has no such macroblock");
      macroblock();
      records_.push_back(mb_);
      if (bins_.position() > stop_) damaged("the slice ends inside it");
    } while (bins_.terminate() == 0);  // end_of_slice_flag
    end_codeword();
    // x264 sets a bit among those that align the end of some slices, so that it looks like the stop bit.
    if (bins_.position() / 8 != stop_ / 8) damaged("the slice does not end after it");
    return {address(), coefficients_, suffix_bits_};
  }

 private:
  int address() const { return first_mb_ + static_cast<int>(records_.size()); }
  bool monochrome() const { return sets_.sps.chroma_format_idc == 0; }
  const MacroblockRecord* neighbour(int distance) const {
    const auto back = static_cast<std::size_t>(distance);
    return back <= records_.size() ? &records_[records_.size() - back] : nullptr;
  }

  void macroblock() {
    const int width = sets_.sps.mb_width;
    neighbours_ = {core::cabac_neighbour(address() % width != 0 ? neighbour(1) : nullptr),
                   core::cabac_neighbour(neighbour(width))};
    mb_ = {};
    mb_.transform_8x8_mode = sets_.pps.transform_8x8_mode;
    flips_.begin_macroblock(address());
    mb_type();
    if (mb_.kind == MacroblockKind::pcm) return pcm();
    prediction();
    if (core::is_i_nxn(mb_.kind)) pattern();
    if (core::has_mb_qp_delta(mb_)) qp_delta();
    residual();
  }

  // The inverse of core::put_cabac_mb_type.
  void mb_type() {
    if (bins_.decision(core::mb_type_context(neighbours_)) == 0) return;  // I_NxN
    if (bins_.terminate() == 1) {
      mb_.kind = MacroblockKind::pcm;
      return;
    }
    mb_.kind = MacroblockKind::intra16x16;
    const int luma = bins_.decision(core::kCtxMbType + 3) != 0 ? 15 : 0;
    int chroma = bins_.decision(core::kCtxMbType + 4);
    if (chroma != 0) chroma += bins_.decision(core::kCtxMbType + 5);
    bins_.decision(core::kCtxMbType + 6), bins_.decision(core::kCtxMbType + 7);  // Intra16x16PredMode
    mb_.coded_block_pattern = static_cast<std::uint8_t>(luma | chroma << 4);
    if (monochrome() && chroma != 0) damaged("it has chroma in a monochrome picture");
  }

  void pcm() {
    end_codeword();
    const int chroma = monochrome() ? 0 : 128;
    const int bits = 256 * sets_.sps.bit_depth_luma + chroma * sets_.sps.bit_depth_chroma;
    const std::uint64_t samples = bins_.position() / 8 + 1;  // after pcm_alignment_zero_bits
    begin_codeword(samples + static_cast<std::uint64_t>(bits) / 8);
  }

  // What the modes are does not matter, but whether the chroma mode is DC.
  void prediction() {
    if (core::has_transform_size_flag(mb_) && bins_.decision(core::transform_size_context(neighbours_)) != 0)
      mb_.kind = MacroblockKind::intra8x8;
    if (core::is_i_nxn(mb_.kind)) {
      for (int block = 0; block < 16; block += core::blocks_of_a_mode(mb_.kind)) {
        if (bins_.decision(core::kCtxPrevIntraMode) != 0) continue;
        for (int bit = 0; bit < 3; ++bit) bins_.decision(core::kCtxRemIntraMode);
      }
    }
    if (monochrome() || bins_.decision(core::chroma_mode_context(neighbours_)) == 0) return;
    mb_.intra_chroma_pred_mode = core::kIntraChromaHorizontal;
    if (bins_.decision(core::kCtxIntraChromaMode + 3) != 0) bins_.decision(core::kCtxIntraChromaMode + 3);
  }

  void pattern() {
    int pattern = 0;
    for (int block = 0; block < 4; ++block)
      pattern |= bins_.decision(core::luma_pattern_context(block, pattern, neighbours_)) << block;
    if (!monochrome() && bins_.decision(core::chroma_pattern_context(neighbours_)) != 0)
      pattern |= (1 + bins_.decision(core::chroma_ac_pattern_context(neighbours_))) << 4;
    mb_.coded_block_pattern = static_cast<std::uint8_t>(pattern);
  }

  void qp_delta() {
    const bool changed_before = core::changes_qp(neighbour(1));
    const int most = 52 + 6 * (sets_.sps.bit_depth_luma - 8);  // stands for the lowest difference
    int value = 0;
    while (bins_.decision(core::qp_delta_context(value, changed_before)) != 0) {
      if (++value > most) damaged("mb_qp_delta is invalid");
    }
    mb_.mb_qp_delta = static_cast<std::int8_t>(value);  // only whether it is 0 matters
  }

  void residual() {
    const std::uint32_t coded = core::coded_slots(mb_);
    for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
      if ((coded >> slot & 1) == 0) continue;
      if (mb_.kind == MacroblockKind::intra8x8 && slot < core::kSlotChromaDc) {
        if (((slot - core::kSlotLuma) & 3) == 0)
          levels(significance(63, Contexts8x8{}), core::kCtxAbsLevel8x8, 4);
      } else {
        block(slot);
      }
    }
  }

  // residual_block_cabac (7.3.5.3.3) of a block with coded_block_flag
  void block(int slot) {
    const core::BlockCategory category = core::slot_category(mb_.kind, slot);
    const int inc = core::coded_block_flag_inc(slot, core::coded_block_flags(mb_), neighbours_);
    if (bins_.decision(core::coded_block_flag_context(category, inc)) == 0) return;
    mb_.nonzero_blocks |= 1u << slot;
    const core::CabacBlockContexts contexts = core::block_contexts(category);
    const int count = significance(core::max_num_coeff(category) - 1,
                                   core::SignificanceContexts{contexts.significant, contexts.last});
    levels(count, contexts.abs_level, core::greater_limit(category));
  }

  // Returns the number of levels. The last position, `end`, has no flags.
  template <class Contexts>
  int significance(int end, const Contexts& contexts) {
    int count = 0;
    for (int k = 0; k < end; ++k) {
      if (bins_.decision(contexts.significant(k)) == 0) continue;
      ++count;
      if (bins_.decision(contexts.last(k)) != 0) return count;
    }
    return count + 1;
  }

  void levels(int count, int first_context, int greater_limit) {
    coefficients_ += static_cast<std::uint64_t>(count);
    core::AbsLevelState state;
    for (std::uint64_t flips = flips_.signs(count); count > 0; --count, flips >>= 1) {
      if (bins_.decision(core::first_level_context(first_context, state)) == 0) {
        ++state.ones;
      } else {
        rest_of_level(core::next_level_context(first_context, greater_limit, state));
        ++state.greater;
      }
      bypass((flips & 1) != 0);
    }
  }

  // coeff_abs_level_minus1 after its first bin, which was 1: the inverse of core::put_abs_level.
  void rest_of_level(int context) {
    int prefix = 1;
    while (prefix < core::kAbsLevelPrefix && bins_.decision(context) != 0) ++prefix;
    if (prefix < core::kAbsLevelPrefix) return;
    int bits = 0;
    for (; bins_.bypass() != 0; ++bits) {
      if (bits == kMaxSuffixBits) damaged("a level is too large");
    }
    suffix_bits_ += static_cast<std::uint64_t>(bits);
    for (; bits > 0; --bits) bypass(flips_.suffix_bit());
  }

  void bypass(bool flip) {
    const bool set = bins_.bypass() != 0;
    if (flip) move_codeword(set ? -bins_.range() : bins_.range());
  }

  // Adds to the value of the codeword, in units of the last bit that was read. It stays a codeword of as many
  // bits, because the bins are as many as before and have the same ranges.
  void move_codeword(int by) {
    const std::uint64_t position = bins_.position();
    if (position > stop_) damaged("the slice ends inside it");
    if ((by & 1) != 0) flipped_ = position;
    int carry = by * (1 << (7 - position % 8));
    for (std::uint64_t end = position / 8 + 1; carry != 0 && end > codeword_; --end) {
      carry += rbsp_[end - 1];
      rbsp_[end - 1] = static_cast<std::uint8_t>(carry);
      carry >>= 8;
    }
  }

  void begin_codeword(std::uint64_t byte) {
    codeword_ = byte;
    if (8 * byte > stop_ || !bins_.begin_codeword(byte)) damaged("it is cut off, or its codeword is invalid");
  }

  // The bins allow the codeword two values. It has the odd one, because its last bit is 1 (9.3.4.5). Where
  // the last sign has moved both by an odd number, the odd one is now the other of the two. With any other
  // last bit the codeword could not be restored.
  void end_codeword() {
    const std::uint64_t last = bins_.position();
    if (last > stop_) damaged("the slice ends inside it");
    const bool flipped = flipped_ == last;
    if ((bitstream::bit_at(rbsp_, last) != 0) == flipped)
      damaged("its codeword does not end in a bit of 1, as H.264 9.3.4.5 requires");
    if (flipped) move_codeword(bins_.excess() == 0 ? 1 : -1);
  }

  [[noreturn]] void damaged(const char* what) const {
    throw Error(ErrorCode::bad_input, "macroblock " + std::to_string(address()) + ": " + what,
                "the stream is damaged or cut off");
  }

  Bytes& rbsp_;
  std::uint64_t stop_;
  const bitstream::ParameterSets::Active& sets_;
  int first_mb_;
  LevelFlips& flips_;
  bitstream::BinReader bins_;
  std::uint64_t codeword_ = 0;  // the byte at which the codeword begins
  std::uint64_t flipped_ = 0;   // the last position whose bit was moved to the other value by an odd number
  std::uint64_t coefficients_ = 0, suffix_bits_ = 0;
  std::vector<MacroblockRecord> records_;  // of the slice's macroblocks so far
  MacroblockRecord mb_;
  core::CabacNeighbours neighbours_{};
};

}  // namespace

ReadSlice change_levels(Bytes& rbsp, std::uint64_t data_begin, std::uint64_t stop,
                        const bitstream::ParameterSets::Active& sets, const bitstream::SliceHeader& header,
                        LevelFlips& flips) {
  return CabacSlice(rbsp, stop, sets, header, flips).read(data_begin);
}

}  // namespace cu264::protect
