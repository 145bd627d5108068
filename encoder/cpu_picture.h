// The working memory of one picture in the CPU backend. It is sized when the encoder opens and reused for all
// pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/block.h"
#include "core/coded_picture.h"
#include "core/motion_vector.h"
#include "cu264/scaling_lists.h"

namespace cu264::encoder {

// A plane of whole macroblocks.
struct Plane {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> samples;

  void resize(int w, int h) {
    width = w, height = h;
    samples.assign(static_cast<std::size_t>(w) * h, 0);
  }
  std::uint8_t* row(int y) { return samples.data() + static_cast<std::size_t>(y) * width; }
  const std::uint8_t* row(int y) const { return samples.data() + static_cast<std::size_t>(y) * width; }
};

struct CpuPicture {
  int mb_width = 0;
  int mb_height = 0;
  int slices = 1;
  bool transform_8x8_mode = false;
  bool cabac = false;  // the entropy coder, whose bits the search counts
  ScalingLists scaling_lists;
  Plane source[3];          // Y, Cb, Cr of the input, padded to whole macroblocks by replication
  Plane reconstruction[3];  // unfiltered until deblock_picture runs
  std::vector<core::MacroblockRecord> macroblocks;
  bool inter = false;                      // a P picture
  std::vector<core::MotionRecord> motion;  // of P pictures; empty in streams of I pictures alone
  std::vector<std::int16_t> levels;
  std::vector<std::uint8_t> total_coeff;
  std::vector<std::int8_t> qp_offsets;  // [mb], or empty: every macroblock has the picture's QP
  std::vector<std::uint32_t> marks;     // [mb], of the watermark (protect/watermark.h); empty: there is none
  bool mark_parity = false;

  void resize(int mbs_wide, int mbs_high, int slice_count) {
    mb_width = mbs_wide, mb_height = mbs_high, slices = slice_count;
    for (int c = 0; c < 3; ++c) {
      const int size = c == 0 ? 16 : 8;
      source[c].resize(mb_width * size, mb_height * size);
      reconstruction[c].resize(mb_width * size, mb_height * size);
    }
    const std::size_t mbs = static_cast<std::size_t>(mb_width) * mb_height;
    macroblocks.resize(mbs);
    levels.resize(mbs * core::kLevelsPerMacroblock);
    total_coeff.resize(mbs * core::kTotalCoeffStride);
  }

  core::CodedPictureView view() {
    core::CodedPictureView v;
    v.mb_width = mb_width, v.mb_height = mb_height, v.slices = slices;
    v.macroblocks = macroblocks.data(), v.levels = levels.data(), v.total_coeff = total_coeff.data();
    if (inter) v.motion = motion.data();
    for (int c = 0; c < 3; ++c) v.source[c] = source[c].row(0), v.source_pitch[c] = source[c].width;
    return v;
  }
};

}  // namespace cu264::encoder
