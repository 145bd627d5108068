// What may differ between the pictures that are encoded together. It goes with a picture from the session
// through all stages; everything else is fixed when a backend opens.
#pragma once

#include <cstdint>

namespace cu264::core {

struct PictureParams {
  std::uint64_t index = 0;      // of the picture in its stream, from 0; keystreams and marks count by it
  std::uint32_t stream = 0;     // whose memory adaptive quantisation goes on from
  std::uint8_t qp = 26;         // SliceQP_Y, 0..51
  std::uint8_t idr_pic_id = 0;  // 0 or 1, not that of the picture before in its stream (H.264 7.4.3)
  bool deblock = true;          // what decoders do; nothing is predicted from it
};

}  // namespace cu264::core
