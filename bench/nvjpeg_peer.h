// nvJPEG as a peer: frames in device memory, JPEG files with 4:2:0 chroma in pinned host memory.
#pragma once

#include <memory>

#include "bench/gpu_bench.h"

namespace cu264::bench {

class NvJpeg {
 public:
  // yuv420: the frames of `pool`, whose samples are taken as JFIF's, full range, so that nothing is
  // converted. rgb: interleaved, made of the clip here, before any clock starts. Both `clip` and `pool` must
  // live on. Throws std::runtime_error, as all of it.
  enum class Input { rgb, yuv420 };
  NvJpeg(const Clip& clip, const FramePool& pool, Input input);
  ~NvJpeg();

  // Frames a second of so many streams, each fed by a thread of its own: median of three.
  double rate(int quality, int streams, bool quick) const;

  // Of the clip's first frame, luma.
  struct Point {
    double psnr = 0, bytes = 0;
  };
  Point first_frame(int quality) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cu264::bench
