// A lane encodes pictures of streams that share batches: a pipeline and the thread that uses it. Whenever the
// backend is free, the thread takes what waits, one picture of each stream in turn, so a stream that sends
// too much delays no other. A stream stays in its lane, so its pictures are encoded in order. Several lanes
// share a device; while one hands out its packets or waits, the others keep the device busy.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "cu264/stream_group.h"
#include "encoder/frame_holder.h"
#include "encoder/notifier.h"
#include "encoder/open_pipeline.h"
#include "encoder/session.h"

namespace cu264::encoder {

class Lane;

// A stream of a group. The group's mutex guards it.
struct GroupStream {
  // Streams of a group share the memory of their packets.
  GroupStream(const Config& config, std::shared_ptr<PacketMemory> packet_memory)
      : session(config, std::move(packet_memory)) {}

  // Pictures whose packets were not received.
  std::size_t unreceived() const { return copying + waiting.size() + in_lane + results.size(); }
  // No picture will come after those in the lane.
  bool ends() const { return waiting.empty() && copying == 0 && (session.flushed() || closed); }

  StreamGroup::Stream id = 0;
  Session session;
  EncoderInfo info;
  Lane* lane = nullptr;
  std::uint32_t slot = 0;   // PictureParams::stream
  std::size_t copying = 0;  // frames that are being copied for `waiting`
  std::deque<Job> waiting;
  std::size_t in_lane = 0;  // pictures in its pipeline
  std::deque<std::variant<Packet, Error>> results;
  std::optional<StreamParams> next_clip;  // what the backend must be told before the next picture
  bool listed = false;                    // in GroupState::ready
  bool closed = false;
  std::condition_variable changed;  // room, or a result
};

// The state that all threads of a group share.
struct GroupState {
  std::mutex mutex;                                // guards all streams, and the queues of all lanes
  Notifier notifier;                               // of results
  std::deque<std::shared_ptr<GroupStream>> ready;  // streams with results, for receive_any

  void deliver(const std::shared_ptr<GroupStream>& stream, std::variant<Packet, Error> result);
  // Delivers the error of a clip that has ended and was too short for its watermark.
  void check_end(const std::shared_ptr<GroupStream>& stream);
};

class Lane {
 public:
  Lane(GroupState& group, OpenedLane opened, BatchKind kind, std::chrono::microseconds longest_wait);
  // Waits for the pictures that are in the pipeline.
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  const BatchKind& kind() const { return kind_; }
  int device() const { return opened_.device; }
  int batch() const { return opened_.batch; }
  FrameHolder& holder() const { return *opened_.holder; }
  bool reads_device_memory() const { return opened_.device >= 0; }

  // The group's mutex must be held for these.
  bool has_room() const { return streams() < slots_.size(); }
  std::size_t streams() const;
  void add(const std::shared_ptr<GroupStream>& stream);
  void remove(const GroupStream& stream);
  // A picture was added to those that wait in a stream of the lane.
  void picture_waits() {
    ++waiting_;
    wake();
  }
  // Drops the pictures that wait in a stream.
  void drop_waiting(GroupStream& stream) {
    waiting_ -= stream.waiting.size();
    stream.waiting.clear();
  }
  // Wakes the thread if it has something to do now: with many streams, most pictures come while it waits for
  // more of them.
  void wake();
  // Set if the backend broke down.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  void run();
  // Returns whether it is not worth waiting for more pictures.
  bool may_begin() const;
  // Returns whether every stream of the previous batch already waits with its next picture, so that no more
  // will come soon.
  bool batch_is_complete() const;
  void wait_for_batch(Lock& lock);
  std::vector<Job> take(std::size_t room);
  void submit(std::vector<Job> jobs);
  // Returns whether pictures of a stream wait for others that will not come.
  bool has_ended(std::size_t slot) const;
  bool any_has_ended() const;
  void release_ended(Lock& lock);
  template <class Work>
  void without_lock(Lock& lock, const Work& work);
  void restart_for(const Job& job);
  void collect_oldest(Lock& lock);
  void fail(Lock& lock, const Error& error);

  GroupState& group_;
  OpenedLane opened_;
  const BatchKind kind_;
  const std::chrono::microseconds longest_wait_;
  std::vector<std::shared_ptr<GroupStream>> slots_;
  std::vector<std::shared_ptr<GroupStream>> before_;  // streams of the batch before
  std::size_t waiting_ = 0;                           // pictures in all streams
  std::size_t turn_ = 0;                              // the slot that is served first
  std::size_t in_pipeline_ = 0;                       // pictures
  std::optional<Error> failure_;
  bool stop_ = false;
  enum class Wait { nothing, work, batch } wait_ = Wait::nothing;  // what the thread waits for
  std::condition_variable work_;
  std::thread thread_;
};

}  // namespace cu264::encoder
