#include "encoder/pipeline.h"

#include <algorithm>
#include <utility>

#include "encoder/pictures_held.h"

namespace cu264::encoder {
namespace {

// Returns whether pictures of both are measured in the same way.
bool same_analysis(const StreamParams& a, const StreamParams& b) {
  return a.format == b.format && a.decisions.aq == b.decisions.aq &&
         a.decisions.scene_cuts == b.decisions.scene_cuts && a.input == b.input &&
         a.execution == b.execution && a.pacing.controls_rate == b.pacing.controls_rate;
}

}  // namespace

Pipeline::Pipeline(std::unique_ptr<Backend> backend, MakeAnalyser make_analyser, const StreamParams& params,
                   std::vector<int> devices, int batch)
    : make_analyser_(make_analyser), devices_(std::move(devices)), backend_(std::move(backend)) {
  adopt(params, batch);
}

void Pipeline::adopt(const StreamParams& params, int batch) {
  const bool keeps_analyser = analyser_ && same_analysis(params, params_);
  if (!keeps_analyser) analyser_ = analyses_pictures(params) ? make_analyser_(params, devices_) : nullptr;
  params_ = params;
  backend_limit_ = static_cast<std::size_t>(pictures_in_backend(backend_->capacity(), batch, params));
  capacity_ = pictures_in_pipeline(backend_->capacity(), batch, params);
  streams_.clear(), gops_.clear();
  flushed_ = draining_ = false;
}

bool Pipeline::restart(const StreamParams& params, int batch) {
  if (params.pacing.controls_rate != params_.pacing.controls_rate || !backend_->restart(params, batch))
    return false;
  adopt(params, batch);
  return true;
}

std::exception_ptr Pipeline::submit(Job job) {
  flushed_ = false;
  auto picture = std::make_unique<PacedPicture>(std::move(job));
  const PacedPicture& submitted = *picture;  // collect() alone ends it
  try {
    check_picture(picture->job.picture, params_);
    if (params_.format.inter) picture->gop = &gop_of(picture->job.picture);
    const HeldFrame& held = picture->job.frame;
    if (analyser_) picture->analysed = analyser_->analyse(held.frame, held.written, picture->job.picture);
  } catch (...) {
    picture->error = std::current_exception();
  }
  if (params_.pacing.controls_rate) {
    look_ahead(std::move(picture));
  } else {
    pictures_.push_back(std::move(picture));
  }
  advance();
  return submitted.error;
}

PacedStream& Pipeline::stream_of(const core::PictureParams& params) {
  streams_.resize(std::max(streams_.size(), static_cast<std::size_t>(params.stream) + 1));
  std::unique_ptr<PacedStream>& stream = streams_[params.stream];
  if (params.index == 0 || !stream)
    stream = std::make_unique<PacedStream>(params_.format.mb_width, params_.format.mb_height);
  return *stream;
}

GopStructure& Pipeline::gop_of(const core::PictureParams& params) {
  gops_.resize(std::max(gops_.size(), static_cast<std::size_t>(params.stream) + 1));
  std::unique_ptr<GopStructure>& gop = gops_[params.stream];
  if (params.index == 0 || !gop) gop = std::make_unique<GopStructure>();
  return *gop;
}

void Pipeline::look_ahead(std::unique_ptr<PacedPicture> picture) {
  PacedStream& stream = stream_of(picture->job.picture);
  const auto lookahead = static_cast<std::size_t>(picture->job.control.settings.lookahead);
  stream.add(std::move(picture));
  ++ahead_;
  while (stream.ahead.size() > lookahead) release_oldest(stream);
}

void Pipeline::release_oldest(PacedStream& stream) {
  pictures_.push_back(std::move(stream.ahead.front()));
  stream.ahead.pop_front();
  --ahead_;
}

void Pipeline::release(std::uint32_t stream, bool ends_clip) {
  if (ahead(stream) == 0) return;
  PacedStream& paced = *streams_[stream];
  // Those that a drain released earlier are planned without knowledge of the end, whenever that happens.
  if (ends_clip) paced.controller.end();
  while (!paced.ahead.empty()) release_oldest(paced);
  advance();
}

std::size_t Pipeline::ahead(std::uint32_t stream) const {
  return stream < streams_.size() && streams_[stream] ? streams_[stream]->ahead.size() : 0;
}

void Pipeline::flush() {
  if (!analyser_) {
    backend_->flush();  // it has all pictures
    return;
  }
  flushed_ = true;
  analyser_->start();
  advance();
  // What is still being looked at goes into the same batch, which collect() sees to.
  if (stuck() && !can_plan()) drain();
}

State Pipeline::poll() {
  advance();
  const State backend = in_backend_.empty() ? State::idle : backend_->poll();
  // Frames wait to be measured together while there is other work.
  if (analyser_ && backend == State::idle) analyser_->start();
  if (front_is_settled() || (stays_with_backend() && backend == State::ready)) return State::ready;
  return backend == State::idle ? State::idle : State::working;
}

bool Pipeline::will_signal() {
  for (advance(); !pictures_.empty() && !front_is_settled(); advance()) {
    if (!in_backend_.empty()) {
      if (poll() == State::ready) break;
      const State backend = backend_->poll();
      if (backend == State::ready) continue;
      if (backend == State::working) return true;
      const bool more = !flushed_ && pictures_.size() + ahead_ < static_cast<std::size_t>(capacity_);
      if (more || draining_) return false;
      if (can_plan()) {
        pictures_[planned_]->announce_lookahead(params_, true);
      } else {
        drain();
      }
    } else if (planned_ < pictures_.size()) {
      pictures_[planned_]->announce_lookahead(params_, true);  // nothing would signal that measures are done
    }
  }
  const bool done = !pictures_.empty() && poll() == State::ready;
  if (done && notifier_) notifier_->signal();  // the caller has looked before
  return done;
}

void Pipeline::notify(std::shared_ptr<Notifier> notifier) {
  notifier_ = notifier;
  backend_->notify(std::move(notifier));
}

CodedAccessUnit Pipeline::collect() {
  for (advance(); !front_is_settled();) {
    wait();
    settle();
    if (!front_is_settled()) advance();
  }
  const std::unique_ptr<PacedPicture> picture = std::move(pictures_.front());
  pictures_.pop_front();
  --settled_, --planned_;
  return picture->result();
}

// Packets on the device are valid until the next call of the backend, so each is taken only when it is asked
// for. In that case pictures are not coded again.
bool Pipeline::stays_with_backend() const {
  return params_.outputs.device_output;
}

// Results are taken only when they are needed: as long as packets are copied and freed one at a time, they
// all use the same memory.
bool Pipeline::takes_results() const {
  return !stays_with_backend() && !in_backend_.empty() && !front_is_settled();
}

// Does everything that can be done without waiting, until the oldest picture is settled.
void Pipeline::advance() {
  for (bool moved = true; moved;) {
    moved = false;
    while (takes_results() && backend_->poll() == State::ready) take_result(), moved = true;
    moved = settle() || moved;
    moved = plan() || moved;
    moved = submit_to_backend() || moved;
  }
}

// Nothing comes without a flush: the backend waits for a full batch.
bool Pipeline::stuck() {
  return !in_backend_.empty() && !draining_ && backend_->poll() == State::idle;
}

void Pipeline::drain() {
  backend_->flush();
  draining_ = true;
}

// Waits for something that brings the oldest picture forward. Call advance() first.
void Pipeline::wait() {
  if (analyser_) analyser_->start();
  if (can_plan() && (in_backend_.empty() || stuck())) {
    pictures_[planned_]->announce_lookahead(params_, true);
    return;
  }
  if (stuck()) drain();
  take_result();
}

// Returns whether the next picture waits for nothing but what the analyser knows of it.
bool Pipeline::can_plan() const {
  return planned_ < pictures_.size() && pictures_[planned_]->can_plan();
}

bool Pipeline::plan() {
  const std::size_t before = planned_;
  for (; planned_ < pictures_.size(); ++planned_) {
    PacedPicture& picture = *pictures_[planned_];
    if (!picture.can_plan() || !picture.announce_lookahead(params_, false)) break;
    picture.plan(params_);
    if (picture.number) waits_for_first_ = waits_for_first_ || picture.stream->controller.waits_for_first();
    to_code_.push_back(&picture);
  }
  return planned_ != before;
}

bool Pipeline::submit_to_backend() {
  if (draining_ && !in_backend_.empty()) return false;
  draining_ = false;
  bool moved = false;
  for (; !to_code_.empty() && in_backend_.size() < backend_limit_; moved = true) {
    PacedPicture& picture = *to_code_.front();
    to_code_.pop_front();
    try {
      backend_->submit(picture.next_coding());
      picture.was_submitted = true;
      in_backend_.push_back(&picture);
    } catch (...) {
      picture.fail(std::current_exception());
    }
  }
  // The other pictures wait for the first one, so that its batch will not be full.
  if (waits_for_first_ && to_code_.empty() && !in_backend_.empty()) {
    waits_for_first_ = false;
    drain();
  }
  return moved;
}

void Pipeline::take_result() {
  PacedPicture& picture = *in_backend_.front();
  in_backend_.pop_front();
  try {
    if (!picture.take(backend_->collect())) to_code_.push_front(&picture);
  } catch (...) {
    picture.fail(std::current_exception());
  }
}

bool Pipeline::settle() {
  const std::size_t before = settled_;
  while (settled_ < planned_ && pictures_[settled_]->coded) {
    PacedPicture& picture = *pictures_[settled_];
    if (!picture.settle()) {
      to_code_.push_front(&picture);
      break;
    }
    picture.let_go_of_frame();
    ++settled_;
  }
  return settled_ != before;
}

}  // namespace cu264::encoder
