#include "encoder/cuda/inter/reconstruct_p.h"

#include <algorithm>

#include "encoder/cuda/inter/deblock_batch.h"
#include "encoder/cuda/inter/decide_skips.h"
#include "encoder/cuda/inter/estimate_intra.h"
#include "encoder/cuda/inter/finish_motion.h"
#include "encoder/cuda/inter/inter_stages.h"
#include "encoder/cuda/inter/refine_motion.h"
#include "encoder/cuda/inter/search_motion.h"

namespace cu264::encoder::cuda {

std::size_t inter_scratch_bytes(int pictures, int mb_width, int mb_height) {
  return std::max({skips_scratch_bytes(pictures, mb_width, mb_height),
                   intra_scratch_bytes(pictures, mb_height),
                   deblock_scratch_bytes(pictures, mb_width, mb_height)});
}

void launch_reconstruct_p(const StepView& step, Preset preset, void* scratch, cudaStream_t stream) {
  launch_motion_search(step, preset, stream);
  launch_motion_refinement(step, preset, stream);
  launch_code_inter(step, preset, stream);
  launch_estimate_intra(step, preset, stream);
  launch_decide_skips(step, preset, scratch, stream);
  launch_search_intra(step, preset, scratch, stream);
  launch_finish_motion(step, stream);
}

}  // namespace cu264::encoder::cuda
