// The description of a video stream, and one picture of it.
#pragma once

#include <cstdint>
#include <vector>

#include "cu264/frame.h"
#include "io/av.h"
#include "io/picture_side_data.h"

namespace cu264::io {

struct VideoInfo {
  int width = 0;
  int height = 0;
  AVRational time_base{1, 25};
  AVRational frame_rate{25, 1};
  bool fixed_frame_rate = true;
  bool times_vary = false;  // the pictures that are handed out may last differently long
  AVRational sample_aspect_ratio{0, 1};
  // These are code points of ITU-T H.273, which libav's enumerations follow.
  int primaries = AVCOL_PRI_UNSPECIFIED;
  int transfer = AVCOL_TRC_UNSPECIFIED;
  int matrix = AVCOL_SPC_UNSPECIFIED;
  bool full_range = false;
  int chroma_location = AVCHROMA_LOC_UNSPECIFIED;  // one more than chroma_sample_loc_type
  std::int64_t expected_frames = 0;                // as the container announces; 0 if unknown
  std::vector<SeiMessage> messages;                // that accompany every picture
};

struct VideoPicture {
  AvFrame frame;                       // yuv420p, yuvj420p, nv12 or gray8
  std::vector<std::uint8_t> captions;  // closed captions, as in io/captions.h
  std::int64_t pts = 0;
  std::int64_t duration =
      0;  // the time to the next picture, as far as it is known; in VideoInfo::time_base like pts

  Frame view() const {
    Frame view;
    view.format = frame->format == AV_PIX_FMT_NV12    ? PixelFormat::nv12
                  : frame->format == AV_PIX_FMT_GRAY8 ? PixelFormat::gray8
                                                      : PixelFormat::i420;
    view.width = frame->width, view.height = frame->height;
    for (int plane = 0; plane < 3; ++plane) {
      view.plane[plane] = frame->data[plane], view.pitch[plane] = frame->linesize[plane];
    }
    view.pts = pts, view.duration = duration;
    return view;
  }
};

}  // namespace cu264::io
