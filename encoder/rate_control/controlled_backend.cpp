#include "encoder/rate_control/controlled_backend.h"

#include <algorithm>
#include <utility>

#include "encoder/rate_control/controlled_picture.h"

namespace cu264::encoder {
namespace {

constexpr int kMostInInner = kFeedbackDistance / 2;  // pictures: a batch that is coded, and one that waits

// Pictures in the inner backend at once.
int inner_limit(int inner_capacity, int batch) {
  return std::min(inner_capacity, std::max(kMostInInner / batch, 1) * batch);
}

// Returns whether pictures of both are measured in the same way.
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

int controlled_capacity(int inner_capacity, int batch, const StageParams& params) {
  // So many pictures may wait for a place in the backend. While a batch waits for those of it that are coded
  // again, the caller submits no more, so these fill the batches behind it.
  const int batches = params.codes_again ? 4 : 2;
  const int waiting = params.device_output ? 0 : std::max(batches * batch, 4);
  return std::min(kFeedbackDistance, inner_limit(inner_capacity, batch) + waiting) + params.lookahead;
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
    capacity_ = controlled_capacity(inner_->capacity(), batch, params);
    streams_.clear();
    flushed_ = draining_ = false;
  }

  int capacity() const { return capacity_; }

  int submit(const Frame& frame, const core::PictureParams& params, const PictureControl* control,
             Written written) {
    check_picture(params, params_);
    flushed_ = false;
    auto picture = std::make_unique<Picture>();
    picture->params = params;
    try {
      picture->frame = analyser_->analyse(frame, std::move(written));
    } catch (...) {
      picture->error = std::current_exception();
    }
    int released = 1;
    if (control != nullptr) {
      picture->control = *control;
      released = look_ahead(std::move(picture), stream_of(params));
    } else {
      pictures_.push_back(std::move(picture));
    }
    advance();
    return released;
  }

  int release(std::uint32_t number, bool ends_clip) {
    if (number >= streams_.size() || !streams_[number]) return 0;
    Stream& stream = *streams_[number];
    const auto released = static_cast<int>(stream.ahead.size());
    // Those that a drain released before are planned without the end, whenever that happens.
    if (ends_clip && released > 0) stream.controller.end();
    while (!stream.ahead.empty()) release_oldest(stream);
    if (released > 0) advance();
    return released;
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
        const bool more = !flushed_ && pictures_.size() + ahead_ < static_cast<std::size_t>(capacity_);
        if (more || draining_) return false;
        drain();
      } else if (unplanned_ < pictures_.size()) {
        pictures_[unplanned_]->foresee(params_, true);  // nothing would signal that measures are done
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
    const std::unique_ptr<Picture> picture = std::move(pictures_.front());
    pictures_.pop_front();
    --settled_, --unplanned_;
    if (picture->error) std::rethrow_exception(picture->error);
    return std::move(picture->unit);
  }

  bool restart(const StageParams& params, int batch) {
    if (!inner_->restart(params, batch)) return false;
    adopt(params, batch);
    return true;
  }

 private:
  using Picture = ControlledPicture;
  using Stream = ControlledStream;

  // Returns how many pictures of the stream wait for no further ones.
  int look_ahead(std::unique_ptr<Picture> picture, Stream& stream) {
    const auto lookahead = static_cast<std::size_t>(picture->control->settings.lookahead);
    picture->stream = &stream;
    picture->place = stream.submitted++;
    stream.unexpected.push_back(picture.get());
    stream.ahead.push_back(std::move(picture));
    ++ahead_;
    int released = 0;
    for (; stream.ahead.size() > lookahead; ++released) release_oldest(stream);
    return released;
  }

  void release_oldest(Stream& stream) {
    pictures_.push_back(std::move(stream.ahead.front()));
    stream.ahead.pop_front();
    --ahead_;
  }

  Stream& stream_of(const core::PictureParams& params) {
    streams_.resize(std::max(streams_.size(), static_cast<std::size_t>(params.stream) + 1));
    std::unique_ptr<Stream>& stream = streams_[params.stream];
    if (params.index == 0 || !stream) stream = std::make_unique<Stream>(params_.mb_width, params_.mb_height);
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
    const bool plannable = unplanned_ < pictures_.size() && pictures_[unplanned_]->can_plan();
    if (plannable && (inner_pictures_.empty() || stuck())) {
      pictures_[unplanned_]->foresee(params_, true);
      return;
    }
    if (stuck()) drain();
    take_result();
  }

  bool plan() {
    const std::size_t before = unplanned_;
    for (; unplanned_ < pictures_.size(); ++unplanned_) {
      Picture& picture = *pictures_[unplanned_];
      if (!picture.can_plan() || !picture.foresee(params_, false)) break;
      picture.plan();
      if (picture.number) waits_for_first_ = waits_for_first_ || picture.stream->controller.waits_for_first();
      to_code_.push_back(&picture);
    }
    return unplanned_ != before;
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
        picture.fail();
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
      if (!picture.take(inner_->collect())) to_code_.push_front(&picture);
    } catch (...) {
      picture.fail();
    }
  }

  bool settle() {
    const std::size_t before = settled_;
    while (settled_ < unplanned_ && pictures_[settled_]->coded) {
      Picture& picture = *pictures_[settled_];
      if (!picture.settle()) {
        to_code_.push_front(&picture);
        break;
      }
      picture.frame.reset();
      ++settled_;
    }
    return settled_ != before;
  }

  const MakeAnalyser make_analyser_;
  const std::vector<int> devices_;
  StageParams params_;
  std::unique_ptr<Analyser> analyser_;
  std::size_t inner_limit_ = 1;  // pictures in the inner backend at once
  int capacity_ = 1;
  std::vector<std::unique_ptr<Stream>> streams_;   // [PictureParams::stream]
  std::size_t ahead_ = 0;                          // pictures that wait for others, in all streams
  std::deque<std::unique_ptr<Picture>> pictures_;  // those that do not, and were not collected
  std::size_t settled_ = 0;                        // the first so many of them are settled
  std::size_t unplanned_ = 0;                      // the first so many of them are planned
  // Pictures to be coded again, for which others wait, and then those that were planned.
  std::deque<Picture*> to_code_;
  std::deque<Picture*> inner_pictures_;  // in the inner backend
  std::shared_ptr<Notifier> notifier_;   // null until somebody waits
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

int ControlledBackend::submit(const Frame& frame, const core::PictureParams& picture,
                              const PictureControl& control, Written written) {
  return pipeline_->submit(frame, picture, &control, std::move(written));
}

int ControlledBackend::release(std::uint32_t stream, bool ends_clip) {
  return pipeline_->release(stream, ends_clip);
}

void ControlledBackend::submit(const Frame& frame, const core::PictureParams& picture, Written written) {
  pipeline_->submit(frame, picture, nullptr, std::move(written));
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
