#include "app/encode_loop.h"

#include <chrono>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "app/bounded_queue.h"
#include "app/interrupt.h"

namespace cu264::app {
namespace {

constexpr std::size_t kPicturesAhead = 4;
constexpr std::chrono::milliseconds kInterruptLatency{100};

// The result of one call of Reader::read; at the end it has no picture.
struct Unit {
  bool has_picture = false;
  io::VideoPicture picture;
  std::vector<io::AvPacket> side;
};

class ReadingThread {
 public:
  ReadingThread(io::Reader& reader, std::atomic<bool>& stop)
      : stop_(stop), thread_([&reader, this] { run(reader); }) {}

  ~ReadingThread() {
    stop_ = true;
    queue_.abandon();
    thread_.join();
  }
  ReadingThread(const ReadingThread&) = delete;
  ReadingThread& operator=(const ReadingThread&) = delete;

  BoundedQueue<Unit>& queue() { return queue_; }

 private:
  void run(io::Reader& reader) {
    try {
      for (bool more = true; more;) {
        Unit unit;
        more = unit.has_picture = reader.read(unit.picture, unit.side);
        if (!queue_.push(std::move(unit))) break;
      }
      queue_.close();
    } catch (...) {
      queue_.close(std::current_exception());
    }
  }

  std::atomic<bool>& stop_;
  BoundedQueue<Unit> queue_{kPicturesAhead};
  std::thread thread_;  // the last member, because it uses the others
};

class Loop {
 public:
  Loop(Encoder& encoder, EncodeOutputs& outputs, const PictureRequests& requests, SizePlan* plan)
      : encoder_(encoder), outputs_(outputs), requests_(requests), plan_(plan) {}

  void run(BoundedQueue<Unit>& queue) {
    while (!interrupted() && !queue.finished()) {
      // The reader is late, so there is time for packets.
      if (queue.empty()) take_packets();
      if (auto unit = queue.pop(kInterruptLatency)) take(std::move(*unit));
    }
    encoder_.flush();
    take_packets();
    drop_before(sent_);
  }

  std::int64_t pictures() const { return sent_; }

 private:
  void take(Unit unit) {
    for (auto& packet : unit.side) outputs_.copy(std::move(packet));
    if (!unit.has_picture) return;
    if (plan_ != nullptr) follow_plan();
    Frame frame = unit.picture.view();
    if (const auto own = requests_.find(sent_); own != requests_.end())
      frame.qp = own->second.qp, frame.key = own->second.key;
    frame.added_bytes = outputs_.added_bytes(unit.picture);
    while (!encoder_.send(frame)) {
      if (auto packet = encoder_.receive()) write(std::move(*packet));
    }
    ++sent_;
    if (!outputs_.wants_source()) unit.picture.frame.reset();
    in_flight_.push_back(std::move(unit.picture));
  }

  void follow_plan() {
    if (plan_->waits_before(sent_)) {
      encoder_.drain();
      take_packets();
      drop_before(sent_);
      plan_->correct(outputs_.bytes_beside());
    }
    if (const double crf = plan_->crf(sent_); crf != crf_) {
      ConfigChanges changes;
      changes.crf = crf_ = crf;
      encoder_.reconfigure(changes);
    }
  }

  void take_packets() {
    while (auto packet = encoder_.receive()) write(std::move(*packet));
  }

  void write(Packet packet) {
    drop_before(static_cast<std::int64_t>(packet.index));
    const std::uint64_t before = outputs_.totals().bytes();
    outputs_.picture(packet, in_flight_.front());
    in_flight_.pop_front();
    if (plan_ != nullptr) plan_->coded(static_cast<std::int64_t>(outputs_.totals().bytes() - before));
  }

  // Pictures that --on-overflow drop leaves out have no packet.
  void drop_before(std::int64_t index) {
    for (; sent_ - static_cast<std::int64_t>(in_flight_.size()) < index; in_flight_.pop_front()) {
      outputs_.drop();
      if (plan_ != nullptr) plan_->coded(0);
    }
  }

  Encoder& encoder_;
  EncodeOutputs& outputs_;
  std::deque<io::VideoPicture> in_flight_;  // pictures that were sent and not yet received
  const PictureRequests& requests_;
  SizePlan* const plan_;  // null if no size was asked for
  double crf_ = -1;       // that the plan had for the previous picture
  std::int64_t sent_ = 0;
};

}  // namespace

std::int64_t encode_all(io::Reader& reader, Encoder& encoder, EncodeOutputs& outputs,
                        std::atomic<bool>& stop_reading, const PictureRequests& requests, SizePlan* plan) {
  ReadingThread reading(reader, stop_reading);
  Loop loop(encoder, outputs, requests, plan);
  loop.run(reading.queue());
  return loop.pictures();
}

}  // namespace cu264::app
