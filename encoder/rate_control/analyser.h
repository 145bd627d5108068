// Measures each picture before it is planned, and holds it while it may be coded.
#pragma once

#include <memory>

#include "core/picture_measure.h"
#include "cu264/frame.h"
#include "encoder/held_frame.h"
#include "encoder/stream_params.h"

namespace cu264::encoder {

// A submitted frame. It is held, so that it can be coded several times, until it is destroyed.
class AnalysedFrame {
 public:
  virtual ~AnalysedFrame() = default;
  virtual bool done() const = 0;                      // measure() would not wait
  virtual const core::PictureMeasure& measure() = 0;  // waits
  // The frame to submit to the backend. Its format and memory may differ from the caller's: RGB is 4:2:0 by
  // now.
  virtual const Frame& frame() const = 0;
  virtual Written written() const = 0;  // as HeldFrame::written
};

class Analyser {
 public:
  virtual ~Analyser() = default;
  // Memory of kind host may be used again when this returns; other memory is read until the AnalysedFrame is
  // destroyed. `written` is as HeldFrame::written. Frames may outlive their analyser.
  virtual std::unique_ptr<AnalysedFrame> analyse(const Frame& frame, Written written) = 0;
  // Says that no further frame will come soon: frames that wait to be measured together are measured now.
  virtual void start() {}
};

std::unique_ptr<Analyser> make_cpu_analyser(const StreamParams& params);

}  // namespace cu264::encoder
