// Codes one slice of a picture with CABAC into its RBSP: slice header, macroblock layers, trailing bits
// (H.264 7.3.2.8, 7.3.4).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/coded_picture.h"
#include "core/slice_header.h"
#include "entropy/cavlc/slice_coder.h"

namespace cu264::entropy {

// Returns more bytes than this many macroblocks can take. At worst a macroblock that CAVLC codes in 3200 bits
// has 384 levels with 16 decisions and 12 bypass bins each. Decisions cost at most 1.32 bits on average,
// whatever they are (a unit test finds this maximum), and I_PCM takes less.
std::size_t max_cabac_slice_rbsp_bytes(int macroblocks);

// Writes the RBSP to `bytes` and returns its size. `slice_qp` is SliceQP_Y and cabac_init_idc that of a P
// picture, as in `header`. Throws Error(encode_failure) if it does not fit.
std::size_t code_cabac_slice(const core::CodedPictureView& picture, int slice,
                             const core::SliceHeaderBits& header, int slice_qp, std::uint8_t* bytes,
                             std::size_t capacity, SliceStats& stats, int cabac_init_idc = 0);

}  // namespace cu264::entropy
