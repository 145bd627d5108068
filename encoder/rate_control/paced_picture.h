// One picture of the pipeline, from its frame to its settled access unit: what its stream's RateController
// decides about it, and what of that goes into the access unit. It knows no other picture and no backend.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "encoder/backend.h"
#include "encoder/gop_structure.h"
#include "encoder/rate_control/analyser.h"
#include "encoder/rate_control/rate_controller.h"

namespace cu264::encoder {

struct PacedStream;

struct PacedPicture {
  explicit PacedPicture(Job picture_job) : job(std::move(picture_job)) {}

  Job job;
  PacedStream* stream = nullptr;            // null: the QP is constant, and nothing is decided
  GopStructure* gop = nullptr;              // null: every picture is a key picture
  std::uint64_t place = 0;                  // in its stream
  std::optional<std::uint64_t> number;      // of the controller's pictures, once it is planned
  std::unique_ptr<AnalysedFrame> analysed;  // null unless analyses_pictures()
  bool reviewed = false;
  bool coded = false;  // and not to be coded again, unless settle says so
  int codings = 0;
  bool was_submitted = false;  // the backend had it
  CodedAccessUnit unit;
  std::exception_ptr error;

  // Returns whether the pictures before it that it depends on are known.
  bool can_plan() const;
  // Announces to the controller the picture and those after it that it looks at, and decides which of them
  // begin a GOP. Where that takes measures that are not done, it waits or returns false.
  bool announce_lookahead(const StreamParams& stages, bool wait);
  // The picture was announced.
  void plan(const StreamParams& stages);
  // What to give to the backend now. Throws the picture's error.
  const Job& next_coding();
  // Takes what was coded. Returns false if the picture must be coded again.
  bool take(CodedAccessUnit&& coded_unit);
  void fail(std::exception_ptr why);
  // For pictures in order. Returns false if the picture must be coded again.
  bool settle();
  // Says that nobody reads the frame any more.
  void let_go_of_frame();
  // The picture was settled.
  CodedAccessUnit result();

 private:
  friend struct PacedStream;

  bool measured() const { return error || !analysed || analysed->done(); }
  void place_in_gop();                        // waits for what is known of the scene
  void announce(const StreamParams& stages);  // waits for the measure; without one the picture has the error
  BitsCurve curve(const StreamParams& stages) const;
  bool settle_size();
  void close_gop();  // tells `gop` what became of the picture
  void set_qp(PictureQp qp);
  void code_again(PictureQp qp);

  bool announced_ = false;  // by the controller
  bool placed_ = false;     // in its GOP
};

struct PacedStream {
  PacedStream(int mb_width, int mb_height) : controller(mb_width, mb_height) {}

  RateController controller;
  int last_idr_pic_id = -1;  // of the last picture that was not left out
  // Pictures that wait for others after them, which they look at.
  std::deque<std::unique_ptr<PacedPicture>> ahead;
  std::deque<PacedPicture*> unannounced;  // by the controller, in order
  std::uint64_t submitted = 0;            // pictures
  std::uint64_t announced = 0;            // how many pictures, from the first on, except those with errors

  // Adds the stream's next picture to those that wait.
  void add(std::unique_ptr<PacedPicture> picture);
  // As PacedPicture::announce_lookahead(), of the first `pictures`.
  bool announce_first(std::uint64_t pictures, const StreamParams& stages, bool wait);
};

}  // namespace cu264::encoder
