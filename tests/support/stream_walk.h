// Parses a whole all-intra Baseline or Main stream down to its levels (H.264 7.3.4, 7.3.5) and refuses what
// is not allowed. It shares core/cavlc_parse.h with the product and nothing else: neighbours, nC, types and
// predicted modes are derived independently.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/block.h"
#include "tests/support/stream_headers.h"

namespace cu264::test {

struct WalkedMacroblock {
  int address = 0;
  int slice = 0;  // number in the picture
  int mb_type = 0;
  core::MacroblockKind kind = core::MacroblockKind::intra4x4;
  int intra16x16_pred_mode = 0;
  int intra_chroma_pred_mode = 0;
  std::array<int, 16> intra4x4_pred_mode{};  // of an 8x8 block at all four of its 4x4 blocks
  int coded_block_pattern = 0;
  int mb_qp_delta = 0;
  int qp = 0;
  std::int16_t levels[core::kBlocksPerMacroblock][core::kLevelsPerBlock] = {};
  std::array<int, core::kBlocksPerMacroblock> total_coeff{};
  std::size_t header_bits = 0;
  std::size_t residual_bits = 0;  // includes the alignment and samples of I_PCM
};

// The messages buffering_period and picture_timing of an access unit.
struct WalkedTiming {
  std::uint32_t initial_cpb_removal_delay = 0, initial_cpb_removal_delay_offset = 0;
  std::uint32_t cpb_removal_delay = 0, dpb_output_delay = 0;
};

struct WalkedPicture {
  int idr_pic_id = 0;
  int qp = 0;
  int slices = 0;
  int disable_deblocking_filter_idc = 0;
  std::uint32_t intra4x4_mbs = 0, intra8x8_mbs = 0, intra16x16_mbs = 0, pcm_mbs = 0;
  std::uint64_t header_bits = 0, residual_bits = 0;
  std::size_t max_macroblock_bits = 0;
  int max_abs_level = 0;
  std::optional<WalkedTiming> timing;  // where the stream has HRD parameters
  std::uint64_t bins = 0;              // of CABAC
  std::uint64_t slice_data_bits = 0;   // with CABAC
  std::bitset<1024> contexts;          // by ctxIdx: those that a bin had
  std::size_t zero_words = 0;          // cabac_zero_word
  std::size_t nal_bytes = 0;           // of the slices, without start codes
  std::size_t bytes = 0;               // of the access unit in the byte stream
  std::size_t filler_bytes = 0;        // of them in filler data

  void add(const WalkedMacroblock& mb);
};

struct WalkedStream {
  Sps sps;
  Pps pps;
  std::vector<int> nal_unit_types;
  std::vector<std::string> user_data;  // the text of user_data_unregistered messages
  std::vector<WalkedPicture> pictures;
};

using MacroblockVisitor = std::function<void(const WalkedMacroblock&)>;

// Whether pictures must have as many cabac_zero_words as their bins need and no more. Encrypted ones keep
// theirs, and may have another number of bytes of emulation prevention.
enum class ZeroWords { as_needed, any };

// Throws a StreamError that names the NAL unit and, if the error is in one, the macroblock.
WalkedStream walk_stream(std::span<const std::uint8_t> bytes, const MacroblockVisitor& visit = {},
                         ZeroWords zero_words = ZeroWords::as_needed);

}  // namespace cu264::test
