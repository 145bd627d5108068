// Finds the pictures with which a new scene begins, so that they become key pictures. It looks at the source
// at an eighth of its size, before anything is coded, so it is the same for any QP, preset, backend and
// number of threads.
#pragma once

#include "core/scene_sums.h"

namespace cu264::encoder {

// The cuts of one stream.
class SceneCuts {
 public:
  // Takes the sums of the stream's next picture. Returns whether a scene begins with it.
  bool is_cut(const core::SceneSums& sums);

 private:
  bool predicted_well_ = false;  // the picture before, from the one before that
};

}  // namespace cu264::encoder
