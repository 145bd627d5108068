// The stage `reconstruct` on the CPU: mode decision, prediction, transform, quantisation and reconstruction
// of one slice.
#pragma once

#include "cu264/encoder.h"
#include "encoder/cpu/p_passes.h"
#include "encoder/cpu_picture.h"
#include "encoder/row_progress.h"

namespace cu264::encoder {

// Fills the slice's macroblock records, levels, total_coeff and unfiltered reconstruction from its source
// samples. Slices of a picture are independent and may run at the same time. `qp` is the slice's QP, to which
// a macroblock's offset is added if the picture has offsets.
void reconstruct_slice(CpuPicture& picture, int slice, int qp, Preset preset);

// The same for all slices of a picture. Rows of macroblocks go to for_rows.
void reconstruct_i_picture(CpuPicture& picture, int qp, Preset preset, const ForRows& for_rows);

// Sets mb_qp_delta of the slice's macroblocks, and their QP to what a decoder derives.
void set_mb_qp_deltas(CpuPicture& picture, int slice, int qp);

// A row of a pass over a P picture.
void run_p_pass(const PPicture& picture, PPass pass, int row);

// A row of half samples of the chain's reference picture, which may lie up to core::kHalfSamplePad rows
// outside.
void half_samples(GopChain& chain, int row);

// The instruction set of the build that the processor runs, as text, for example "AVX2".
const char* instruction_set();

}  // namespace cu264::encoder
