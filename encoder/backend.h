// The seam between what drives an encode and what codes pictures: a Job goes in, a CodedAccessUnit that names
// its picture comes out. A backend takes pictures through the five stages (ingest, adaptive quantisation,
// reconstruct, code, pack). It knows neither time nor containers; the layers above it know neither threads
// nor blocks. A Pipeline (pipeline.h) always stands in front of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "core/picture_params.h"
#include "cu264/packet.h"
#include "encoder/held_frame.h"
#include "encoder/notifier.h"
#include "encoder/rate_control/rate_settings.h"
#include "encoder/stream_params.h"

namespace cu264::encoder {

// Bytes that precede a picture; null: nothing.
struct PictureHeaders {
  using Bytes = std::shared_ptr<const std::vector<std::uint8_t>>;

  Bytes parameter_sets;
  Bytes message;  // names the encoder

  // Includes the bytes of pictures that were left out before it; Overhead::with counts these bytes.
  PictureHeaders with(const PictureHeaders& pending) const {
    return {parameter_sets ? parameter_sets : pending.parameter_sets, message ? message : pending.message};
  }
};

// What a packet says about its picture. No backend reads it.
struct PictureLabel {
  std::int64_t pts = 0;
  void* user_data = nullptr;
  PictureHeaders headers;
};

// One picture to code.
struct Job {
  HeldFrame frame;
  core::PictureParams picture;
  PictureControl control = {};  // the QP of `picture` is decided with this, unless it is constant
  PictureLabel label = {};
  // Where there are P pictures (gop_structure.h): Config::gop, and the headers that the picture has instead
  // of its label's if it becomes a key picture.
  int gop = 1;
  PictureHeaders key_headers = {};
  // The last picture of the stream that was submitted is not in the stream: it is coded again, or was left
  // out. This one takes its place, and is predicted from what that one was predicted from.
  bool replaces = false;
};

// Backends leave this much room after the slices, in addition to the room for filler data
// (Pacing::packet_capacity), so that adding to them takes no new memory.
inline constexpr std::size_t kRoomForMessages = 256;

// A coded picture.
struct CodedAccessUnit {
  core::PictureParams picture;  // as it was coded
  PictureLabel label;           // the job's; the pipeline adds it
  std::exception_ptr error;     // set if the picture could not be coded; what follows is empty then

  PacketBytes slices;         // NAL units of type 5 or 1 in Annex B form
  std::size_t front = 0;      // bytes at their beginning that are free for what precedes them
  DeviceBytes device_slices;  // instead of `slices`, with Outputs::device_output
  std::vector<std::uint8_t> reconstruction;
  std::vector<std::uint8_t> edges;  // with Outputs::edge_maps
  PictureStats stats;

  std::vector<std::uint8_t> hrd_messages;  // an SEI NAL unit that comes before all others, or nothing
  bool dropped = false;                    // there are no slices: the picture is left out
};

enum class State {
  idle,     // nothing will come without another call: no picture, or a batch that is not full
  working,  // the oldest picture will become ready without another call
  ready,    // collect() would not wait
};

class Backend {
 public:
  virtual ~Backend() = default;

  // The number of pictures that may be submitted before the oldest must be collected.
  virtual int capacity() const = 0;
  // Copies or converts what it needs from a frame in host memory before it returns; other memory is read
  // until the picture is collected. The caller has checked the frame against the parameters. Pictures of a
  // stream are submitted in the order of their index; one with the index 0 begins the stream anew. Throws an
  // Error if the picture cannot be taken; the backend then does not have it.
  virtual void submit(const Job& job) = 0;
  // Says that no further picture will come soon: the backend starts a batch that is not full. Further
  // pictures may be submitted when all have been collected.
  virtual void flush() = 0;
  // Never waits. Starts what was flushed but could not start yet, unless the oldest picture is ready.
  virtual State poll() = 0;
  // Makes the backend signal `notifier` whenever poll() may have become `ready`.
  virtual void notify(std::shared_ptr<Notifier> notifier) = 0;
  // Waits for the oldest picture that was submitted and not yet collected, and returns it, with its error if
  // it has one. Throws an Error if the backend can no longer return any picture.
  virtual CodedAccessUnit collect() = 0;
  // Changes what the backend was opened with. All pictures have been collected. Returns false, and has
  // changed nothing, if that takes more memory than the backend has, or if another one is as good.
  virtual bool restart(const StreamParams& params, int batch) = 0;
};

std::unique_ptr<Backend> open_cpu_backend(const StreamParams& params);

}  // namespace cu264::encoder
