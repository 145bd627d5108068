// One picture of a ControlledBackend, from its measure to its settled access unit: what its stream's
// RateController decides of it, and what of that goes into the access unit. It knows no other picture and no
// backend.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>

#include "encoder/rate_control/analyser.h"
#include "encoder/rate_control/rate_controller.h"
#include "encoder/stages.h"

namespace cu264::encoder {

struct ControlledStream;

struct ControlledPicture {
  core::PictureParams params;
  std::optional<PictureControl> control;
  ControlledStream* stream = nullptr;   // null: the picture passes
  std::uint64_t place = 0;              // in its stream
  std::optional<std::uint64_t> number;  // of the controller's pictures, once it is planned
  std::unique_ptr<AnalysedFrame> frame;
  bool reviewed = false;
  bool coded = false;  // and not to be coded again, unless settle says so
  int codings = 0;
  CodedAccessUnit unit;
  std::exception_ptr error;

  // Returns whether the pictures before it that it depends on are known.
  bool can_plan() const;
  // The controller expects the picture and those behind it that it looks at. Where that takes measures that
  // are not done, it waits or returns false.
  bool foresee(const StageParams& stages, bool wait);
  // The picture was foreseen.
  void plan();
  // Takes what was coded. Returns false if the picture must be coded again.
  bool take(CodedAccessUnit&& coded_unit);
  // The picture has the exception that is being handled.
  void fail();
  // For pictures in order. Returns false if the picture must be coded again.
  bool settle();

 private:
  friend struct ControlledStream;

  bool measured() const { return error || frame->done(); }
  void expect(const StageParams& stages);  // waits for the measure; without one the picture has the error
  void set_qp(PictureQp qp);
  void code_again(PictureQp qp);

  bool expected_ = false;  // by the controller
};

struct ControlledStream {
  ControlledStream(int mb_width, int mb_height) : controller(mb_width, mb_height) {}

  RateController controller;
  int last_idr_pic_id = -1;  // of the last picture that was not left out
  // Pictures that wait for others behind them, which they look at.
  std::deque<std::unique_ptr<ControlledPicture>> ahead;
  std::deque<ControlledPicture*> unexpected;  // by the controller, in order
  std::uint64_t submitted = 0;                // pictures
  std::uint64_t expected = 0;                 // the first so many pictures, but for those with errors

  // As ControlledPicture::foresee(), of the first `pictures`.
  bool foresee(std::uint64_t pictures, const StageParams& stages, bool wait);
};

}  // namespace cu264::encoder
