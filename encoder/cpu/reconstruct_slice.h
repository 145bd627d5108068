// The stage `reconstruct` on the CPU: mode decision, prediction, transform, quantisation and reconstruction
// of one slice.
#pragma once

#include "cu264/encoder.h"
#include "encoder/cpu_picture.h"

namespace cu264::encoder {

// Fills the slice's macroblock records, levels, total_coeff and unfiltered reconstruction from its source
// samples. Slices of a picture are independent and may run at the same time. `qp` is the slice's QP, to which
// a macroblock's offset is added if the picture has offsets.
void reconstruct_slice(CpuPicture& picture, int slice, int qp, Preset preset);

// The instruction set of the build that the processor runs, as text, for example "AVX2".
const char* instruction_set();

}  // namespace cu264::encoder
