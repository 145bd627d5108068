// The boxes that describe a file: moov, and for each fragment moof.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cu264/mp4.h"
#include "io/mp4/avc_stream.h"
#include "io/mp4/track.h"

namespace cu264::mp4 {

struct Movie {
  AvcStream video;
  Track video_track;
  std::optional<Mp4Audio> audio;
  std::optional<Track> audio_track;
};

// ftyp and moov of a file whose samples follow, and the head of mdat, whose content has `sample_bytes`.
std::vector<std::uint8_t> file_head(const Movie& movie, std::uint64_t sample_bytes);

// ftyp and moov of a file whose samples follow in fragments.
std::vector<std::uint8_t> fragmented_head(const Movie& movie);

// moof and the head of mdat, for the samples that the tracks hold: first those of the video, then the audio.
std::vector<std::uint8_t> fragment_head(const Movie& movie, std::uint32_t sequence_number);

}  // namespace cu264::mp4
