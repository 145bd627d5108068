#include "encoder/lane.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "encoder/frame_layout.h"

namespace cu264::encoder {
namespace {

Error as_error(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::out_of_memory, "not enough memory for a picture", "use fewer streams");
  } catch (const std::exception& error) {
    return Error(ErrorCode::encode_failure, error.what());
  }
}

// Pictures of one batch have one format on the device.
PixelFormat batch_format(PixelFormat format) {
  return is_rgb(format) ? PixelFormat::i420 : format;
}

}  // namespace

void GroupState::check_end(const std::shared_ptr<GroupStream>& stream) {
  try {
    stream->session.check_marks();
  } catch (const Error& error) {
    deliver(stream, error);
  }
}

void GroupState::deliver(const std::shared_ptr<GroupStream>& stream, std::variant<Packet, Error> result) {
  if (stream->closed) return;
  stream->results.push_back(std::move(result));
  if (!stream->listed) {
    stream->listed = true;
    ready.push_back(stream);
  }
}

Lane::Lane(GroupState& group, OpenedLane opened, BatchKind kind, std::chrono::microseconds longest_wait)
    : group_(group),
      opened_(std::move(opened)),
      kind_(std::move(kind)),
      longest_wait_(longest_wait),
      slots_(opened_.streams),
      thread_([this] { run(); }) {}

Lane::~Lane() {
  {
    const std::lock_guard lock(group_.mutex);
    stop_ = true;
    work_.notify_one();
  }
  thread_.join();
}

std::size_t Lane::streams() const {
  return static_cast<std::size_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const auto& stream) { return stream != nullptr; }));
}

void Lane::add(const std::shared_ptr<GroupStream>& stream) {
  const auto slot = std::find(slots_.begin(), slots_.end(), nullptr);
  *slot = stream;
  stream->slot = static_cast<std::uint32_t>(slot - slots_.begin());
  stream->lane = this;
}

void Lane::remove(const GroupStream& stream) {
  slots_[stream.slot] = nullptr;
  wake();  // nobody needs to wait for it any longer
}

void Lane::wake() {
  if (wait_ == Wait::work || (wait_ == Wait::batch && may_begin())) work_.notify_one();
}

bool Lane::batch_is_complete() const {
  return std::all_of(before_.begin(), before_.end(), [](const auto& stream) {
    return !stream->waiting.empty() || stream->closed || stream->session.flushed();
  });
}

bool Lane::may_begin() const {
  return stop_ || waiting_ >= static_cast<std::size_t>(opened_.batch) || batch_is_complete();
}

void Lane::wait_for_batch(Lock& lock) {
  wait_ = Wait::batch;
  work_.wait_for(lock, longest_wait_, [this] { return may_begin(); });
  wait_ = Wait::nothing;
}

std::vector<Job> Lane::take(std::size_t room) {
  std::vector<Job> taken;
  before_.clear();
  std::optional<PixelFormat> format;
  const std::size_t first = turn_;
  for (bool more = true; more && taken.size() < room;) {
    more = false;
    for (std::size_t i = 0; i < slots_.size() && taken.size() < room; ++i) {
      const std::size_t slot = (first + i) % slots_.size();
      const std::shared_ptr<GroupStream>& stream = slots_[slot];
      if (!stream || stream->waiting.empty()) continue;
      Job& next = stream->waiting.front();
      if (!format) format = batch_format(next.frame.frame.format);
      if (batch_format(next.frame.frame.format) != *format) continue;
      taken.push_back(std::move(next));
      stream->waiting.pop_front();
      if (before_.empty() || before_.back() != stream) before_.push_back(stream);
      --waiting_;
      ++stream->in_lane, ++in_pipeline_;
      turn_ = slot + 1;
      more = true;
    }
  }
  return taken;
}

// A stream that is encrypted or marked has the lane to itself, and its keys change from clip to clip.
void Lane::restart_for(const Job& job) {
  if (job.picture.index != 0) return;
  std::optional<StreamParams> params;
  {
    const std::lock_guard lock(group_.mutex);
    params = std::exchange(slots_[job.picture.stream]->next_clip, std::nullopt);
  }
  if (!params) return;
  params->execution.streams = static_cast<int>(opened_.streams);
  params->execution.sleeps = true;
  if (!opened_.pipeline->restart(*params, opened_.batch)) {
    throw Error(ErrorCode::encode_failure, "a backend does not take the next clip");
  }
}

void Lane::submit(std::vector<Job> jobs) {
  for (Job& job : jobs) {
    restart_for(job);
    opened_.pipeline->submit(std::move(job));
  }
  opened_.pipeline->flush();
}

bool Lane::has_ended(std::size_t slot) const {
  const auto stream = static_cast<std::uint32_t>(slot);
  return opened_.pipeline->ahead(stream) > 0 && (stop_ || slots_[slot]->ends());
}

bool Lane::any_has_ended() const {
  if (failure_ || in_pipeline_ == opened_.pipeline->released()) return false;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    if (has_ended(slot)) return true;
  }
  return false;
}

void Lane::release_ended(Lock& lock) {
  if (!any_has_ended()) return;
  std::vector<std::size_t> ended;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    if (has_ended(slot)) ended.push_back(slot);
  }
  without_lock(lock, [&] {
    for (const std::size_t slot : ended) opened_.pipeline->release(static_cast<std::uint32_t>(slot), true);
    opened_.pipeline->flush();
  });
}

// Does what takes time. If it throws, the lane has failed.
template <class Work>
void Lane::without_lock(Lock& lock, const Work& work) {
  lock.unlock();
  std::optional<Error> error;
  try {
    work();
  } catch (...) {
    error = as_error(std::current_exception());
  }
  lock.lock();
  if (error) fail(lock, *error);
}

void Lane::collect_oldest(Lock& lock) {
  CodedAccessUnit unit;
  without_lock(lock, [&] { unit = opened_.pipeline->collect(); });
  if (failure_) return;
  const std::shared_ptr<GroupStream> owner = slots_[unit.picture.stream];
  GroupStream& stream = *owner;
  --stream.in_lane, --in_pipeline_;
  std::optional<Error> error;
  try {
    auto packet = stream.session.packet_of(std::move(unit));
    if (packet) group_.deliver(owner, std::move(*packet));
    stream.info.dropped = stream.session.dropped();
  } catch (...) {
    error = as_error(std::current_exception());
    group_.deliver(owner, *error);
  }
  group_.check_end(owner);
  stream.changed.notify_all();
  group_.notifier.signal();
  // The device is lost and will not return the other pictures either.
  if (error && error->code() == ErrorCode::device_failure) fail(lock, *error);
}

void Lane::fail(Lock&, const Error& error) {
  failure_ = error;
  for (const auto& stream : slots_) {
    if (!stream) continue;
    const std::size_t lost = std::exchange(stream->in_lane, 0) + stream->waiting.size();
    drop_waiting(*stream);
    stream->session.lose(lost);
    for (std::size_t i = 0; i < lost; ++i) group_.deliver(stream, error);
    stream->changed.notify_all();
  }
  in_pipeline_ = 0;
  group_.notifier.signal();
}

void Lane::run() {
  const Pipeline& pipeline = *opened_.pipeline;
  Lock lock(group_.mutex);
  while (!stop_ || in_pipeline_ > 0) {
    if (failure_ || pipeline.released() == 0) {
      wait_ = Wait::work;
      work_.wait(lock, [this] { return stop_ || waiting_ > 0 || any_has_ended(); });
      wait_ = Wait::nothing;
      if (!stop_ && opened_.batches && waiting_ > 0) wait_for_batch(lock);
    }
    // Batches begin together; a backend without batches takes a picture whenever one is done.
    const auto batch = static_cast<std::size_t>(opened_.batch);
    const std::size_t room = batch - std::min(pipeline.released(), batch);
    const bool takes = opened_.batches ? pipeline.released() == 0 : room > 0;
    if (!stop_ && !failure_ && takes) {
      std::vector<Job> taken = take(room);
      if (!taken.empty()) without_lock(lock, [&] { submit(std::move(taken)); });
    }
    if (!failure_) release_ended(lock);
    if (!failure_ && pipeline.released() > 0) collect_oldest(lock);
  }
}

}  // namespace cu264::encoder
