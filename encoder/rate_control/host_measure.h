// The measure of a picture on the host.
#pragma once

#include <optional>

#include "core/picture_measure.h"
#include "encoder/adaptive_quantisation/qp_offsets.h"
#include "encoder/cpu_picture.h"

namespace cu264::encoder {

// Measures Y, Cb and Cr, padded to whole macroblocks by replication. Rows are divided between the threads of
// the caller's task arena; the result does not depend on them.
core::PictureMeasure measure_planes(const Plane (&planes)[3], const std::optional<AqParams>& aq);

}  // namespace cu264::encoder
