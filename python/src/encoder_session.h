// An encoder that takes arrays of frames and keeps its packets until they are asked for.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cu264/encoder.h"
#include "frame_array.h"
#include "mp4_file.h"
#include "of_this_process.h"

namespace cu264::python {

using Options = std::map<std::string, std::string>;  // as Config::set takes them

struct StreamFormat {
  Options options;
  Rational time_base;
  std::optional<EncoderEncryption> encryption;
  std::optional<EncoderWatermark> watermark;
};

using Durations = std::vector<std::int64_t>;

// Sets them in the order of the table of options: one that sets several comes before those that it sets.
void set_options(Config& config, Options options);
Config config_of(const StreamFormat& format);
ConfigChanges changes_of(const Options& options);

class EncoderSession {
 public:
  explicit EncoderSession(const StreamFormat& format);

  // Sends all frames; pts[i] is that of the i-th, and so are qps[i], durations[i] and keys[i], unless there
  // are none. `frames` is kept until their packets have come.
  void send(nb::object frames, const std::vector<std::int64_t>& pts,
            const std::vector<std::optional<int>>& qps, const Durations& durations,
            const std::vector<bool>& keys);

  // Sends frames from number `first` on as far as there is room, without waiting, and returns the number of
  // the first that was not sent. Calls for the rest follow with the same arguments but `first`.
  std::size_t send_without_waiting(nb::object frames, const std::vector<std::int64_t>& pts,
                                   std::size_t first);

  // Fetches the packets that are ready.
  void receive_ready();

  // Readable when receive_ready() may find something.
  int ready_descriptor() { return encoder_->ready_descriptor(); }

  // Waits for the packets of all batches that are full. Frames of a batch that is not stay in the encoder.
  void wait_for_full_batches();

  // Announces that the clip has ended.
  void end_clip();

  // Ends the clip and waits for all packets. The next frame begins another clip.
  void flush();

  // Changes what these options name; see Encoder::reconfigure.
  void reconfigure(const Options& changes);

  // Is called with the number of pictures that have been coded, now and then while frames are sent and the
  // clip is ended. None: nothing is.
  void report_to(nb::object progress) { progress_ = std::move(progress); }

  std::uint64_t coded() const { return coded_; }

  // Packets go to `file`, an Mp4File, from now on, as soon as they come; take() has none of them.
  void write_to(nb::object file, std::int64_t duration);

  // The packets that have come since the last call, in order.
  std::vector<Packet> take();

  const EncoderInfo& info() const { return encoder_->info(); }
  const std::vector<std::uint8_t>& headers() const { return encoder_->headers(); }
  // Frames whose packets have not come, and that were not dropped.
  std::uint64_t waiting() const { return sent_ - settled(); }

 private:
  void receive(Packet packet);
  void receive_rest();  // of a clip that has ended
  void send_all(const FrameArray& frames, const std::vector<std::int64_t>& pts,
                const std::vector<std::optional<int>>& qps, const Durations& durations,
                const std::vector<bool>& keys);
  void release_frames();
  void report();  // with the GIL
  std::uint64_t settled() const { return sent_ == 0 ? 0 : received_ + info().dropped; }

  OfThisProcess<Encoder> encoder_;
  std::vector<Packet> packets_;
  nb::object file_;         // keeps mp4_
  Mp4File* mp4_ = nullptr;  // null: packets are kept for take()
  std::int64_t duration_ = 0;
  nb::object progress_ = nb::none();
  std::uint64_t coded_ = 0;  // in all clips
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  bool ended_ = false;  // flush was called, and packets may be left
  struct Held {
    std::uint64_t end;  // pictures sent when these had been
    nb::object frames;
  };
  std::deque<Held> held_;
};

}  // namespace cu264::python
