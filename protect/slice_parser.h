// All-intra CAVLC slices taken apart: where in the RBSP every syntax element of every macroblock and block
// lies (H.264 7.3.4, 7.3.5). Positions count bits from the RBSP's first.
//
// The parser is for streams that may be hostile: it never reads behind the RBSP, its time is bounded by the
// RBSP's length, and what is no slice ends in Error(bad_input) that names the macroblock.
#pragma once

#include <cstdint>
#include <vector>

#include "common/bitstream/parameter_sets.h"
#include "common/bitstream/rbsp_reader.h"
#include "common/bitstream/vlc_tables.h"

namespace cu264::protect {

struct LevelCode {
  std::int32_t level = 0;
  std::uint16_t end = 0;           // of the code, in bits from the block's begin
  std::uint8_t suffix_size = 0;    // bits of level_suffix; 0 for a trailing one
  std::uint8_t suffix_length = 0;  // suffixLength (9.2.2) the code was written with
};

// residual_block_cavlc (7.3.5.3.2). Levels and runs in coding order: highest frequency first.
struct BlockSyntax {
  std::uint64_t begin = 0;
  std::uint16_t length = 0;        // bits
  std::uint8_t slot = 0;           // core/block.h; 8x8 blocks are four interleaved ones
  std::uint8_t max_num_coeff = 0;  // 16, 15 or 4
  std::uint8_t column = 0;         // of the table of coeff_token
  std::uint8_t token_length = 0;
  std::uint8_t total_coeff = 0, trailing_ones = 0;
  std::uint8_t total_zeros = 0, coded_runs = 0;
  std::uint16_t zeros_at = 0;  // bits from the block's begin to total_zeros, or to the block's end without it
  std::uint8_t run_before[16] = {};
  LevelCode levels[16];
};

enum class IntraKind : std::uint8_t { luma4x4, luma8x8, luma16x16, pcm };

struct MacroblockSyntax {
  int address = 0;
  int x = 0, y = 0;  // in macroblocks
  // Neighbours that lie in the same slice: left, above, above left, above right.
  bool left = false, above = false, above_left = false, above_right = false;
  IntraKind kind = IntraKind::luma4x4;
  int mb_type = 0;
  int coded_block_pattern = 0;
  int qp = 0;
  std::uint64_t begin = 0;
  std::uint64_t mb_type_end = 0;  // its ue(v) ends here
  // Of the 16 (luma4x4) or 4 (luma8x8) blocks: rem_intra_pred_mode, or -1 for the predicted mode. Position of
  // the first bit behind prev_intra_pred_mode_flag.
  int modes = 0;
  std::int8_t rem_mode[16] = {};
  std::uint64_t rem_mode_at[16] = {};
  int intra_chroma_pred_mode = 0;
  std::uint64_t chroma_mode_end = 0;  // its ue(v) ends here; 0: not in the stream
  std::uint64_t pcm_at = 0;           // of pcm_alignment_zero_bits
  int pcm_alignment = 0;              // how many there are
  int block_count = 0;
  BlockSyntax blocks[27];
};

class MacroblockVisitor {
 public:
  virtual ~MacroblockVisitor() = default;
  // May change bits of `mb` in the RBSP, none behind it.
  virtual void macroblock(const MacroblockSyntax& mb) = 0;
};

// TotalCoeff of every block of the slice so far, for nC (9.2.1).
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
  const std::uint8_t* left_ = nullptr;  // null: not available
  const std::uint8_t* above_ = nullptr;
};

class SliceParser {
 public:
  // The reader stands at slice_data(). Returns the address behind the slice's last macroblock.
  int parse(bitstream::RbspReader& bits, std::uint64_t stop, const bitstream::ParameterSets::Active& sets,
            const bitstream::SliceHeader& header, MacroblockVisitor& visitor);

  // Levels that were not zero, in the slice.
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
  std::uint64_t end_ = 0;  // bits of the RBSP
  TotalCoeffs totals_;
  MacroblockSyntax mb_;
};

}  // namespace cu264::protect
