#include "encoder/cuda/mark.h"

#include <algorithm>
#include <utility>

namespace cu264::encoder::cuda {
namespace {

// A number that no other stream of the device ever has. A handle would not do, because CUDA may reuse that of
// a destroyed stream. The default stream is never destroyed.
std::uint64_t id_of(cudaStream_t stream) {
  constexpr std::uint64_t kDefault = ~std::uint64_t{0};
  if (stream == nullptr || stream == cudaStreamLegacy) return kDefault;
  unsigned long long id = 0;
  check_cuda(cudaStreamGetId(stream, &id), "asking for the stream that writes a frame");
  return id;
}

}  // namespace

Written Marker::mark(cudaStream_t stream) const {
  const std::shared_ptr<Mark> mark(new Mark(events_));
  const CallersStream callers(stream);
  if (callers.is_foreign()) {
    mark->record_foreign(callers);
  } else {
    mark->record(stream);
  }
  return mark;
}

Written Marker::open_mark(std::shared_ptr<const Stream> stream) const {
  const std::shared_ptr<Mark> mark(new Mark(events_));
  mark->own_stream_ = std::move(stream);
  return mark;
}

Mark::~Mark() {
  if (!event_) return;
  const std::lock_guard lock(events_->mutex);
  events_->free.push_back(std::move(event_));
}

// The lock is held while the event is recorded, so that places follow the order of events on a stream that
// several threads use.
void Mark::record(cudaStream_t stream) const {
  const std::uint64_t id = id_of(stream);
  const std::lock_guard lock(events_->mutex);
  std::unique_ptr<Event> event;
  if (events_->free.empty()) {
    event = std::make_unique<Event>();
  } else {
    event = std::move(events_->free.back());
    events_->free.pop_back();
  }
  event->record(stream);
  event_ = std::move(event);
  stream_id_ = id;
  place_ = ++events_->recorded;
}

// An event of the caller's context goes with its mark, because the context may be destroyed once the frame is
// done with. Such a mark covers no other: its number of a stream is far above CUDA's.
void Mark::record_foreign(const CallersStream& stream) {
  const std::lock_guard lock(events_->mutex);
  callers_event_.emplace(stream);
  place_ = ++events_->recorded;
  stream_id_ = ~place_;
}

void Mark::close() const {
  if (open()) record(own_stream_->get());
}

void Mark::hold_back(const Stream& reader) const {
  if (own_stream_.get() == &reader) return;  // which is in order
  close();
  const cudaEvent_t event = callers_event_ ? callers_event_->get() : event_->get();
  if (!has_happened(event)) reader.wait_for(event);
}

void Marks::add(const Written& mark) {
  if (!mark) return;
  const auto covered = [&](const Written& other) { return mark->covers(*other); };
  marks_.erase(std::remove_if(marks_.begin(), marks_.end(), covered), marks_.end());
  marks_.push_back(mark);
}

void Marks::hold_back(const Stream& reader) const {
  for (const Written& mark : marks_) mark->hold_back(reader);
}

}  // namespace cu264::encoder::cuda
