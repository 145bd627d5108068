// The memory of one stream from picture to picture, in front of any backend: its configuration and headers,
// its counters, its time stamps, and the check of its watermark. It places the headers. It knows neither
// backends nor threads; one thread at a time may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cu264/encoder.h"
#include "encoder/backend.h"
#include "protect/mark_check.h"

namespace cu264::encoder {

class Session {
 public:
  // Throws Error(invalid_argument or unsupported) for a configuration that validate() refuses.
  explicit Session(const Config& config,
                   std::shared_ptr<PacketMemory> packet_memory = std::make_shared<PacketMemory>());

  const Config& config() const { return config_; }
  // Everything but what the backend says of itself.
  const EncoderInfo& info() const { return info_; }
  // The headers of the clip that is being encoded.
  const std::vector<std::uint8_t>& headers() const { return *headers_; }
  // Returns what a backend needs for the clip that is being encoded.
  const StreamParams& params() const { return params_; }

  // Applies changes. Throws Error(invalid_argument) for changes that need the end of a clip before it has
  // come, and for values that validate() refuses; nothing has changed then.
  void reconfigure(const ConfigChanges& changes);

  // Throws an Error if the next picture cannot be this frame.
  void check(const Frame& frame, bool reads_device_memory) const;
  // The next picture's job, as for a session of one stream: the caller sets its frame. `sent` follows.
  Job next_job(const Frame& frame) const;
  // The frame was handed over.
  void sent(const Frame& frame);
  // The packet of a picture; none if it was left out. Pictures come in the order in which they were sent.
  // Throws the picture's error, and Error(encode_failure) if the clip is encrypted or marked and a picture
  // before has no packet: readers count the pictures. The picture counts as received all the same.
  std::optional<Packet> packet_of(CodedAccessUnit&& unit);
  // Throws Error(bad_input) if the clip has ended and was too short for its watermark. Whether a packet is
  // the last one is not known if it was made before flush(), so this is to be called when no packet is left.
  void check_marks() const;
  // Pictures that were sent will not come back.
  void lose(std::size_t pictures);

  std::size_t pending() const { return pending_; }    // pictures sent whose packets were not made
  std::uint64_t dropped() const { return dropped_; }  // pictures of the clip that were left out

  void flush() { flushed_ = true; }
  bool flushed() const { return flushed_; }
  // True between two clips: a picture that is sent then is the first of the next clip.
  bool between_clips() const { return pending_ == 0 && (flushed_ || sent_ == 0); }
  // Makes everything as a new session has it, with new nonces for what is encrypted or marked. To be called
  // between two clips.
  void begin_clip();

 private:
  void write_headers();
  PictureHeaders next_headers(bool key) const;
  Overhead next_overhead(const PictureHeaders& headers, const Frame& frame) const;

  Config config_;
  const std::shared_ptr<PacketMemory> packet_memory_;
  EncoderInfo info_;
  StreamParams params_;
  RateSettings rate_;
  PictureHeaders::Bytes headers_;
  PictureHeaders parts_;                      // the parts of headers_
  std::vector<std::uint8_t> cipher_message_;  // before the first slice
  std::vector<std::uint8_t> mark_message_;    // of the watermark, before the first slice
  std::optional<protect::MarkCheck> mark_check_;
  std::size_t pending_ = 0;
  std::optional<PixelFormat> format_;  // of the frames, once it is known
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t dropped_ = 0;
  bool new_parameter_sets_ = false;  // go before the next picture
  PictureHeaders pending_headers_;   // of pictures without a packet: they go before the next one that has one
  bool lost_ = false;                // there are pictures without a packet
  bool flushed_ = false;
};

}  // namespace cu264::encoder
