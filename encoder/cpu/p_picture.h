// The stage `reconstruct` of a P picture, and what a stream keeps of its pictures for the next.
#pragma once

#include "encoder/cpu/p_passes.h"
#include "encoder/row_progress.h"

namespace cu264::encoder {

// Begins a picture: makes the one before its reference and takes its source into the chain. Call it for all
// pictures, in order, before the others. `replaces`: the picture is coded in place of the last one, and is
// predicted from what that one was predicted from.
void begin_picture(const PPicture& picture, bool replaces, const ForRows& for_rows);

// Fills the picture's macroblock records, motion, levels, total_coeff and unfiltered reconstruction.
void reconstruct_p_picture(const PPicture& picture, const ForRows& for_rows);

// Keeps the picture, which is filtered, for the next one.
void keep_picture(const PPicture& picture);

// Makes the planes of the reference from the picture that was kept: a part of begin_picture.
void take_reference(GopChain& chain, const ForRows& for_rows);

}  // namespace cu264::encoder
