// A parser of all-intra CAVLC slices: it finds where in the RBSP every syntax element of every macroblock and
// block lies (H.264 7.3.4, 7.3.5). Positions count bits from the start of the RBSP.
//
// The parser is made for hostile streams. It never reads beyond the end of the RBSP, and its time is bounded
// by the RBSP's length. If the data is not a valid slice, it throws Error(bad_input), which names the
// macroblock.
#pragma once

#include <cstdint>
#include <vector>

#include "common/bitstream/parameter_sets.h"
#include "common/bitstream/rbsp_reader.h"
#include "common/bitstream/vlc_tables.h"
#include "core/block.h"

namespace cu264::protect {

struct LevelCode {
  std::int32_t level = 0;
  std::uint16_t end = 0;           // end of the code, in bits from the start of the block
  std::uint8_t suffix_size = 0;    // bits of level_suffix; 0 for a trailing one
  std::uint8_t suffix_length = 0;  // suffixLength (9.2.2) with which the code was written
};

// residual_block_cavlc (7.3.5.3.2). Levels and runs are in coding order, the highest frequency first.
struct BlockSyntax {
  std::uint64_t begin = 0;
  std::uint16_t length = 0;        // bits
  std::uint8_t slot = 0;           // core/block.h; 8x8 blocks are four interleaved ones
  std::uint8_t max_num_coeff = 0;  // 16, 15 or 4
  std::uint8_t column = 0;         // column of the coeff_token table
  std::uint8_t token_length = 0;
  std::uint8_t total_coeff = 0, trailing_ones = 0;
  std::uint8_t total_zeros = 0, coded_runs = 0;
  // Bits from the start of the block to total_zeros, or to the block's end if that is absent.
  std::uint16_t zeros_at = 0;
  std::uint8_t run_before[16] = {};
  LevelCode levels[16];
};

enum class IntraKind : std::uint8_t { luma4x4, luma8x8, luma16x16, pcm };

struct MacroblockSyntax {
  int address = 0;
  int x = 0, y = 0;  // in macroblocks
  // Say which neighbours lie in the same slice: left, above, above left, above right.
  bool left = false, above = false, above_left = false, above_right = false;
  IntraKind kind = IntraKind::luma4x4;
  int mb_type = 0;
  int coded_block_pattern = 0;
  int qp = 0;
  std::uint64_t begin = 0;
  std::uint64_t mb_type_end = 0;  // its ue(v) ends here
  // Each of the 16 (luma4x4) or 4 (luma8x8) blocks has rem_intra_pred_mode, or -1 for the predicted mode, and
  // the position of the first bit after prev_intra_pred_mode_flag.
  int modes = 0;
  std::int8_t rem_mode[16] = {};
  std::uint64_t rem_mode_at[16] = {};
  int intra_chroma_pred_mode = 0;
  std::uint64_t chroma_mode_end = 0;  // its ue(v) ends here; 0 if it is not in the stream
  std::uint64_t pcm_at = 0;           // position of pcm_alignment_zero_bits
  int pcm_alignment = 0;              // number of these bits
  int block_count = 0;
  BlockSyntax blocks[core::kBlocksPerMacroblock];
};

class MacroblockVisitor {
 public:
  virtual ~MacroblockVisitor() = default;
  // May change bits of `mb` in the RBSP, but none that follow it.
  virtual void macroblock(const MacroblockSyntax& mb) = 0;
};

// TotalCoeff of every block of the slice so far, from which nC is computed (9.2.1).
class TotalCoeffs {
 public:
  void begin_slice(int mb_width, int macroblocks, int first_mb);
  void begin_macroblock(int address);
  void set(int slot, int total_coeff) { current_[slot_index(slot)] = static_cast<std::uint8_t>(total_coeff); }
  void set_all(int total_coeff);
  int nC(int slot) const;

 private:
  static std::size_t slot_index(int slot) { return static_cast<std::size_t>(slot); }

  int mb_width_ = 0, first_mb_ = 0;
  std::vector<std::uint8_t> totals_;  // [mb][32] by slot
  std::uint8_t* current_ = nullptr;
  const std::uint8_t* left_ = nullptr;  // null if not available
  const std::uint8_t* above_ = nullptr;
};

class SliceParser {
 public:
  // `bits` must be at slice_data(). Returns the address that follows the slice's last macroblock.
  int parse(bitstream::RbspReader& bits, std::uint64_t stop, const bitstream::ParameterSets::Active& sets,
            const bitstream::SliceHeader& header, MacroblockVisitor& visitor);

  // The number of levels in the slice that are not zero.
  std::uint64_t coefficients() const { return coefficients_; }

 private:
  void begin_macroblock(int address, int first_mb);
  void macroblock(bitstream::RbspReader& bits);
  void prediction(bitstream::RbspReader& bits);
  void pcm(bitstream::RbspReader& bits);
  void residual(bitstream::RbspReader& bits);
  void block(bitstream::CodeReader& codes, int slot, int max_num_coeff);
  void levels(bitstream::CodeReader& codes, BlockSyntax& block) const;
  int level(bitstream::CodeReader& codes, LevelCode& code, int suffix_length, bool first) const;
  void zeros_and_runs(bitstream::CodeReader& codes, BlockSyntax& block) const;
  [[noreturn]] void damaged(const char* what) const;

  const bitstream::VlcTables& tables_ = bitstream::vlc_tables();
  const bitstream::ParameterSets::Active* sets_ = nullptr;
  std::uint64_t coefficients_ = 0;
  std::uint64_t end_ = 0;  // length of the RBSP in bits
  TotalCoeffs totals_;
  MacroblockSyntax mb_;
};

}  // namespace cu264::protect
