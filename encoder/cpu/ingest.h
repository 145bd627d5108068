// Stage 1 on the CPU: the caller's frame becomes planes of whole macroblocks.
#pragma once

#include "core/colour.h"
#include "cu264/frame.h"
#include "encoder/cpu_picture.h"

namespace cu264::encoder {

// Copies a host frame into picture.source and replicates its last column and row up to whole macroblocks. RGB
// is converted by `matrix`.
void ingest(const Frame& frame, CpuPicture& picture, const core::ColourMatrix& matrix = {});

}  // namespace cu264::encoder
