// A batch of pictures in device memory between the stages: plain pointers to arrays whose layout all kernels
// share. The arrays are those of core/coded_picture.h with the picture as their first index.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/block.h"
#include "core/hd.h"
#include "core/motion_vector.h"
#include "core/picture_params.h"
#include "cu264/frame.h"

namespace cu264::core {

// A source picture where the caller or the stage `ingest` left it: 8-bit planes of width x height samples
// with any pitch and alignment. The kernels replicate the last column and row themselves, so YCbCr frames
// need no copy.
struct SourcePicture {
  const std::uint8_t* plane[3] = {};
  std::ptrdiff_t pitch[3] = {};
};

struct BatchView {
  int pictures = 0;
  int width = 0;  // of the source pictures
  int height = 0;
  PixelFormat format = PixelFormat::i420;
  int mb_width = 0;
  int mb_height = 0;
  int slices = 1;
  bool transform_8x8_mode = false;  // see MacroblockRecord
  bool cabac = false;               // the entropy coder, whose bits the search counts

  const SourcePicture* sources = nullptr;   // [picture]
  const PictureParams* params = nullptr;    // [picture]
  MacroblockRecord* macroblocks = nullptr;  // [picture][mb]
  MotionRecord* motion = nullptr;           // [picture][mb]; null in streams of I pictures alone
  // [picture][mb][27][16]; only the slots in nonzero_blocks are written, the others hold old data
  std::int16_t* levels = nullptr;
  std::uint8_t* total_coeff = nullptr;  // [picture][mb][32]
  // null, or [picture] Y, Cb, Cr of whole macroblocks before the loop filter
  std::uint8_t* reconstruction = nullptr;
  // null, or [picture][mb]: the difference of the macroblock's QP from the picture's
  const std::int8_t* qp_offsets = nullptr;
  // Set for launch_join (entropy/cavlc/code_batch.h): intra4x4_pred_mode of Intra_4x4 macroblocks holds the
  // syntax elements of the modes instead of the modes (see kPredictedMode)
  bool mode_codes = false;

  CU264_HD_MEMBER int macroblocks_per_picture() const { return mb_width * mb_height; }

  // The same with `count` pictures from `first` on.
  BatchView part(int first, int count) const {
    BatchView view = *this;
    const auto picture = static_cast<std::size_t>(first);
    const std::size_t mb = picture * static_cast<std::size_t>(macroblocks_per_picture());
    view.pictures = count;
    view.sources += picture, view.params += picture;
    view.macroblocks += mb, view.levels += mb * kLevelsPerMacroblock,
        view.total_coeff += mb * kTotalCoeffStride;
    if (motion != nullptr) view.motion += mb;
    if (reconstruction != nullptr) view.reconstruction += mb * MacroblockLayout::kSamples;
    if (qp_offsets != nullptr) view.qp_offsets += mb;
    return view;
  }
};

}  // namespace cu264::core
