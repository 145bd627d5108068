// Marks in the work of CUDA streams. A reader of what that work writes makes its own stream wait for the
// mark. Waiting does not change a mark, so a frame may be read again later.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/cuda/callers_stream.h"
#include "common/cuda/handles.h"
#include "encoder/held_frame.h"

namespace cu264::encoder::cuda {

// Makes the marks of one device. Marks may outlive it.
class Marker {
 public:
  // Returns a mark after the work that `stream` has been given so far. A DeviceGuard holds, of the marker's
  // device; `stream` may be of any context. It may also be null or one of CUDA's handles for default streams:
  // see CallersStream; the per-thread handle stands for the calling thread's stream. Any number of threads
  // may call this at once.
  Written mark(cudaStream_t stream) const;

  // Returns an open mark, which is placed when it is first waited for or closed. Until then it also covers
  // work that the stream is given later, so one event serves many frames. Only one thread may use the mark
  // and the stream.
  Written open_mark(std::shared_ptr<const Stream> stream) const;

 private:
  friend class Mark;

  // Events that are used again.
  struct Events {
    std::mutex mutex;
    std::vector<std::unique_ptr<Event>> free;
    std::uint64_t recorded = 0;  // events so far, which orders the marks of a stream
  };

  const std::shared_ptr<Events> events_ = std::make_shared<Events>();
};

class Mark {
 public:
  ~Mark();
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  // Makes work that is put into `reader` from now on wait for the marked work. If that is done already
  // nothing waits; asking costs less than waiting.
  void hold_back(const Stream& reader) const;
  // From now on the mark does not cover what its stream is given later.
  void close() const;
  bool open() const { return place_ == 0; }
  // Returns whether waiting for this mark makes it unnecessary to wait for the other one: both are of the
  // same stream, and this one is not earlier.
  bool covers(const Mark& other) const {
    return this == &other || (events_ == other.events_ && stream_id_ == other.stream_id_ && !other.open() &&
                              place_ >= other.place_);
  }

 private:
  friend class Marker;
  explicit Mark(std::shared_ptr<Marker::Events> events) : events_(std::move(events)) {}
  void record(cudaStream_t stream) const;
  void record_foreign(const CallersStream& stream);

  const std::shared_ptr<Marker::Events> events_;
  std::shared_ptr<const Stream> own_stream_;  // of a mark that was made open
  mutable std::unique_ptr<Event> event_;      // or:
  std::optional<CallersEvent> callers_event_;
  mutable std::uint64_t stream_id_ = 0;  // which no other stream of the device ever has
  mutable std::uint64_t place_ = 0;      // among the marker's; 0: it is open
};

// The marks of frames that are read together.
class Marks {
 public:
  // Keeps the mark, unless it is null, and drops those that it covers.
  void add(const Written& mark);
  // Makes work that is put into `reader` from now on wait for all of them.
  void hold_back(const Stream& reader) const;

 private:
  std::vector<Written> marks_;
};

}  // namespace cu264::encoder::cuda
