#include "encoder/lane.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "encoder/frame_layout.h"
#include "encoder/rate_control/controlled_backend.h"

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

Lane::Lane(GroupState& group, LaneBackend opened, std::string key, std::chrono::microseconds longest_wait)
    : group_(group),
      opened_(std::move(opened)),
      key_(std::move(key)),
      longest_wait_(longest_wait),
      slots_(opened_.streams),
      ahead_(opened_.streams),
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
  wake();  // nobody needs to wait for its company any more
}

void Lane::wake() {
  if (wait_ == Wait::work || (wait_ == Wait::company && may_begin())) work_.notify_one();
}

bool Lane::company_is_complete() const {
  return std::all_of(before_.begin(), before_.end(), [](const auto& stream) {
    return !stream->waiting.empty() || stream->closed || stream->session.flushed();
  });
}

bool Lane::may_begin() const {
  return stop_ || waiting_ >= static_cast<std::size_t>(opened_.batch) || company_is_complete();
}

void Lane::wait_for_company(Lock& lock) {
  wait_ = Wait::company;
  work_.wait_for(lock, longest_wait_, [this] { return may_begin(); });
  wait_ = Wait::nothing;
}

std::vector<Lane::Taken> Lane::take(std::size_t room) {
  std::vector<Taken> taken;
  std::optional<PixelFormat> format;
  const std::size_t first = turn_;
  for (bool more = true; more && taken.size() < room;) {
    more = false;
    for (std::size_t i = 0; i < slots_.size() && taken.size() < room; ++i) {
      const std::size_t slot = (first + i) % slots_.size();
      const std::shared_ptr<GroupStream>& stream = slots_[slot];
      if (!stream || stream->waiting.empty()) continue;
      GroupStream::Waiting& next = stream->waiting.front();
      if (!format) format = batch_format(next.frame.frame.format);
      if (batch_format(next.frame.frame.format) != *format) continue;
      taken.push_back({stream, std::move(next.frame), next.params, next.control, std::nullopt});
      stream->waiting.pop_front();
      --waiting_;
      ++stream->in_lane;
      turn_ = slot + 1;
      more = true;
    }
  }
  before_.clear();
  for (const Taken& picture : taken) {
    if (before_.empty() || before_.back() != picture.stream) before_.push_back(picture.stream);
  }
  return taken;
}

// A stream that is encrypted or marked has the lane to itself, and its keys change from clip to clip.
void Lane::restart_for(Taken& picture) {
  if (picture.params.index != 0) return;
  std::optional<StageParams> params;
  {
    const std::lock_guard lock(group_.mutex);
    params = std::exchange(picture.stream->next_clip, std::nullopt);
  }
  if (!params) return;
  params->streams = static_cast<int>(opened_.streams);
  params->sleeps = true;
  if (!opened_.backend->restart(*params, opened_.batch)) {
    throw Error(ErrorCode::encode_failure, "a backend does not take the next clip");
  }
}

void Lane::submit(std::vector<Taken> taken) {
  std::vector<Taken*> pictures;  // where fail() finds them, too
  pictures.reserve(taken.size());
  for (Taken& picture : taken)
    pictures.push_back(&ahead_[picture.params.stream].emplace_back(std::move(picture)));
  ahead_pictures_ += taken.size();
  for (Taken* const picture : pictures) {
    const std::size_t slot = picture->params.stream;
    restart_for(*picture);
    int released = 0;
    try {
      const HeldFrame& held = picture->frame;
      if (opened_.controlled != nullptr) {
        released = opened_.controlled->submit(held.frame, picture->params, picture->control, held.written);
      } else {
        opened_.backend->submit(held.frame, picture->params, held.written);
        released = 1;
      }
    } catch (...) {
      picture->error = as_error(std::current_exception());
    }
    move_released(slot, released);
  }
  opened_.backend->flush();
}

void Lane::move_released(std::size_t slot, int released) {
  std::deque<Taken>& ahead = ahead_[slot];
  // The backend does not know those with errors.
  for (; !ahead.empty() && (released > 0 || ahead.front().error); --ahead_pictures_) {
    if (!ahead.front().error) --released;
    in_flight_.push_back(std::move(ahead.front()));
    ahead.pop_front();
  }
}

bool Lane::has_ended(std::size_t slot) const {
  return !ahead_[slot].empty() && (stop_ || slots_[slot]->ends());
}

bool Lane::any_has_ended() const {
  for (std::size_t slot = 0; ahead_pictures_ > 0 && slot < slots_.size(); ++slot) {
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
    for (const std::size_t slot : ended)
      move_released(slot, opened_.controlled->release(static_cast<std::uint32_t>(slot), true));
    opened_.backend->flush();
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
  Taken picture = std::move(in_flight_.front());
  in_flight_.pop_front();
  lock.unlock();
  CodedAccessUnit unit;
  std::optional<Error> error = std::move(picture.error);
  if (!error) {
    try {
      unit = opened_.backend->collect();
    } catch (...) {
      error = as_error(std::current_exception());
    }
  }
  picture.frame = {};  // the frame is no longer read
  lock.lock();
  GroupStream& stream = *picture.stream;
  const std::size_t pending = stream.session.pending();
  if (!error) {
    try {
      auto packet = stream.session.packet_of(std::move(unit));
      if (packet) group_.deliver(picture.stream, std::move(*packet));
      stream.info.dropped = stream.session.dropped();
    } catch (...) {
      error = as_error(std::current_exception());
    }
  }
  if (error) {
    if (stream.session.pending() == pending) stream.session.drop_oldest();
    group_.deliver(picture.stream, *error);
  }
  group_.check_end(picture.stream);
  --stream.in_lane;
  stream.changed.notify_all();
  group_.notifier.signal();
  // The device is lost; it will not give back the other pictures either.
  if (error && error->code() == ErrorCode::device_failure) fail(lock, *error);
}

void Lane::fail(Lock&, const Error& error) {
  failure_ = error;
  const auto lose = [&](const std::shared_ptr<GroupStream>& stream) {
    stream->session.drop_oldest();
    group_.deliver(stream, error);
    stream->changed.notify_all();
  };
  const auto lose_taken = [&](std::deque<Taken>& pictures) {
    for (const Taken& picture : pictures) {
      --picture.stream->in_lane;
      lose(picture.stream);
    }
    pictures.clear();
  };
  lose_taken(in_flight_);
  for (std::deque<Taken>& ahead : ahead_) lose_taken(ahead);
  ahead_pictures_ = 0;
  for (const auto& stream : slots_) {
    if (!stream) continue;
    for (std::size_t i = 0; i < stream->waiting.size(); ++i) lose(stream);
    drop_waiting(*stream);
    stream->changed.notify_all();
  }
  group_.notifier.signal();
}

void Lane::run() {
  Lock lock(group_.mutex);
  while (!stop_ || !in_flight_.empty() || ahead_pictures_ > 0) {
    if (in_flight_.empty()) {
      wait_ = Wait::work;
      work_.wait(lock, [this] { return stop_ || waiting_ > 0 || any_has_ended(); });
      wait_ = Wait::nothing;
      if (!stop_ && opened_.batches && waiting_ > 0) wait_for_company(lock);
    }
    const auto room = static_cast<std::size_t>(opened_.batch) - in_flight_.size();
    // Batches begin together; a backend without batches takes a picture whenever one is done.
    const bool takes = opened_.batches ? in_flight_.empty() : room > 0;
    if (!stop_ && !failure_ && takes) {
      std::vector<Taken> taken = take(room);
      if (!taken.empty()) without_lock(lock, [&] { submit(std::move(taken)); });
    }
    release_ended(lock);
    if (!in_flight_.empty()) collect_oldest(lock);
  }
}

}  // namespace cu264::encoder
