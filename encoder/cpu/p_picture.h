// The stage `reconstruct` of a P picture, and what a stream keeps of its pictures for the next.
#pragma once

#include <functional>

#include "encoder/cpu/p_passes.h"

namespace cu264::encoder {

// Calls work(row) for rows [0, count), in any order and perhaps at the same time.
using ForRows = std::function<void(int count, const std::function<void(int row)>& work)>;

// Takes the source of a picture into its chain. Call it for all pictures, in order, before the others.
void take_source(const PPicture& picture, const ForRows& for_rows);

// Fills the picture's macroblock records, motion, levels, total_coeff and unfiltered reconstruction.
void reconstruct_p_picture(const PPicture& picture, const ForRows& for_rows);

// Makes the picture, which is filtered, the reference of the next one.
void take_reference(const PPicture& picture, const ForRows& for_rows);

}  // namespace cu264::encoder
