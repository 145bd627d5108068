// GOPs coded by the functions of the CPU backend, with what its stages leave, for tests of the kernels of P
// pictures.
#pragma once

#include <cstdint>
#include <vector>

#include "core/picture_params.h"
#include "cu264/encoder.h"
#include "encoder/cpu/gop_chain.h"
#include "encoder/cpu_picture.h"
#include "support/picture.h"

namespace cu264::parity {

struct GopSettings {
  int qp = 27;
  Preset preset = Preset::fast;
  int slices = 1;
  bool transform_8x8_mode = false;
  bool cabac = false;
  int qp_offset = 0;  // macroblocks differ in QP by up to so much, at random
};

struct CodedInGop {
  core::PictureParams params;
  encoder::CpuPicture coded;     // before the loop filter
  encoder::CpuPicture filtered;  // and after it
  encoder::GopChain chain;       // once it has the picture as its reference
};

// Codes a clip as one GOP. The first picture is an I picture.
std::vector<CodedInGop> code_gop(const std::vector<test::Picture>& clip, const GopSettings& settings);

}  // namespace cu264::parity
