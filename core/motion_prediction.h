// Prediction of motion vectors (H.264 8.4.1.1, 8.4.1.3) with one reference picture, so that refIdxL0 is 0 in
// inter macroblocks and -1 elsewhere.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/hd.h"
#include "core/motion_vector.h"

namespace cu264::core {

// The neighbours A, B and C of a partition (8.4.1.3.2). `vector` is zero where there is none.
struct MotionNeighbour {
  bool available = false;  // the partition is in the slice and has been coded before
  bool inter = false;      // refIdxL0 is 0
  MotionVector vector;
};
struct MotionNeighbours {
  MotionNeighbour a, b, c;  // c is D where C is not available
};

// mvpL0 by the median (8.4.1.3.1).
CU264_HD MotionVector median_prediction(const MotionNeighbours& n) {
  if (!n.b.available && !n.c.available && n.a.available) return n.a.vector;
  if (n.a.inter && !n.b.inter && !n.c.inter) return n.a.vector;
  if (!n.a.inter && n.b.inter && !n.c.inter) return n.b.vector;
  if (!n.a.inter && !n.b.inter && n.c.inter) return n.c.vector;
  return median(n.a.vector, n.b.vector, n.c.vector);
}

// mvpL0 of a partition (8.4.1.3). `block` is its first 8x8 block.
CU264_HD MotionVector predicted_vector(const MotionNeighbours& n, MacroblockKind kind, int block) {
  if (kind == MacroblockKind::p16x8) {
    if (block == 0 && n.b.inter) return n.b.vector;
    if (block == 2 && n.a.inter) return n.a.vector;
  } else if (kind == MacroblockKind::p8x16) {
    if (block == 0 && n.a.inter) return n.a.vector;
    if (block == 1 && n.c.inter) return n.c.vector;
  }
  return median_prediction(n);
}

// The vector of P_Skip (8.4.1.1). `n` has the neighbours of the whole macroblock.
CU264_HD MotionVector skip_vector(const MotionNeighbours& n) {
  const MotionVector zero;
  if (!n.a.available || !n.b.available) return zero;
  if ((n.a.inter && n.a.vector == zero) || (n.b.inter && n.b.vector == zero)) return zero;
  return median_prediction(n);
}

// How many 8x8 blocks a partition is wide.
CU264_HD int partition_width(MacroblockKind kind) {
  return kind == MacroblockKind::p8x16 || kind == MacroblockKind::p8x8 ? 1 : 2;
}

// Whether an 8x8 block is the first of its partition.
CU264_HD bool begins_partition(MacroblockKind kind, int block) {
  return block == 0 || kind == MacroblockKind::p8x8 || (kind == MacroblockKind::p16x8 && block == 2) ||
         (kind == MacroblockKind::p8x16 && block == 1);
}

// The first 8x8 block of the partition that a block lies in.
CU264_HD int first_of_partition(MacroblockKind kind, int block) {
  switch (kind) {
    case MacroblockKind::p16x8:
      return block & 2;
    case MacroblockKind::p8x16:
      return block & 1;
    case MacroblockKind::p8x8:
      return block;
    default:
      return 0;
  }
}

// Calls visit(block) for the first 8x8 block of each partition.
template <class Visit>
CU264_HD void for_each_partition(MacroblockKind kind, const Visit& visit) {
  for (int block = 0; block < 4; ++block) {
    if (begins_partition(kind, block)) visit(block);
  }
}

// Where a macroblock lies in its slice.
struct MotionPlace {
  bool left, above, above_right, above_left;  // these macroblocks are available
  int mb_width;                               // macroblocks from one row to the next
};

CU264_HD MotionPlace motion_place(int mb_x, bool above, int mb_width) {
  return {mb_x > 0, above, above && mb_x + 1 < mb_width, above && mb_x > 0, mb_width};
}

// The neighbours of a partition that begins in 8x8 block `block` and is `width` of them wide. field(offset,
// block) is the MotionNeighbour in an 8x8 block of the macroblock that is so far away in raster order, or of
// this macroblock, whose earlier partitions must be there.
template <class Field>
CU264_HD MotionNeighbours motion_neighbours(const MotionPlace& place, int block, int width,
                                            const Field& field) {
  const int x = block & 1, y = block >> 1, row = place.mb_width;
  MotionNeighbours n;
  if (x > 0) {
    n.a = field(0, block - 1);
  } else if (place.left) {
    n.a = field(-1, block + 1);
  }
  if (y > 0) {
    n.b = field(0, block - 2);
  } else if (place.above) {
    n.b = field(-row, block + 2);
  }
  // C, above and to the right: in this macroblock it is coded before only if it is block 1 seen from block 2.
  const int right = x + width;
  if (y == 0) {
    if (right < 2) {
      if (place.above) n.c = field(-row, 3);
    } else if (place.above_right) {
      n.c = field(1 - row, 2);
    }
  } else if (right == 1) {
    n.c = field(0, 1);
  }
  if (n.c.available) return n;
  // D, above and to the left.
  if (x > 0 && y > 0) {
    n.c = field(0, 0);
  } else if (x > 0) {
    if (place.above) n.c = field(-row, 2);
  } else if (y > 0) {
    if (place.left) n.c = field(-1, 1);
  } else if (place.above_left) {
    n.c = field(-row - 1, 3);
  }
  return n;
}

// The field of a picture whose macroblocks are decided. Both pointers are to the macroblock itself.
struct CodedMotion {
  const MacroblockRecord* mb;
  const MotionRecord* motion;

  CU264_HD_MEMBER MotionNeighbour operator()(int offset, int block) const {
    if (!is_inter(mb[offset].kind)) return {true, false, {}};
    return {true, true, motion[offset].vector[block]};
  }
};

// Sets mvd_l0 of a macroblock when the kinds and vectors of the picture are final, and returns whether it is
// P_Skip: 16x16, without levels, and with the vector that a decoder derives. Reads no mvd_l0.
CU264_HD bool finish_motion(const MotionPlace& place, const MacroblockRecord* mb, MotionRecord* motion) {
  if (!is_inter(mb->kind)) {
    *motion = {};
    return false;
  }
  const CodedMotion field{mb, motion};
  for (int block = 0; block < 4; ++block) {
    if (begins_partition(mb->kind, block)) {
      const MotionNeighbours n = motion_neighbours(place, block, partition_width(mb->kind), field);
      if (mb->kind == MacroblockKind::p16x16 && mb->coded_block_pattern == 0 &&
          motion->vector[0] == skip_vector(n)) {
        for (MotionVector& mvd : motion->mvd) mvd = {};
        return true;
      }
      motion->mvd[block] = motion->vector[block] - predicted_vector(n, mb->kind, block);
    } else {
      motion->mvd[block] = motion->mvd[first_of_partition(mb->kind, block)];
    }
  }
  return false;
}

}  // namespace cu264::core
