// Whether all of a watermark went into a video: an encoder's blocks carry bits in no order, and which can
// carry one is known once they are coded.
#pragma once

#include <memory>

#include "cu264/protect.h"
#include "protect/mark_planner.h"

namespace cu264::protect {

class MarkCheck {
 public:
  MarkCheck(const ProtectionKey& key, ByteSpan parameter_sets, const MarkPlanner& marks);
  ~MarkCheck();

  // The next access unit, the first one with the watermark's message. Reads it until every bit was found
  // once; after that it costs nothing.
  void picture(ByteSpan access_unit);
  // Throws Error(bad_input) that tells how much the video can hold.
  void finish() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cu264::protect
