#include "group_session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "released_gil.h"

namespace cu264::python {
namespace {

using Clock = std::chrono::steady_clock;

// Calls `attempt` with a timeout until it succeeds, gives up early because waiting would not help, or the
// time has passed. Between, Python's signal handlers run, so that a wait can be interrupted.
template <typename Attempt>
auto wait_in_slices(const GroupSession::Seconds& timeout, Attempt attempt) {
  using std::chrono::nanoseconds;
  constexpr nanoseconds kSlice = std::chrono::milliseconds(100);
  constexpr double kMaxSeconds = 1e9;  // seconds
  const Clock::time_point begin = Clock::now();
  const auto limit = std::chrono::duration_cast<nanoseconds>(
      std::chrono::duration<double>(std::clamp(timeout.value_or(kMaxSeconds), 0.0, kMaxSeconds)));
  for (;;) {
    const Clock::time_point now = Clock::now();
    const nanoseconds slice = std::clamp<nanoseconds>(limit - (now - begin), nanoseconds(0), kSlice);
    auto result = [&] {
      const ReleasedGil released;
      return attempt(slice);
    }();
    if (result || Clock::now() - now < slice || slice < kSlice) return result;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

StreamGroupConfig config_of(const Options& options, const GroupSession::Limits& limits) {
  Config parsed;
  for (const auto& [name, value] : options) parsed.set(name, value);
  StreamGroupConfig config;
  config.backend = parsed.backend, config.devices = parsed.devices;
  config.threads = parsed.threads, config.batch = parsed.batch;
  config.batches_in_flight = limits.batches_in_flight, config.queue = limits.queue;
  config.longest_wait = std::chrono::microseconds(limits.longest_wait_us);
  return config;
}

}  // namespace

GroupSession::GroupSession(const Options& options, const Limits& limits)
    : group_([&] {
        const StreamGroupConfig config = config_of(options, limits);
        const ReleasedGil released;
        return std::make_unique<StreamGroup>(config);
      }()) {}

GroupSession::Stream GroupSession::open(const StreamFormat& format) {
  const ReleasedGil released;
  return group_->open(config_of(format));
}

bool GroupSession::submit(Stream stream, nb::object object, std::int64_t pts, std::int64_t duration, bool key,
                          std::optional<int> qp, const Seconds& timeout) {
  const FrameArray& frames = nb::cast<const FrameArray&>(object);
  Frame frame = frames.frame(0);
  frame.pts = pts, frame.duration = duration, frame.key = key, frame.qp = qp;
  const bool hold = frames.on_device();
  if (hold) held_[stream].frames.push_back(object);  // before the packet can come
  bool taken = false;
  const auto let_go = [&] {
    const auto at = held_.find(stream);  // another thread may have closed it
    if (hold && !taken && at != held_.end() && !at->second.frames.empty()) at->second.frames.pop_back();
  };
  try {
    taken = wait_in_slices(
        timeout, [&](std::chrono::nanoseconds slice) { return group_->submit(stream, frame, slice); });
  } catch (...) {
    let_go();
    throw;
  }
  let_go();
  return taken;
}

std::optional<Packet> GroupSession::receive(Stream stream, const Seconds& timeout) {
  std::optional<Packet> packet;
  try {
    packet = wait_in_slices(timeout,
                            [&](std::chrono::nanoseconds slice) { return group_->receive(stream, slice); });
  } catch (const Error&) {
    release_frames(stream);  // the error stands for a picture
    throw;
  }
  if (packet) release_frames(stream);
  return packet;
}

std::optional<GroupSession::Result> GroupSession::receive_any(const Seconds& timeout) {
  std::optional<StreamGroup::Result> result =
      wait_in_slices(timeout, [&](std::chrono::nanoseconds slice) { return group_->receive_any(slice); });
  if (!result) return std::nullopt;
  release_frames(result->stream);
  if (result->error) return Result(result->stream, std::nullopt, result->error->what());
  return Result(result->stream, std::move(result->packet), std::nullopt);
}

void GroupSession::flush(Stream stream) {
  const ReleasedGil released;
  group_->flush(stream);
}

void GroupSession::close(Stream stream) {
  {
    const ReleasedGil released;
    group_->close(stream);
  }
  const auto released = held_.extract(stream);
}

void GroupSession::release_frames(Stream stream) {
  const auto at = held_.find(stream);
  if (at == held_.end()) return;
  Held& held = at->second;
  std::uint64_t dropped = 0;  // of the clip: 0 again with the next one
  try {
    dropped = group_->info(stream).dropped;
  } catch (const Error&) {
    return;  // another thread is closing it
  }
  const std::uint64_t done = 1 + dropped - (dropped >= held.dropped ? held.dropped : 0);
  held.dropped = dropped;
  std::vector<nb::object> released;  // their ends may run code that comes back here
  for (std::uint64_t i = 0; i < done && !held.frames.empty(); ++i) {
    released.push_back(std::move(held.frames.front()));
    held.frames.pop_front();
  }
}

}  // namespace cu264::python
