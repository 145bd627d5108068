// Parses slice_data() of one slice that is coded with CABAC, macroblock by macroblock, for stream_walk.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/bin_decoder.h"
#include "tests/support/stream_walk.h"

namespace cu264::test {

class CabacWalk {
 public:
  CabacWalk(int mb_width, int mb_height);

  // Does what SliceWalk::walk does.
  int walk(BitCursor& bits, int first_mb, int slice, int slice_qp, bool transform_8x8_mode,
           WalkedPicture& picture, const MacroblockVisitor& visit);

 private:
  // The properties of a macroblock that later ones need to know. coded_block_flag: luma by raster position.
  struct Seen {
    int slice = -1;
    bool is_nxn = false, is_pcm = false;
    bool transform_size_8x8_flag = false;
    int intra_chroma_pred_mode = 0;
    int luma_pattern = 0, chroma_pattern = 0;
    std::array<int, 16> modes{};
    bool luma_dc = false;
    std::array<bool, 16> luma{};
    bool chroma_dc[2] = {};
    std::array<bool, 4> chroma[2] = {};
  };

  void macroblock(BinDecoder& bins, WalkedMacroblock& mb);
  int mb_type(BinDecoder& bins, const Seen* a, const Seen* b) const;
  void modes(BinDecoder& bins, WalkedMacroblock& mb, const Seen* a, const Seen* b);
  void patterns(BinDecoder& bins, Seen& self, const Seen* a, const Seen* b) const;
  int mb_qp_delta(BinDecoder& bins) const;
  void residual(BinDecoder& bins, WalkedMacroblock& mb, const Seen* a, const Seen* b);
  bool block(BinDecoder& bins, WalkedMacroblock& mb, int slot, int ctxBlockCat, int flag_a, int flag_b) const;
  void block8x8(BinDecoder& bins, WalkedMacroblock& mb, int slot) const;
  const Seen* neighbour(const WalkedMacroblock& mb, int dx, int dy) const;

  int mb_width_;
  int mb_height_;
  int qp_ = 0;               // of the previous macroblock
  bool qp_changed_ = false;  // whether its mb_qp_delta was not 0
  bool transform_8x8_mode_ = false;
  std::vector<Seen> seen_;
};

}  // namespace cu264::test
