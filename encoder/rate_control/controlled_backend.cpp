#include "encoder/rate_control/controlled_backend.h"

#include <algorithm>
#include <string>
#include <utility>

#include "encoder/rate_control/bits_model.h"

namespace cu264::encoder {
namespace {

constexpr int kMostInInner = kFeedbackDistance / 2;  // pictures: a batch that is coded, and one that waits

// Pictures in the inner backend at once.
int inner_limit(int inner_capacity, int batch) {
  return std::min(inner_capacity, std::max(kMostInInner / batch, 1) * batch);
}

Error too_large(std::uint64_t index, const RateSettings& settings, std::int64_t excess) {
  const bool limited = settings.limit_bytes > 0;
  return Error(ErrorCode::encode_failure,
               "picture " + std::to_string(index) + " exceeds what " +
                   (limited ? "a picture may have" : "the buffer holds") + " by " + std::to_string(excess) +
                   " bytes at QP 51",
               limited ? "allow more bytes, or have such pictures left out (on-overflow drop)"
                       : "use a larger buffer or bitrate, or have such pictures left out (on-overflow drop)");
}

// Whether pictures of both are measured in the same way.
bool same_analysis(const StageParams& a, const StageParams& b) {
  const auto aq = [](const StageParams& params) {
    return params.aq ? std::pair(static_cast<int>(params.aq->mode), params.aq->strength) : std::pair(-1, 0);
  };
  return a.width == b.width && a.height == b.height && a.threads == b.threads && aq(a) == aq(b) &&
         a.input_format == b.input_format && a.matrix_coefficients == b.matrix_coefficients &&
         a.full_range == b.full_range;
}

}  // namespace

int controlled_batch(int batch, std::size_t devices) {
  return std::clamp(kMostInInner / 2 / static_cast<int>(std::max<std::size_t>(devices, 1)), 1, batch);
}

int controlled_capacity(int inner_capacity, int batch, bool device_output) {
  // Pictures that are coded again wait for a batch of their own, which must not keep others from coming.
  const int again = device_output ? 0 : std::max(2 * batch, 4);
  return std::min(kFeedbackDistance, inner_limit(inner_capacity, batch) + again);
}

class ControlledBackend::Pipeline {
 public:
  Pipeline(std::unique_ptr<Backend> inner, MakeAnalyser make_analyser, const StageParams& params,
           std::vector<int> devices, int batch)
      : make_analyser_(make_analyser), devices_(std::move(devices)), inner_(std::move(inner)) {
    adopt(params, batch);
  }

  void adopt(const StageParams& params, int batch) {
    if (!analyser_ || !same_analysis(params, params_)) analyser_ = make_analyser_(params, devices_);
    params_ = params;
    inner_limit_ = static_cast<std::size_t>(inner_limit(inner_->capacity(), batch));
    capacity_ = controlled_capacity(inner_->capacity(), batch, stays_with_inner());
    streams_.clear();
    flushed_ = draining_ = false;
  }

  int capacity() const { return capacity_; }

  void submit(const Frame& frame, const core::PictureParams& params, const PictureControl* control,
              void* written) {
    check_picture(params, params_);
    flushed_ = false;
    Picture& picture = pictures_.emplace_back();
    picture.params = params;
    try {
      picture.frame = analyser_->analyse(frame, written);
    } catch (...) {
      picture.error = std::current_exception();
    }
    if (control != nullptr) {
      picture.control = *control;
      picture.stream = &stream_of(params);
    }
    advance();
  }

  void flush() {
    flushed_ = true;
    analyser_->start();
    advance();
    if (stuck()) drain();
  }

  bool ready() {
    advance();
    // Frames wait to be measured together while there is other work.
    if (inner_pictures_.empty() || !inner_->working()) analyser_->start();
    return front_is_settled() || (stays_with_inner() && !inner_pictures_.empty() && inner_->ready());
  }

  bool working() {
    for (advance(); !pictures_.empty() && !front_is_settled(); advance()) {
      if (!inner_pictures_.empty()) {
        if (ready()) break;
        if (inner_->ready()) continue;
        if (inner_->working()) return true;
        const bool more = !flushed_ && pictures_.size() < static_cast<std::size_t>(capacity_);
        if (more || draining_) return false;
        drain();
      } else if (unplanned_ < pictures_.size()) {
        measure(pictures_[unplanned_]);  // nothing would signal that it is done
      }
    }
    const bool done = !pictures_.empty() && ready();
    if (done && notifier_) notifier_->signal();  // the caller has looked before
    return done;
  }

  void notify(std::shared_ptr<Notifier> notifier) {
    notifier_ = notifier;
    inner_->notify(std::move(notifier));
  }

  CodedAccessUnit collect() {
    for (advance(); !front_is_settled();) {
      wait();
      settle();
      if (!front_is_settled()) advance();
    }
    Picture picture = std::move(pictures_.front());
    pictures_.pop_front();
    --settled_, --unplanned_;
    if (picture.error) std::rethrow_exception(picture.error);
    return std::move(picture.unit);
  }

  bool restart(const StageParams& params, int batch) {
    if (!inner_->restart(params, batch)) return false;
    adopt(params, batch);
    return true;
  }

 private:
  struct Stream {
    RateController controller;
    int last_idr_pic_id = -1;  // of the last picture that was not left out
  };
  struct Picture {
    core::PictureParams params;
    std::optional<PictureControl> control;
    Stream* stream = nullptr;             // null: the picture passes
    std::optional<std::uint64_t> number;  // of the controller's pictures, once it is planned
    std::unique_ptr<AnalysedFrame> frame;
    bool reviewed = false;
    bool coded = false;  // and not to be coded again, unless settle says so
    int codings = 0;
    CodedAccessUnit unit;
    std::exception_ptr error;
  };

  Stream& stream_of(const core::PictureParams& params) {
    streams_.resize(std::max(streams_.size(), static_cast<std::size_t>(params.stream) + 1));
    std::unique_ptr<Stream>& stream = streams_[params.stream];
    if (params.index == 0 || !stream) stream.reset(new Stream{RateController(params_.mb_height)});
    return *stream;
  }

  // Packets on the device are valid until the next call of the inner backend, so each is taken from there
  // when it is asked for. Pictures are not coded again then.
  bool stays_with_inner() const { return params_.device_output; }

  bool front_is_settled() const { return settled_ > 0; }

  // Results are taken when they are needed: while one packet at a time is copied and freed, all of them use
  // the same memory.
  bool takes_results() const {
    return !stays_with_inner() && !inner_pictures_.empty() && !front_is_settled();
  }

  // Does everything that can be done without waiting, until the oldest picture is settled.
  void advance() {
    for (bool moved = true; moved;) {
      moved = false;
      while (takes_results() && inner_->ready()) take_result(), moved = true;
      moved = settle() || moved;
      moved = plan() || moved;
      moved = submit_to_inner() || moved;
    }
  }

  // Nothing comes without a flush: the inner backend waits for a full batch.
  bool stuck() { return !inner_pictures_.empty() && !draining_ && !inner_->ready() && !inner_->working(); }

  void drain() {
    inner_->flush();
    draining_ = true;
  }

  // Waits for something that brings the oldest picture forward; advance() came before.
  void wait() {
    analyser_->start();
    const bool plannable = unplanned_ < pictures_.size() && can_plan(pictures_[unplanned_]);
    if (plannable && (inner_pictures_.empty() || stuck())) {
      measure(pictures_[unplanned_]);
      return;
    }
    if (stuck()) drain();
    take_result();
  }

  bool can_plan(const Picture& picture) const {
    return picture.stream == nullptr || picture.stream->controller.can_plan(*picture.control);
  }

  bool plan() {
    const std::size_t before = unplanned_;
    for (; unplanned_ < pictures_.size(); ++unplanned_) {
      Picture& picture = pictures_[unplanned_];
      if (!can_plan(picture) || !(picture.error || picture.frame->done())) break;
      plan_one(picture);
      to_code_.push_back(&picture);
    }
    return unplanned_ != before;
  }

  // Waits for the measure of a picture. Returns null if it is not to be had, and the picture has the error.
  static const core::PictureMeasure* measure(Picture& picture) {
    if (picture.error) return nullptr;
    try {
      return &picture.frame->measure();
    } catch (...) {
      picture.error = std::current_exception();
      return nullptr;
    }
  }

  void plan_one(Picture& picture) {
    if (picture.stream == nullptr) return;
    const core::PictureMeasure* const measured = measure(picture);
    if (measured == nullptr) return;
    RateController& controller = picture.stream->controller;
    BitsCurve curve(
        [sizes = size_curve(*measured, params_.preset)](int qp) { return bits_at(sizes, qp * kQpOne); });
    const std::optional<int> crf_q8 = picture.control->settings.crf_q8;
    const int crf_qp = crf_q8 ? crf_qp_q8(*measured, *crf_q8) : 0;
    picture.number = controller.next_number();
    set_qp(picture, controller.plan(std::move(curve), *picture.control, crf_qp));
    waits_for_first_ = waits_for_first_ || controller.waits_for_first();
  }

  static void set_qp(Picture& picture, PictureQp qp) {
    picture.params.qp = static_cast<std::uint8_t>(qp.qp);
    picture.params.raised_rows = static_cast<std::uint16_t>(qp.raised_rows);
  }

  bool submit_to_inner() {
    if (draining_ && !inner_pictures_.empty()) return false;
    draining_ = false;
    bool moved = false;
    for (; !to_code_.empty() && inner_pictures_.size() < inner_limit_; moved = true) {
      Picture& picture = *to_code_.front();
      to_code_.pop_front();
      ++picture.codings;
      try {
        if (picture.error) std::rethrow_exception(picture.error);
        inner_->submit(picture.frame->frame(), picture.params, picture.frame->written());
        inner_pictures_.push_back(&picture);
      } catch (...) {
        fail(picture);
      }
    }
    // The pictures behind wait for the first one, so that its batch will not be full.
    if (waits_for_first_ && to_code_.empty() && !inner_pictures_.empty()) {
      waits_for_first_ = false;
      drain();
    }
    return moved;
  }

  void take_result() {
    Picture& picture = *inner_pictures_.front();
    inner_pictures_.pop_front();
    try {
      picture.unit = inner_->collect();
    } catch (...) {
      fail(picture);
      return;
    }
    picture.coded = true;
    if (picture.stream == nullptr) return;
    RateController& controller = picture.stream->controller;
    const std::int64_t bytes = size_of(picture.unit);
    const auto again = picture.reviewed ? controller.review_again(*picture.number, bytes)
                                        : controller.review(*picture.number, bytes);
    picture.reviewed = true;
    if (again) code_again(picture, *again);
  }

  static std::int64_t size_of(const CodedAccessUnit& unit) {
    return static_cast<std::int64_t>(unit.device_slices.data != nullptr ? unit.device_slices.size
                                                                        : unit.slices.size());
  }

  void code_again(Picture& picture, PictureQp qp) {
    picture.coded = false;
    picture.unit = {};
    set_qp(picture, qp);
    to_code_.push_back(&picture);
  }

  void fail(Picture& picture) {
    picture.error = std::current_exception();
    picture.coded = true;
    if (picture.number && !picture.reviewed) picture.stream->controller.review(*picture.number, 0);
    picture.reviewed = true;
  }

  bool settle() {
    const std::size_t before = settled_;
    while (settled_ < unplanned_ && pictures_[settled_].coded) {
      Picture& picture = pictures_[settled_];
      if (!settle_one(picture)) break;
      picture.frame.reset();
      ++settled_;
    }
    return settled_ != before;
  }

  // Returns false if the picture is coded again.
  bool settle_one(Picture& picture) {
    if (picture.stream == nullptr) return true;
    Stream& stream = *picture.stream;
    if (picture.error) {
      if (picture.number) {
        stream.controller.lose(*picture.number);
      } else {
        stream.controller.lose_unplanned(*picture.control);
      }
      return true;
    }
    if (picture.params.idr_pic_id == stream.last_idr_pic_id) {
      picture.params.idr_pic_id = core::kIdrPicIdBehindGap;
      code_again(picture, {picture.params.qp, picture.params.raised_rows});
      return false;
    }
    RateController::Settlement result = stream.controller.settle(*picture.number);
    if (result.again) {
      code_again(picture, *result.again);
      return false;
    }
    CodedAccessUnit& unit = picture.unit;
    if (result.too_large) {
      const RateSettings& settings = picture.control->settings;
      unit = {};
      unit.dropped = settings.drop;
      if (!settings.drop)
        picture.error =
            std::make_exception_ptr(too_large(picture.params.index, settings, result.excess_bytes));
      return true;
    }
    stream.last_idr_pic_id = picture.params.idr_pic_id;
    unit.hrd_messages = std::move(result.messages);
    if (result.filler_bytes > 0) {
      const std::vector<std::uint8_t> filler = filler_data(static_cast<std::size_t>(result.filler_bytes));
      unit.slices.reserve(unit.slices.size() + filler.size() + kRoomForMessages);
      unit.slices.insert(unit.slices.end(), filler.begin(), filler.end());
    }
    unit.stats.mean_qp = result.mean_qp;
    unit.stats.codings = picture.codings;
    unit.stats.buffer_bits = result.fullness;
    return true;
  }

  const MakeAnalyser make_analyser_;
  const std::vector<int> devices_;
  StageParams params_;
  std::unique_ptr<Analyser> analyser_;
  std::size_t inner_limit_ = 1;  // pictures in the inner backend at once
  int capacity_ = 1;
  std::vector<std::unique_ptr<Stream>> streams_;  // [PictureParams::stream]
  std::deque<Picture> pictures_;                  // submitted and not collected
  std::size_t settled_ = 0;                       // the first so many of them are settled
  std::size_t unplanned_ = 0;                     // the first so many of them are planned
  std::deque<Picture*> to_code_;                  // planned, or to be coded again
  std::deque<Picture*> inner_pictures_;           // in the inner backend
  std::shared_ptr<Notifier> notifier_;            // null until somebody waits
  bool waits_for_first_ = false;
  bool flushed_ = false;
  bool draining_ = false;  // the inner backend was flushed, and takes pictures when it is empty
  // Destroyed first, because it may still read frames.
  const std::unique_ptr<Backend> inner_;
};

ControlledBackend::ControlledBackend(std::unique_ptr<Backend> inner, MakeAnalyser make_analyser,
                                     const StageParams& params, std::vector<int> devices, int batch)
    : pipeline_(
          std::make_unique<Pipeline>(std::move(inner), make_analyser, params, std::move(devices), batch)) {}

ControlledBackend::~ControlledBackend() = default;

int ControlledBackend::capacity() const {
  return pipeline_->capacity();
}

void ControlledBackend::submit(const Frame& frame, const core::PictureParams& picture,
                               const PictureControl& control, void* written) {
  pipeline_->submit(frame, picture, &control, written);
}

void ControlledBackend::submit(const Frame& frame, const core::PictureParams& picture, void* written) {
  pipeline_->submit(frame, picture, nullptr, written);
}

void ControlledBackend::flush() {
  pipeline_->flush();
}

bool ControlledBackend::ready() const {
  return pipeline_->ready();
}

bool ControlledBackend::working() {
  return pipeline_->working();
}

void ControlledBackend::notify(std::shared_ptr<Notifier> notifier) {
  pipeline_->notify(std::move(notifier));
}

CodedAccessUnit ControlledBackend::collect() {
  return pipeline_->collect();
}

bool ControlledBackend::restart(const StageParams& params, int batch) {
  return pipeline_->restart(params, batch);
}

}  // namespace cu264::encoder
