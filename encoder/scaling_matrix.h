// The syntax of scaling lists in a sequence parameter set (H.264 7.3.2.1.1 and 7.3.2.1.1.1).
#pragma once

#include "cu264/scaling_lists.h"
#include "encoder/rbsp_writer.h"

namespace cu264::encoder {

// seq_scaling_matrix_present_flag and what follows from it.
void write_scaling_matrix(RbspWriter& w, const ScalingLists& lists);

}  // namespace cu264::encoder
