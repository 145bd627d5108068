// MP4 files (ISO/IEC 14496-12 and 14496-15) of coded video, with at most one audio track whose packets are
// already coded.
//
//   cu264::Encoder encoder(config);
//   cu264::Mp4Config layout;
//   layout.headers = encoder.headers();
//   cu264::Mp4Writer file(layout, "film.mp4");
//   ...                                          // for each packet of the encoder:
//   file.write(packet.data, packet.pts, 1);
//   file.finish();
//
// Every call may throw cu264::Error. After a throw the writer can only be destroyed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cu264/encoder.h"
#include "cu264/status.h"

namespace cu264 {

struct Mp4Audio {
  enum class Codec { aac, opus };

  Codec codec = Codec::aac;
  // aac: the AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1). opus: the identification header "OpusHead" (RFC
  // 7845, 5.1), of mono or stereo.
  std::vector<std::uint8_t> config;
  int sample_rate = 48000;  // pts and durations count in 1 / sample_rate seconds; Opus: 48000
  int channels = 2;
};

struct Mp4Config {
  // SPS and PPS in Annex B form, as Encoder::headers() has them; size, shape of samples and colour are read
  // from them.
  std::vector<std::uint8_t> headers;
  Rational time_base{1, 25};  // seconds a unit of pts and duration
  // false: one index at the beginning of the file and all samples after it, so that a player can begin before
  // it has the whole file. true: a sequence of fragments, each with its own index, for output that is sent
  // while it grows; what is in memory is at most a fragment.
  bool fragmented = false;
  // Seconds of video after which a fragment ends by itself; 0: only end_fragment() and finish() end one.
  double fragment_seconds = 1;
  std::optional<Mp4Audio> audio;
};

class Mp4Writer {
 public:
  // Takes bytes of the file. An exception that it throws passes through the writer's call.
  using Sink = std::function<void(std::span<const std::uint8_t>)>;

  // Writes a file that appears under its name with finish(); without finish() there is none. "-" (standard
  // output) and pipes take fragments only.
  Mp4Writer(const Mp4Config& config, const std::string& path);
  // `append` takes the next bytes. Without fragments the index comes before the samples and is known after
  // them: `insert_front` puts bytes before all that `append` has taken. Where there is none, all samples stay
  // in memory until finish().
  Mp4Writer(const Mp4Config& config, Sink append, Sink insert_front = {});
  ~Mp4Writer();
  Mp4Writer(Mp4Writer&&) noexcept;
  Mp4Writer& operator=(Mp4Writer&&) noexcept;

  // Appends a picture: an access unit in Annex B form, the first of IDR slices. Pictures of IDR slices are
  // the file's sync samples. Time stamps must increase. A picture is shown until the next one's pts;
  // `duration` (positive) counts for the last picture of the file, and for the last of a fragment, since the
  // next is not known there. If the first pts is not 0, the file says so (by an edit list, or by the
  // fragments' decode times).
  void write(std::span<const std::uint8_t> access_unit, std::int64_t pts, std::int64_t duration);

  // Appends a packet of Mp4Config::audio. What lies before pts 0 (an encoder's priming) is not played.
  void write_audio(std::span<const std::uint8_t> packet, std::int64_t pts, std::int64_t duration);

  // Writes what has come since the last fragment as one. Does nothing if that is nothing.
  void end_fragment();

  // Completes the file. Nothing may be written after it.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cu264
