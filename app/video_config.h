// The part of Config that follows from the video that is read.
#pragma once

#include "cu264/encoder.h"
#include "io/video_info.h"

namespace cu264::app {

// Takes size, times and the shape of samples from the video; colours are the caller's.
inline void take_video(const io::VideoInfo& video, Config& config) {
  config.width = video.width, config.height = video.height;
  config.frame_rate = {video.frame_rate.num, video.frame_rate.den};
  config.time_base = {video.time_base.num, video.time_base.den};
  config.fixed_frame_rate = video.fixed_frame_rate;
  config.sample_aspect_ratio = {video.sample_aspect_ratio.num, video.sample_aspect_ratio.den};
}

}  // namespace cu264::app
