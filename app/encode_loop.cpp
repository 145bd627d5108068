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
  io::Picture picture;
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
  Loop(Encoder& encoder, EncodeOutputs& outputs) : encoder_(encoder), outputs_(outputs) {}

  void run(BoundedQueue<Unit>& queue) {
    while (!interrupted() && !queue.finished()) {
      // The reader is behind, so there is time for packets.
      if (queue.empty()) take_packets();
      if (auto unit = queue.pop(kInterruptLatency)) take(std::move(*unit));
    }
    encoder_.flush();
    take_packets();
  }

  std::int64_t pictures() const { return pictures_; }

 private:
  void take(Unit unit) {
    for (auto& packet : unit.side) outputs_.copy(std::move(packet));
    if (!unit.has_picture) return;
    const Frame frame = unit.picture.view();
    while (!encoder_.send(frame)) write(encoder_.receive().value());
    if (!outputs_.wants_source()) unit.picture.frame.reset();
    in_flight_.push_back(std::move(unit.picture));
  }

  void take_packets() {
    while (auto packet = encoder_.receive()) write(std::move(*packet));
  }

  void write(Packet packet) {
    outputs_.picture(std::move(packet), in_flight_.front());
    in_flight_.pop_front();
    ++pictures_;
  }

  Encoder& encoder_;
  EncodeOutputs& outputs_;
  std::deque<io::Picture> in_flight_;  // pictures that were sent and not yet received
  std::int64_t pictures_ = 0;
};

}  // namespace

std::int64_t encode_all(io::Reader& reader, Encoder& encoder, EncodeOutputs& outputs,
                        std::atomic<bool>& stop_reading) {
  ReadingThread reading(reader, stop_reading);
  Loop loop(encoder, outputs);
  loop.run(reading.queue());
  return loop.pictures();
}

}  // namespace cu264::app
