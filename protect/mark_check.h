// Checks that all of a watermark went into a video. The check is needed because an encoder's blocks carry
// bits in no particular order, and only once a block is coded is it known whether it can carry one.
#pragma once

#include <memory>

#include "cu264/protect.h"
#include "protect/mark_planner.h"

namespace cu264::protect {

class MarkCheck {
 public:
  MarkCheck(const ProtectionKey& key, ByteSpan parameter_sets, const MarkPlanner& marks);
  ~MarkCheck();

  // Takes the next access unit; the first one contains the watermark's message. It reads until every bit was
  // found once, and costs nothing afterwards.
  void picture(ByteSpan access_unit);
  // Throws Error(bad_input), which tells how much the video can hold, if a bit is missing.
  void finish() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cu264::protect
