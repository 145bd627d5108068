#include "encoder/scene_cuts.h"

namespace cu264::encoder {

// At a cut, blocks of the picture before predict worse than the mean of each block does. Where that was
// nearly so for the picture before too, as in noise, fades, a flash's second picture, or motion that is too
// fast, no scene begins.
bool SceneCuts::is_cut(const core::SceneSums& sums) {
  const bool cut = sums.inter >= sums.intra && predicted_well_;
  predicted_well_ = 4 * sums.inter < 3 * sums.intra;
  return cut;
}

}  // namespace cu264::encoder
