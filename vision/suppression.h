// Step 3 of GUD-Canny (3.3): non-maximum suppression. The gradient's line meets the 3x3 ring of neighbours
// between the one on the axis and the one on the diagonal; the magnitude there is interpolated linearly, and
// compared after cross-multiplication, so that no division rounds.
#pragma once

#include "core/hd.h"

namespace cu264::vision {

// The magnitude where the line meets the ring, times `along`; at most 5769 * 4080.
CU264_HD int interpolated(int along, int across, int axis, int diagonal) {
  return axis * (along - across) + diagonal * across;
}

// Tells whether `magnitude` is a maximum along the direction (along, across). `ahead` and `behind` are the
// magnitudes of the axis and diagonal neighbours towards brighter and darker samples (gradient.h). If two
// neighbours are equal, only the brighter one stays, so a symmetric edge is one pixel thick.
CU264_HD bool is_maximum(int magnitude, int along, int across, int ahead_axis, int ahead_diagonal,
                         int behind_axis, int behind_diagonal) {
  const int scaled = magnitude * along;
  return scaled > interpolated(along, across, ahead_axis, ahead_diagonal) &&
         scaled >= interpolated(along, across, behind_axis, behind_diagonal);
}

}  // namespace cu264::vision
