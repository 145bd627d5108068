#include "encoder/rate_control/paced_picture.h"

#include <algorithm>
#include <string>
#include <utility>

#include "encoder/rate_control/bits_model.h"

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
  return stream == nullptr || stream->controller.can_plan(job.control);
}

bool PacedPicture::announce_lookahead(const StreamParams& stages, bool wait) {
  if (stream == nullptr) return true;
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

void PacedPicture::announce(const StreamParams& stages) {
  if (error) return;
  try {
    const core::PictureMeasure& own = analysed->measure();
    BitsCurve curve([sizes = logs_of(size_curve(own, stages.decisions.preset))](int qp) {
      return bits_at(sizes, qp * kQpOne);
    });
    const std::optional<int> crf_q8 = job.control.settings.crf_q8;
    const int crf_qp = crf_q8 ? crf_qp_q8(own, *crf_q8, stages.format.cabac) : 0;
    stream->controller.announce(std::move(curve), job.control, crf_qp);
    announced_ = true;
  } catch (...) {
    error = std::current_exception();
  }
}

void PacedPicture::plan() {
  if (!announced_) return;
  number = stream->controller.next_number();
  set_qp(stream->controller.plan());
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
  if (picture.idr_pic_id == stream->last_idr_pic_id) {
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
