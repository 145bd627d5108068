// Looks at each picture before it is planned, and holds it while it may be coded: rate control wants
// measures, scene cuts want comparisons with the picture before.
#pragma once

#include <memory>

#include "core/picture_measure.h"
#include "core/picture_params.h"
#include "core/scene_sums.h"
#include "cu264/frame.h"
#include "encoder/held_frame.h"
#include "encoder/stream_params.h"

namespace cu264::encoder {

// A submitted frame. It is held, so that it can be coded several times, until it is destroyed.
class AnalysedFrame {
 public:
  virtual ~AnalysedFrame() = default;
  virtual bool done() const = 0;  // measure() and scene() would not wait
  // Waits. Only with Pacing::controls_rate.
  virtual const core::PictureMeasure& measure() = 0;
  // Waits. Zeros unless Decisions::scene_cuts.
  virtual core::SceneSums scene() = 0;
  // The frame to submit to the backend. Its format and memory may differ from the caller's: RGB is 4:2:0 by
  // now.
  virtual const Frame& frame() const = 0;
  virtual Written written() const = 0;  // as HeldFrame::written
};

class Analyser {
 public:
  virtual ~Analyser() = default;
  // Memory of kind host may be used again when this returns; other memory is read until the AnalysedFrame is
  // destroyed. `written` is as HeldFrame::written. Frames may outlive their analyser. The pictures of a
  // stream (PictureParams::stream) come in order; one with the index 0 begins it anew.
  virtual std::unique_ptr<AnalysedFrame> analyse(const Frame& frame, Written written,
                                                 const core::PictureParams& picture) = 0;
  // Says that no further frame will come soon: frames that wait to be looked at together are looked at now.
  virtual void start() {}
};

std::unique_ptr<Analyser> make_cpu_analyser(const StreamParams& params);

}  // namespace cu264::encoder
