// A group of streams that takes arrays as frames. Every call may come from any thread, with the GIL, which is
// released while something is waited for.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cu264/stream_group.h"
#include "encoder_session.h"
#include "of_this_process.h"

namespace cu264::python {

class GroupSession {
 public:
  using Stream = StreamGroup::Stream;
  using Seconds = std::optional<double>;  // none: without a limit

  struct Limits {
    int batches_in_flight = 2;
    std::int64_t longest_wait_us = 300;
    int queue = 4;
  };

  // options: backend, device, threads and batch, as Config::set takes them.
  GroupSession(const Options& options, const Limits& limits);

  Stream open(const StreamFormat& format);

  // Takes the first of `frames`, and keeps those in device memory until they have been read. Only one thread
  // at a time may submit to a stream.
  bool submit(Stream stream, nb::object frames, std::int64_t pts, std::int64_t duration, bool key,
              std::optional<int> qp, const Seconds& timeout);
  std::optional<Packet> receive(Stream stream, const Seconds& timeout);
  // Stream, packet, and the message of an error instead of a packet.
  using Result = std::tuple<Stream, std::optional<Packet>, std::optional<std::string>>;
  std::optional<Result> receive_any(const Seconds& timeout);
  int ready_descriptor() { return group_->ready_descriptor(); }
  void flush(Stream stream);
  void close(Stream stream);

  EncoderInfo info(Stream stream) const { return group_->info(stream); }
  std::vector<std::uint8_t> headers(Stream stream) const { return group_->headers(stream); }

 private:
  struct Held {
    std::deque<nb::object> frames;  // in device memory, in the order of submission
    std::uint64_t dropped = 0;      // as the stream's info had it when frames were released last
  };

  // A result has come: its frame, and those that were dropped since, are not read any more.
  void release_frames(Stream stream);

  // The GIL guards them. They outlive the group, which reads them.
  std::map<Stream, Held> held_;
  OfThisProcess<StreamGroup> group_;
};

}  // namespace cu264::python
