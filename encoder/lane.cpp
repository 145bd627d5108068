#include "encoder/lane.h"

#include <algorithm>
#include <exception>
#include <iterator>
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
  const std::size_t first = in_flight_.size();
  std::move(taken.begin(), taken.end(), std::back_inserter(in_flight_));
  for (std::size_t i = first; i < in_flight_.size(); ++i) {
    Taken& picture = in_flight_[i];
    restart_for(picture);
    try {
      const HeldFrame& held = picture.frame;
      if (opened_.controlled != nullptr) {
        opened_.controlled->submit(held.frame, picture.params, picture.control, held.written);
      } else {
        opened_.backend->submit(held.frame, picture.params, held.written);
      }
    } catch (...) {
      picture.error = as_error(std::current_exception());
    }
  }
  opened_.backend->flush();
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
  for (const Taken& picture : in_flight_) {
    --picture.stream->in_lane;
    lose(picture.stream);
  }
  in_flight_.clear();
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
  while (!stop_ || !in_flight_.empty()) {
    if (in_flight_.empty()) {
      wait_ = Wait::work;
      work_.wait(lock, [this] { return stop_ || waiting_ > 0; });
      wait_ = Wait::nothing;
      if (!stop_ && opened_.batches) wait_for_company(lock);
    }
    const auto room = static_cast<std::size_t>(opened_.batch) - in_flight_.size();
    // Batches begin together; a backend without batches takes a picture whenever one is done.
    const bool takes = opened_.batches ? in_flight_.empty() : room > 0;
    if (!stop_ && !failure_ && takes) {
      std::vector<Taken> taken = take(room);
      if (!taken.empty()) {
        lock.unlock();
        std::optional<Error> error;
        try {
          submit(std::move(taken));
        } catch (...) {
          error = as_error(std::current_exception());
        }
        lock.lock();
        if (error) fail(lock, *error);
      }
    }
    if (!in_flight_.empty()) collect_oldest(lock);
  }
}

}  // namespace cu264::encoder
