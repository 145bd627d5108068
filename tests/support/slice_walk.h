// Parses slice_data() of one slice, macroblock by macroblock, for stream_walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/stream_walk.h"

namespace cu264::test {

class SliceWalk {
 public:
  SliceWalk(int mb_width, int mb_height);

  // Walks one slice; the slices of a picture must be passed in order. Returns the address after its last
  // macroblock.
  int walk(BitCursor& bits, int first_mb, int slice, int slice_qp, bool transform_8x8_mode,
           WalkedPicture& picture, const MacroblockVisitor& visit);

 private:
  // The properties of a macroblock that later ones need to know.
  struct Neighbour {
    int slice = -1;
    std::array<std::uint8_t, 16> modes{};   // raster, 4 * y + x
    std::array<std::uint8_t, 16> luma{};    // total_coeff, raster
    std::array<std::uint8_t, 4> chroma[2];  // total_coeff, raster
  };

  void macroblock(BitCursor& bits, WalkedMacroblock& mb);
  void modes(BitCursor& bits, WalkedMacroblock& mb);
  void pcm(BitCursor& bits, WalkedMacroblock& mb);
  void residual(BitCursor& bits, WalkedMacroblock& mb);
  void block(BitCursor& bits, WalkedMacroblock& mb, int slot, int max_num_coeff, int nC);
  int luma_nC(const WalkedMacroblock& mb, int x, int y) const;
  int chroma_nC(const WalkedMacroblock& mb, int component, int x, int y) const;
  // The macroblock that lies dx to the left and dy above, if it belongs to the same slice.
  const Neighbour* neighbour(const WalkedMacroblock& mb, int dx, int dy) const;

  int mb_width_;
  int mb_height_;
  int qp_ = 0;  // of the previous macroblock
  bool transform_8x8_mode_ = false;
  std::vector<Neighbour> seen_;
};

}  // namespace cu264::test
