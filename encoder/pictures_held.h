// How many pictures are held in front of a backend and in it. The pipeline keeps to these numbers, and memory
// is sized by them.
#pragma once

#include <algorithm>
#include <cstddef>

#include "encoder/rate_control/rate_controller.h"
#include "encoder/stream_params.h"

namespace cu264::encoder {

// Returns whether pictures are analysed before they are planned (Analyser), and held meanwhile.
inline bool analyses_pictures(const StreamParams& params) {
  return params.pacing.controls_rate || params.decisions.scene_cuts;
}

// With rate control at most this many pictures are in the backend: a batch that is coded, and one that waits.
inline constexpr int kMaxInBackend = kFeedbackDistance / 2;

// Pictures in a backend of such a capacity at once.
inline int pictures_in_backend(int capacity, int batch, const StreamParams& params) {
  if (!params.pacing.controls_rate) return capacity;
  return std::min(capacity, std::max(kMaxInBackend / batch, 1) * batch);
}

// Pictures that may be submitted to the pipeline before the oldest must be collected. With rate control the
// frames of all of them are held until they are settled.
inline int pictures_in_pipeline(int capacity, int batch, const StreamParams& params) {
  const int in_backend = pictures_in_backend(capacity, batch, params);
  if (!params.pacing.controls_rate) {
    // A batch waits for what is known of its scenes while the backend has others.
    return in_backend + (params.decisions.scene_cuts && !params.outputs.device_output ? batch : 0);
  }
  // How many pictures may wait for a place in the backend. While a batch waits for those of its pictures that
  // are coded again, the caller submits no more, so these fill the batches after it.
  const int batches = params.pacing.codes_again ? 4 : 2;
  const int waiting = params.outputs.device_output ? 0 : std::max(batches * batch, 4);
  return std::min(kFeedbackDistance, in_backend + waiting) + params.pacing.lookahead;
}

// The most pictures that a backend takes together, where rate control asks for fewer than `batch`: more would
// have to wait for each other for longer than kFeedbackDistance allows.
inline int paced_batch(int batch, std::size_t devices) {
  return std::clamp(kMaxInBackend / 2 / static_cast<int>(std::max<std::size_t>(devices, 1)), 1, batch);
}

}  // namespace cu264::encoder
