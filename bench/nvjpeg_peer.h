// nvJPEG, for comparison: frames in device memory become JPEG files with 4:2:0 chroma in pinned host memory.
#pragma once

#include <memory>

#include "bench/gpu_bench.h"

namespace cu264::bench {

class NvJpeg {
 public:
  // yuv420 takes the frames of `pool`. Their samples are interpreted as JFIF's, in full range, so that
  // nothing is converted. rgb takes interleaved frames that are made of the clip here, before any clock
  // starts. Both `clip` and `pool` must outlive this object. All functions throw std::runtime_error.
  enum class Input { rgb, yuv420 };
  NvJpeg(const Clip& clip, const FramePool& pool, Input input);
  ~NvJpeg();

  // Frames per second of so many streams, each fed by a thread of its own; the median of three measurements.
  double rate(int quality, int streams, bool quick) const;

  // The result for luma of the clip's first frame.
  struct Point {
    double psnr = 0, bytes = 0;
  };
  Point first_frame(int quality) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cu264::bench
