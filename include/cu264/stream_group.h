// Many streams that are encoded in common batches: cameras, simulators, remote sessions. One picture at a
// time leaves most of a GPU idle, and encoders beside each other get in each other's way; a group takes
// whatever waits whenever the device is free, whichever streams it belongs to.
//
//   cu264::StreamGroup group;
//   const auto stream = group.open(config);          // one for each camera
//   group.submit(stream, frame);                     // from any thread
//   while (auto packet = group.receive(stream, std::chrono::milliseconds(20))) write(*packet);
//
// A stream has the bytes that an Encoder with the same Config gives it. Streams share batches if these are
// the same: width and height, preset, number of slices; CABAC or CAVLC, the 8x8 transform (the profile high)
// and the scaling lists; whether there are P pictures, and scene cuts are looked for; the kind and strength
// of adaptive quantisation and whether it remembers the picture before; whether rate control decides the QPs,
// and whether a limit or a buffer may have pictures coded again; reconstruction; and for input in RGB its
// format, matrix and range. A stream that is encrypted or watermarked shares none. Everything else may differ
// from stream to stream.
//
// Threads: any thread may call anything at any time, but for the destructor. Pictures of a stream are encoded
// in the order of their submission, and its packets come in that order.
//
// Errors of a stream are thrown to those who use that stream; the other streams go on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cu264/backend_choice.h"
#include "cu264/encoder.h"
#include "cu264/frame.h"
#include "cu264/packet.h"
#include "cu264/status.h"

namespace cu264 {

struct StreamGroupConfig {
  BackendChoice backend = BackendChoice::automatic;
  std::vector<int> devices;  // of the cuda backend; empty: device 0. Each stream stays on one of them
  int threads = 0;           // of the cpu backend; 0: one for each core
  int batch = 0;             // the most pictures of a batch; 0: as many as make good use of the device
  // Batches of one size of picture that a device encodes side by side, 1..8.
  int batches_in_flight = 2;
  // The longest time that a picture waits for pictures of other streams although the device could begin.
  std::chrono::microseconds longest_wait{300};
  // Pictures of a stream that were submitted and whose packets were not received, 1..1024, beside as many as
  // Config::lookahead has wait for others.
  int queue = 4;
};

class StreamGroup {
 public:
  using Stream = std::uint32_t;  // never used again in the same group

  struct Result {
    Stream stream = 0;
    Packet packet;
    std::optional<Error> error;  // instead of the packet
  };

  explicit StreamGroup(const StreamGroupConfig& config = {});
  ~StreamGroup();  // drops what was not received
  StreamGroup(const StreamGroup&) = delete;
  StreamGroup& operator=(const StreamGroup&) = delete;

  // Opens a stream. The group's settings replace Config::backend, threads and batch. Config::devices may name
  // the one device of the group that the stream's frames are on. Config::device_output is not supported.
  // A stream that is encrypted or watermarked has batches of its own.
  Stream open(const Config& config);
  EncoderInfo info(Stream id) const;
  std::vector<std::uint8_t> headers(Stream id) const;

  // Takes a picture and returns true. Returns false if within the timeout the stream has no room: its queue
  // is full, or pictures from before flush are not encoded yet. Memory of the frame may be reused as with
  // Encoder::send. The work that writes a frame in device memory must have been enqueued on Frame::stream.
  bool submit(Stream id, const Frame& frame, std::chrono::nanoseconds timeout = {});

  // The stream's next packet. Sleeps until it is ready or the time has passed. Returns at once, without a
  // packet, if no picture of the stream is on its way. Throws the Error of a picture that could not be
  // encoded; the picture after it follows.
  std::optional<Packet> receive(Stream id, std::chrono::nanoseconds timeout = {});

  // The next packet of any stream, for a thread that serves many. Waits also while nothing is on its way.
  std::optional<Result> receive_any(std::chrono::nanoseconds timeout = {});

  // A descriptor for poll and event loops, which the group owns. It becomes readable when a packet may be
  // ready; then call receive_any() until it returns none, which makes it unreadable again.
  int ready_descriptor();

  // Ends the stream's clip. The next picture begins another one, as with Encoder::flush.
  void flush(Stream id);

  // Ends the stream, and drops what was not received of it. When this returns, frames of the stream are no
  // longer read.
  void close(Stream id);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cu264
