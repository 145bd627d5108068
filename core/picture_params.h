// What may differ between pictures that are encoded together. These parameters accompany a picture from the
// session through all stages; everything else is fixed when a backend opens.
#pragma once

#include <cstdint>

namespace cu264::core {

struct PictureParams {
  std::uint64_t index =
      0;  // of the picture in its stream, from 0; keystreams and watermarks are numbered by it
  std::uint32_t stream = 0;     // the stream, whose previous offsets adaptive quantisation continues from
  std::uint8_t qp = 26;         // SliceQP_Y, 0..51
  std::uint8_t idr_pic_id = 0;  // 0 or 1; differs from that of the picture before in its stream (H.264 7.4.3)
  bool deblock = true;  // whether decoders apply the loop filter; nothing is predicted from its result
  // The last macroblock rows of the picture, whose QP is higher by one: so a picture has a QP with a
  // fraction.
  std::uint16_t raised_rows = 0;
};

}  // namespace cu264::core
