// The streams of a group, and the lanes that encode them (lane.h).
#include "cu264/stream_group.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "encoder/config.h"
#include "encoder/frame_layout.h"
#include "encoder/lane.h"

namespace cu264 {

using encoder::GroupStream, encoder::Lane, encoder::Notifier, encoder::StreamParams;

namespace {

constexpr int kMaxInFlight = 8, kMaxQueue = 1024;

void validate(const StreamGroupConfig& config) {
  const auto require = [](bool condition, const std::string& cause, const std::string& remedy) {
    if (!condition) throw Error(ErrorCode::invalid_argument, cause, remedy);
  };
  require(config.batches_in_flight >= 1 && config.batches_in_flight <= kMaxInFlight,
          std::to_string(config.batches_in_flight) + " batches in flight are out of range", "use 1 to 8");
  require(config.queue >= 1 && config.queue <= kMaxQueue,
          "a queue of " + std::to_string(config.queue) + " pictures is out of range", "use 1 to 1024");
  require(config.longest_wait.count() >= 0, "the longest wait is negative", "use 0 to wait for nobody");
  Config execution;
  execution.width = execution.height = 16;
  execution.backend = config.backend, execution.threads = config.threads;
  execution.batch = config.batch, execution.devices = config.devices;
  encoder::validate(execution);
}

}  // namespace

struct StreamGroup::Impl {
  explicit Impl(const StreamGroupConfig& c) : config(c) {
    validate(config);
    choice = encoder::choose_lanes(config.backend, config.devices);
  }

  std::shared_ptr<GroupStream> find(Stream stream) const {
    const auto at = streams.find(stream);
    if (at != streams.end()) return at->second;
    throw Error(ErrorCode::invalid_argument, "the group has no stream " + std::to_string(stream),
                "use what open returned, and nothing after close");
  }

  // The place of a stream: the lane of its kind with the fewest streams, but first each device gets as many
  // lanes as it works on side by side.
  struct Placement {
    Lane* lane = nullptr;            // null: there is none yet
    std::optional<int> new_lane_on;  // a device for another one
  };
  Placement place(const encoder::BatchKind& kind, const std::vector<int>& allowed, bool shared) const {
    const bool many = shared && choice.name == "cuda";
    const auto most = static_cast<std::size_t>(many ? config.batches_in_flight : 1);
    std::map<int, std::size_t> lanes_on, streams_on;
    Placement placement;
    for (const auto& lane : lanes) {
      streams_on[lane->device()] += lane->streams();
      const bool suits =
          shared && lane->kind() == kind && std::count(allowed.begin(), allowed.end(), lane->device()) != 0;
      if (!suits || lane->failure()) continue;
      ++lanes_on[lane->device()];
      const bool better = placement.lane == nullptr || lane->streams() < placement.lane->streams();
      if (lane->has_room() && better) placement.lane = lane.get();
    }
    for (const int device : allowed) {
      if (lanes_on[device] >= most && placement.lane != nullptr) continue;
      std::optional<int>& best = placement.new_lane_on;
      if (!best || streams_on[device] < streams_on[*best]) best = device;
    }
    return placement;
  }

  std::vector<int> allowed_devices(const Config& stream) const {
    if (choice.name == "cpu") return {encoder::kNoDevice};
    if (stream.devices.empty()) return choice.devices;
    const int device = stream.devices.front();
    const bool known =
        std::find(choice.devices.begin(), choice.devices.end(), device) != choice.devices.end();
    if (stream.devices.size() > 1 || !known) {
      throw Error(ErrorCode::invalid_argument, "a stream names devices that are not one of its group's",
                  "name one device, or none");
    }
    return {device};
  }

  Lane* open_lane(const StreamParams& params, const Placement& placement, bool shared);
  Stream open(const Config& stream_config);
  void check_open(const GroupStream& stream) const {
    if (stream.closed) {
      throw Error(ErrorCode::invalid_argument, "stream " + std::to_string(stream.id) + " was closed",
                  "open another one");
    }
  }
  void wait_for_room(std::unique_lock<std::mutex>& lock, GroupStream& stream,
                     Notifier::Deadline deadline) const;
  bool has_room(const GroupStream& stream) const {
    const bool draining = stream.session.flushed() && stream.session.pending() + stream.copying > 0;
    const int held = config.queue + stream.session.params().pacing.lookahead;
    return !draining && stream.unreceived() < static_cast<std::size_t>(held);
  }

  const StreamGroupConfig config;
  encoder::LaneChoice choice;
  const std::shared_ptr<encoder::PacketMemory> packet_memory = std::make_shared<encoder::PacketMemory>();
  mutable encoder::GroupState state;
  std::mutex lanes_mutex;  // guards `lanes`; state.mutex may be locked inside
  std::vector<std::unique_ptr<Lane>> lanes;
  std::map<Stream, std::shared_ptr<GroupStream>> streams;  // state.mutex guards the rest
  Stream next = 0;
};

// Null if there is no memory for another lane, but there is one that serves.
Lane* StreamGroup::Impl::open_lane(const StreamParams& params, const Placement& placement, bool shared) {
  try {
    const int side_by_side = shared ? config.batches_in_flight : 1;
    lanes.push_back(std::make_unique<Lane>(
        state, encoder::open_lane(choice, params, *placement.new_lane_on, shared, side_by_side),
        batch_kind(params), config.longest_wait));
    return lanes.back().get();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory || placement.lane == nullptr) throw;
    return nullptr;
  }
}

StreamGroup::Stream StreamGroup::Impl::open(const Config& stream_config) {
  Config own = stream_config;
  own.backend = config.backend, own.threads = config.threads, own.batch = config.batch;
  if (own.device_output) {
    throw Error(ErrorCode::unsupported, "packets of a group cannot stay on the device",
                "clear Config::device_output, or use an Encoder");
  }
  const auto stream = std::make_shared<GroupStream>(own, packet_memory);
  const std::vector<int> allowed = allowed_devices(own);
  const StreamParams& params = stream->session.params();
  const bool shared = !params.protection;
  const std::lock_guard opening(lanes_mutex);
  std::unique_lock lock(state.mutex);
  stream->id = next++;
  const Placement placement = place(batch_kind(params), allowed, shared);
  Lane* lane = placement.lane;
  if (placement.new_lane_on) {
    lock.unlock();  // the other streams go on meanwhile
    if (Lane* const added = open_lane(params, placement, shared)) lane = added;
    lock.lock();
  }
  lane->add(stream);
  stream->info = stream->session.info();
  stream->info.backend = choice.name;
  stream->info.backend_reason = choice.reason;
  stream->info.batch = lane->batch();
  streams[stream->id] = stream;
  return stream->id;
}

StreamGroup::StreamGroup(const StreamGroupConfig& config) : impl_(std::make_unique<Impl>(config)) {}

StreamGroup::~StreamGroup() = default;

StreamGroup::Stream StreamGroup::open(const Config& config) {
  return impl_->open(config);
}

EncoderInfo StreamGroup::info(Stream id) const {
  const std::lock_guard lock(impl_->state.mutex);
  return impl_->find(id)->info;
}

std::vector<std::uint8_t> StreamGroup::headers(Stream id) const {
  const std::lock_guard lock(impl_->state.mutex);
  return impl_->find(id)->session.headers();
}

void StreamGroup::Impl::wait_for_room(std::unique_lock<std::mutex>& lock, GroupStream& stream,
                                      Notifier::Deadline deadline) const {
  const auto done = [&] { return stream.closed || stream.lane->failure() || has_room(stream); };
  if (deadline == Notifier::Deadline::max()) {
    stream.changed.wait(lock, done);
  } else {
    stream.changed.wait_until(lock, deadline, done);
  }
  check_open(stream);
  if (stream.lane->failure()) throw Error(*stream.lane->failure());
}

bool StreamGroup::submit(Stream id, const Frame& frame, std::chrono::nanoseconds timeout) {
  const Notifier::Deadline deadline = Notifier::deadline_in(timeout);
  std::unique_lock lock(impl_->state.mutex);
  const std::shared_ptr<GroupStream> stream = impl_->find(id);
  impl_->wait_for_room(lock, *stream, deadline);
  if (!impl_->has_room(*stream)) return false;
  encoder::Session& session = stream->session;
  if (session.flushed()) {
    session.begin_clip();
    if (session.params().protection) stream->next_clip = session.params();
  }
  session.check(frame, stream->lane->reads_device_memory());
  ++stream->copying;
  encoder::FrameHolder& holder = stream->lane->holder();
  lock.unlock();
  encoder::HeldFrame held;
  try {
    held = holder.hold(frame);
  } catch (...) {
    lock.lock();
    --stream->copying;
    stream->changed.notify_all();
    stream->lane->wake();
    throw;
  }
  lock.lock();
  --stream->copying;
  stream->changed.notify_all();
  impl_->check_open(*stream);
  if (stream->lane->failure()) throw Error(*stream->lane->failure());
  encoder::Job job = session.next_job(frame);
  job.frame = std::move(held);
  job.picture.stream = stream->slot;
  session.sent(frame);
  stream->waiting.push_back(std::move(job));
  stream->lane->picture_waits();
  return true;
}

std::optional<Packet> StreamGroup::receive(Stream id, std::chrono::nanoseconds timeout) {
  const Notifier::Deadline deadline = Notifier::deadline_in(timeout);
  std::unique_lock lock(impl_->state.mutex);
  const std::shared_ptr<GroupStream> stream = impl_->find(id);
  const auto done = [&] { return !stream->results.empty() || stream->unreceived() == 0 || stream->closed; };
  if (deadline == Notifier::Deadline::max()) {
    stream->changed.wait(lock, done);
  } else {
    stream->changed.wait_until(lock, deadline, done);
  }
  if (stream->results.empty()) return std::nullopt;
  std::variant<Packet, Error> result = std::move(stream->results.front());
  stream->results.pop_front();
  stream->changed.notify_all();
  if (const Error* const error = std::get_if<Error>(&result)) throw Error(*error);
  return std::get<Packet>(std::move(result));
}

std::optional<StreamGroup::Result> StreamGroup::receive_any(std::chrono::nanoseconds timeout) {
  encoder::GroupState& state = impl_->state;
  const Notifier::Deadline deadline = Notifier::deadline_in(timeout);
  for (bool in_time = true;;) {
    const std::uint64_t seen = state.notifier.begin_check();
    {
      const std::lock_guard lock(state.mutex);
      while (!state.ready.empty()) {
        const std::shared_ptr<GroupStream> stream = std::move(state.ready.front());
        state.ready.pop_front();
        stream->listed = false;
        if (stream->results.empty()) continue;
        Result result;
        result.stream = stream->id;
        if (Packet* const packet = std::get_if<Packet>(&stream->results.front())) {
          result.packet = std::move(*packet);
        } else {
          result.error = std::get<Error>(stream->results.front());
        }
        stream->results.pop_front();
        stream->changed.notify_all();
        if (!stream->results.empty()) {
          stream->listed = true;
          state.ready.push_back(stream);
        }
        return result;
      }
    }
    if (!in_time) return std::nullopt;
    in_time = state.notifier.wait(seen, deadline);
  }
}

int StreamGroup::ready_descriptor() {
  return impl_->state.notifier.descriptor();
}

void StreamGroup::flush(Stream id) {
  const std::lock_guard lock(impl_->state.mutex);
  const std::shared_ptr<GroupStream> stream = impl_->find(id);
  if (stream->session.flushed()) return;
  stream->session.flush();
  impl_->state.check_end(stream);
  stream->changed.notify_all();
  impl_->state.notifier.signal();
  stream->lane->wake();  // no batch needs to wait for it any more
}

void StreamGroup::close(Stream id) {
  std::unique_ptr<Lane> unused;
  const std::lock_guard closing(impl_->lanes_mutex);
  std::unique_lock lock(impl_->state.mutex);
  const std::shared_ptr<GroupStream> stream = impl_->find(id);
  impl_->streams.erase(id);
  stream->closed = true;
  stream->lane->drop_waiting(*stream);
  stream->results.clear();
  stream->changed.notify_all();
  stream->lane->wake();
  stream->changed.wait(lock, [&] { return stream->in_lane == 0 && stream->copying == 0; });
  Lane* const lane = stream->lane;
  lane->remove(*stream);
  if (lane->streams() > 0) return;
  const auto at = std::find_if(impl_->lanes.begin(), impl_->lanes.end(),
                               [&](const auto& own) { return own.get() == lane; });
  unused = std::move(*at);
  impl_->lanes.erase(at);
  lock.unlock();
  unused.reset();
}

}  // namespace cu264
