// Finds the pictures with which a new scene begins, so that they become key pictures. It looks at the source
// at an eighth of its size, before anything is coded, so it is the same for any QP, preset and number of
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cu264/frame.h"
#include "encoder/stream_params.h"

namespace cu264::encoder {

// Luma at an eighth of the size.
struct SmallPicture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> samples;

  const std::uint8_t* row(int y) const {
    return samples.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
  }
};

// Makes small pictures of frames, which it reads before it returns.
class Shrinker {
 public:
  virtual ~Shrinker() = default;
  virtual void shrink(const Frame& frame, SmallPicture& small) = 0;
};
std::unique_ptr<Shrinker> make_cpu_shrinker(const StreamParams& params);

// The cuts of one stream.
class SceneCuts {
 public:
  // Takes the stream's next picture, whose memory it swaps for that of the one before. Returns whether a
  // scene begins with it.
  bool is_cut(SmallPicture& picture);

 private:
  SmallPicture before_;
  bool predicted_well_ = false;  // the picture before, from the one before that
};

}  // namespace cu264::encoder
