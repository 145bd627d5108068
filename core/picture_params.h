// The parameters that may differ between pictures that are encoded together. They accompany a picture from
// the session through all stages; everything else is fixed when a backend opens.
#pragma once

#include <cstdint>

namespace cu264::core {

// Pictures take the idr_pic_id 0 and 1 in turn. If the picture in between was dropped and two with the same
// idr_pic_id would follow one another, the second takes this one instead.
inline constexpr int kIdrPicIdAfterGap = 2;

struct PictureParams {
  std::uint64_t index =
      0;  // of the picture in its stream, from 0; keystreams and watermarks are numbered by it
  std::uint32_t stream = 0;     // the stream, whose previous offsets adaptive quantisation continues from
  std::uint8_t qp = 26;         // SliceQP_Y, 0..51
  std::uint8_t idr_pic_id = 0;  // 0 to 2; differs from that of the picture before in its stream (H.264 7.4.3)
  bool deblock = true;  // whether decoders apply the loop filter; nothing is predicted from its result
  // A key picture is an IDR picture of I slices. Others consist of P slices, which refer to the picture
  // before in the stream.
  bool key = true;
  std::uint8_t frame_num = 0;       // of a P picture: pictures since the last key picture, modulo 16
  std::uint8_t cabac_init_idc = 0;  // of a P picture: 0 to 2
  // The number of rows at the end of the picture whose QP is higher by one, which gives a picture a
  // fractional QP.
  std::uint16_t raised_rows = 0;
};

}  // namespace cu264::core
