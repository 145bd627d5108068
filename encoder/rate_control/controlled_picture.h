// One picture of a ControlledBackend, from its measure to its settled access unit: what its stream's
// RateController decides of it, and what of that goes into the access unit. It knows no other picture and no
// backend.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

#include "encoder/rate_control/analyser.h"
#include "encoder/rate_control/rate_controller.h"
#include "encoder/stages.h"

namespace cu264::encoder {

struct ControlledStream {
  RateController controller;
  int last_idr_pic_id = -1;  // of the last picture that was not left out
};

struct ControlledPicture {
  core::PictureParams params;
  std::optional<PictureControl> control;
  ControlledStream* stream = nullptr;   // null: the picture passes
  std::optional<std::uint64_t> number;  // of the controller's pictures, once it is planned
  std::unique_ptr<AnalysedFrame> frame;
  bool reviewed = false;
  bool coded = false;  // and not to be coded again, unless settle says so
  int codings = 0;
  CodedAccessUnit unit;
  std::exception_ptr error;

  // Returns whether the pictures it depends on are known.
  bool can_plan() const;
  bool measured() const { return error || frame->done(); }  // measure() would not wait
  // Returns null if the measure is not to be had, and the picture has the error.
  const core::PictureMeasure* measure();
  void plan(const StageParams& stages);
  // Takes what was coded. Returns false if the picture must be coded again.
  bool take(CodedAccessUnit&& coded_unit);
  // The picture has the exception that is being handled.
  void fail();
  // For pictures in order. Returns false if the picture must be coded again.
  bool settle();

 private:
  void set_qp(PictureQp qp);
  void code_again(PictureQp qp);
};

}  // namespace cu264::encoder
