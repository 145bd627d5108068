// What C programs are told of an open encoder or stream.
#pragma once

#include <vector>

#include "cu264/cu264.h"
#include "cu264/encoder.h"

namespace cu264::capi {

cu264_info* hand_out(EncoderInfo info, std::vector<std::uint8_t> headers);

}  // namespace cu264::capi
