#include "encoder/rate_control/paced_picture.h"

#include <algorithm>
#include <string>
#include <utility>

#include "encoder/rate_control/bits_model.h"
#include "encoder/rate_control/gop_model.h"

namespace cu264::encoder {
namespace {

Error too_large(std::uint64_t index, const RateSettings& settings, std::int64_t excess) {
  const bool limited = settings.limit_bytes > 0;
  return Error(ErrorCode::encode_failure,
               "picture " + std::to_string(index) + " exceeds what " +
                   (limited ? "a picture may have" : "the buffer holds") + " by " + std::to_string(excess) +
                   " bytes at QP 51",
               limited ? "allow more bytes, or have such pictures left out (on-overflow drop)"
                       : "use a larger buffer or bitrate, or have such pictures left out (on-overflow drop)");
}

std::int64_t size_of(const CodedAccessUnit& unit) {
  return static_cast<std::int64_t>(unit.device_slices.data != nullptr ? unit.device_slices.size
                                                                      : unit.slices.size() - unit.front);
}

}  // namespace

bool PacedPicture::can_plan() const {
  if (stream == nullptr) return true;
  // Pictures are predicted from the one before, which is final once it is settled.
  return !(gop != nullptr && gop->is_open()) && stream->controller.can_plan(job.control);
}

bool PacedPicture::announce_lookahead(const StreamParams& stages, bool wait) {
  if (stream == nullptr) {
    if (!wait && !measured()) return false;
    place_in_gop();
    return true;
  }
  const auto lookahead = static_cast<std::uint64_t>(job.control.settings.lookahead);
  return stream->announce_first(std::min(place + lookahead + 1, stream->submitted), stages, wait);
}

void PacedStream::add(std::unique_ptr<PacedPicture> picture) {
  picture->stream = this;
  picture->place = submitted++;
  unannounced.push_back(picture.get());
  ahead.push_back(std::move(picture));
}

bool PacedStream::announce_first(std::uint64_t pictures, const StreamParams& stages, bool wait) {
  for (; announced < pictures; ++announced) {
    PacedPicture& next = *unannounced.front();
    if (!wait && !next.measured()) return false;
    next.announce(stages);
    unannounced.pop_front();
  }
  return true;
}

BitsCurve PacedPicture::curve(const StreamParams& stages) const {
  const core::PictureMeasure& measure = analysed->measure();
  return BitsCurve([sizes = logs_of(size_curve(measure, stages.decisions.preset)),
                    kind = kind_of(job.control), macroblocks = std::int64_t{measure.macroblocks}](int qp) {
    const std::int64_t bits = bits_at(sizes, own_qp_q8(kind, qp * kQpOne));
    return kind == PictureKind::inter ? inter_bits(bits, macroblocks) : bits;
  });
}

void PacedPicture::place_in_gop() {
  if (gop == nullptr || error || placed_) return;
  placed_ = true;
  try {
    gop->place(job, analysed ? analysed->scene() : core::SceneSums{});
  } catch (...) {
    error = std::current_exception();
  }
}

void PacedPicture::announce(const StreamParams& stages) {
  place_in_gop();
  if (error) return;
  try {
    const std::optional<int> crf_q8 = job.control.settings.crf_q8;
    const int crf_qp = crf_q8 ? crf_qp_q8(analysed->measure(), *crf_q8, stages.format.cabac) : 0;
    stream->controller.announce(curve(stages), job.control, crf_qp);
    announced_ = true;
  } catch (...) {
    error = std::current_exception();
  }
}

void PacedPicture::plan(const StreamParams& stages) {
  if (gop != nullptr) gop->open();
  if (gop != nullptr && !error) {
    const bool was_key = job.picture.key;
    gop->number(job);
    if (announced_ && job.picture.key != was_key) stream->controller.replace_next(curve(stages), job.control);
  }
  if (stream == nullptr) close_gop();  // nothing is coded again
  if (!announced_) return;
  number = stream->controller.next_number();
  set_qp(stream->controller.plan());
}

void PacedPicture::close_gop() {
  if (gop == nullptr) return;
  if (error || unit.dropped) {
    gop->leave_out(job, was_submitted);
  } else {
    gop->keep(job);
  }
}

void PacedPicture::set_qp(PictureQp qp) {
  job.picture.qp = static_cast<std::uint8_t>(qp.qp);
  job.picture.raised_rows = static_cast<std::uint16_t>(qp.raised_rows);
}

void PacedPicture::code_again(PictureQp qp) {
  coded = false;
  unit = {};
  set_qp(qp);
}

const Job& PacedPicture::next_coding() {
  ++codings;
  if (error) std::rethrow_exception(error);
  if (analysed) job.frame.frame = analysed->frame(), job.frame.written = analysed->written();
  job.replaces = job.replaces || was_submitted;
  return job;
}

bool PacedPicture::take(CodedAccessUnit&& coded_unit) {
  if (coded_unit.error) {
    fail(coded_unit.error);
    return true;
  }
  unit = std::move(coded_unit);
  coded = true;
  if (stream == nullptr) return true;
  RateController& controller = stream->controller;
  const std::int64_t bytes = size_of(unit);
  const auto again = reviewed ? controller.review_again(*number, bytes) : controller.review(*number, bytes);
  reviewed = true;
  if (again) code_again(*again);
  return !again;
}

void PacedPicture::fail(std::exception_ptr why) {
  error = std::move(why);
  coded = true;
  if (number && !reviewed) stream->controller.review(*number, 0);
  reviewed = true;
}

bool PacedPicture::settle() {
  if (stream == nullptr) return true;
  if (!settle_size()) return false;
  close_gop();
  return true;
}

bool PacedPicture::settle_size() {
  RateController& controller = stream->controller;
  if (error) {
    if (number) {
      controller.settle_failed(*number);
    } else {
      controller.settle_unplanned(job.control);
    }
    return true;
  }
  core::PictureParams& picture = job.picture;
  if (gop == nullptr && picture.idr_pic_id == stream->last_idr_pic_id) {
    picture.idr_pic_id = core::kIdrPicIdAfterGap;
    code_again({picture.qp, picture.raised_rows});
    return false;
  }
  RateController::Settlement result = controller.settle(*number);
  if (result.again) {
    code_again(*result.again);
    return false;
  }
  if (result.too_large) {
    const RateSettings& settings = job.control.settings;
    unit = {};
    unit.dropped = settings.drop;
    if (!settings.drop)
      error = std::make_exception_ptr(too_large(picture.index, settings, result.excess_bytes));
    return true;
  }
  stream->last_idr_pic_id = picture.idr_pic_id;
  unit.hrd_messages = std::move(result.messages);
  if (result.filler_bytes > 0) {
    const auto filler = static_cast<std::size_t>(result.filler_bytes);
    // Backends leave as much room as filler data usually need (Pacing::packet_capacity).
    unit.slices.vector().reserve(unit.slices.size() + filler + kRoomForMessages);
    append_filler(unit.slices.vector(), filler);
  }
  unit.stats.mean_qp = result.mean_qp;
  unit.stats.codings = codings;
  unit.stats.buffer_bits = result.fullness;
  return true;
}

void PacedPicture::let_go_of_frame() {
  analysed.reset();
  job.frame = {};
}

CodedAccessUnit PacedPicture::result() {
  if (error) unit = {};
  unit.error = error;
  unit.picture = job.picture;
  unit.label = std::move(job.label);
  return std::move(unit);
}

}  // namespace cu264::encoder
