#include "encoder/rate_control/controlled_picture.h"

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

bool ControlledPicture::can_plan() const {
  return stream == nullptr || stream->controller.can_plan(*control);
}

bool ControlledPicture::foresee(const StageParams& stages, bool wait) {
  if (stream == nullptr) return true;
  const auto behind = static_cast<std::uint64_t>(control->settings.lookahead);
  return stream->foresee(std::min(place + behind + 1, stream->submitted), stages, wait);
}

bool ControlledStream::foresee(std::uint64_t pictures, const StageParams& stages, bool wait) {
  for (; expected < pictures; ++expected) {
    ControlledPicture& next = *unexpected.front();
    if (!wait && !next.measured()) return false;
    next.expect(stages);
    unexpected.pop_front();
  }
  return true;
}

void ControlledPicture::expect(const StageParams& stages) {
  if (error) return;
  try {
    const core::PictureMeasure& own = frame->measure();
    BitsCurve curve(
        [sizes = logs_of(size_curve(own, stages.preset))](int qp) { return bits_at(sizes, qp * kQpOne); });
    const std::optional<int> crf_q8 = control->settings.crf_q8;
    const int crf_qp = crf_q8 ? crf_qp_q8(own, *crf_q8, stages.cabac) : 0;
    stream->controller.expect(std::move(curve), *control, crf_qp);
    expected_ = true;
  } catch (...) {
    error = std::current_exception();
  }
}

void ControlledPicture::plan() {
  if (!expected_) return;
  number = stream->controller.next_number();
  set_qp(stream->controller.plan());
}

void ControlledPicture::set_qp(PictureQp qp) {
  params.qp = static_cast<std::uint8_t>(qp.qp);
  params.raised_rows = static_cast<std::uint16_t>(qp.raised_rows);
}

void ControlledPicture::code_again(PictureQp qp) {
  coded = false;
  unit = {};
  set_qp(qp);
}

bool ControlledPicture::take(CodedAccessUnit&& coded_unit) {
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

void ControlledPicture::fail() {
  error = std::current_exception();
  coded = true;
  if (number && !reviewed) stream->controller.review(*number, 0);
  reviewed = true;
}

bool ControlledPicture::settle() {
  if (stream == nullptr) return true;
  RateController& controller = stream->controller;
  if (error) {
    if (number) {
      controller.lose(*number);
    } else {
      controller.lose_unplanned(*control);
    }
    return true;
  }
  if (params.idr_pic_id == stream->last_idr_pic_id) {
    params.idr_pic_id = core::kIdrPicIdBehindGap;
    code_again({params.qp, params.raised_rows});
    return false;
  }
  RateController::Settlement result = controller.settle(*number);
  if (result.again) {
    code_again(*result.again);
    return false;
  }
  if (result.too_large) {
    const RateSettings& settings = control->settings;
    unit = {};
    unit.dropped = settings.drop;
    if (!settings.drop)
      error = std::make_exception_ptr(too_large(params.index, settings, result.excess_bytes));
    return true;
  }
  stream->last_idr_pic_id = params.idr_pic_id;
  unit.hrd_messages = std::move(result.messages);
  if (result.filler_bytes > 0) {
    const auto filler = static_cast<std::size_t>(result.filler_bytes);
    // Backends leave as much room as filler data usually need (StageParams::packet_room).
    unit.slices.reserve(unit.slices.size() + filler + kRoomForMessages);
    append_filler(unit.slices, filler);
  }
  unit.stats.mean_qp = result.mean_qp;
  unit.stats.codings = codings;
  unit.stats.buffer_bits = result.fullness;
  return true;
}

}  // namespace cu264::encoder
