#include "io/mp4/movie_boxes.h"

#include <algorithm>
#include <limits>

#include "io/mp4/box_writer.h"
#include "io/mp4/sample_entries.h"
#include "io/mp4/sample_table.h"

namespace cu264::mp4 {
namespace {

constexpr std::uint32_t kVideoId = 1, kAudioId = 2;
constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();

// A track as the boxes describe it. A fragmented file's tracks have no samples here, and no known end.
struct Description {
  const Movie& movie;
  const Track& track;
  bool audio = false;
  bool fragmented = false;
  std::uint64_t base = 0;  // file offset of the samples
  bool wide = false;       // co64

  std::uint32_t id() const { return audio ? kAudioId : kVideoId; }
};

// `ticks` of a track on the movie's clock, which is the video's; rounded up, so that no sample is cut.
std::uint64_t movie_ticks(const Description& d, std::int64_t ticks) {
  const auto scaled = static_cast<unsigned __int128>(ticks) * d.movie.video_track.timescale();
  return static_cast<std::uint64_t>((scaled + d.track.timescale() - 1) / d.track.timescale());
}

// Returns how long the track is shown, from time 0 on.
std::uint64_t shown_ticks(const Description& d) {
  return d.fragmented ? 0 : movie_ticks(d, std::max<std::int64_t>(d.track.end(), 0));
}

// Version 1 of a box has 64 bits for times.
unsigned time_version(std::uint64_t duration) {
  return duration > kMax32 ? 1 : 0;
}

void time(BoxWriter& w, unsigned version, std::uint64_t value) {
  version == 1 ? w.u64(value) : w.u32(static_cast<std::uint32_t>(value));
}

void write_matrix(BoxWriter& w) {
  for (const std::uint32_t value : {0x10000u, 0u, 0u, 0u, 0x10000u, 0u, 0u, 0u, 0x40000000u}) w.u32(value);
}

void write_tkhd(BoxWriter& w, const Description& d) {
  const std::uint64_t duration = shown_ticks(d);
  const unsigned version = time_version(duration);
  constexpr unsigned kEnabledInMovie = 3;
  w.full_box("tkhd", version, kEnabledInMovie, [&] {
    time(w, version, 0), time(w, version, 0);  // created and modified: the same frames give the same file
    w.u32(d.id());
    w.u32(0);
    time(w, version, duration);
    w.zeros(8);
    w.u16(0), w.u16(0);          // layer, alternate_group
    w.u16(d.audio ? 0x100 : 0);  // volume
    w.u16(0);
    write_matrix(w);
    const SequenceInfo& info = d.movie.video.info();
    const Rational sar = info.sample_aspect_ratio;
    const std::uint64_t width = d.audio ? 0 : static_cast<std::uint64_t>(info.width) << 16;
    const std::uint64_t shown =
        sar.num > 0 ? (width * static_cast<unsigned>(sar.num) + static_cast<unsigned>(sar.den) / 2) /
                          static_cast<unsigned>(sar.den)
                    : width;
    w.u32(static_cast<std::uint32_t>(std::min(shown, kMax32)));
    w.u32(d.audio ? 0 : static_cast<std::uint32_t>(info.height) << 16);
  });
}

// EditListBox (8.6.6): a track that begins late has an empty edit first; of one that begins before 0, the
// part before 0 is not shown. Fragments express a late beginning by their decode times instead.
void write_edts(BoxWriter& w, const Description& d) {
  const std::int64_t first = d.track.first_pts();
  if (first == 0 || (d.fragmented && first > 0)) return;
  const std::uint64_t late = movie_ticks(d, std::max<std::int64_t>(first, 0));
  const auto media_time = static_cast<std::uint64_t>(std::max<std::int64_t>(-first, 0));
  const std::uint64_t shown = shown_ticks(d) - (d.fragmented ? 0 : late);
  const unsigned version = time_version(std::max({late, media_time, shown}) * 2);  // media_time is signed
  const auto edit = [&](std::uint64_t duration, std::uint64_t from) {
    time(w, version, duration);
    time(w, version, from);
    w.u32(0x10000);  // at normal speed
  };
  constexpr std::uint64_t kEmpty = std::numeric_limits<std::uint64_t>::max();
  w.box("edts", [&] {
    w.full_box("elst", version, 0, [&] {
      w.u32(late > 0 ? 2 : 1);
      if (late > 0) edit(late, kEmpty);
      edit(shown, media_time);
    });
  });
}

void write_mdhd(BoxWriter& w, const Description& d) {
  const auto duration = d.fragmented ? 0 : static_cast<std::uint64_t>(d.track.end() - d.track.first_pts());
  const unsigned version = time_version(duration);
  constexpr unsigned kUndetermined = 0x55c4;  // the language "und"
  w.full_box("mdhd", version, 0, [&] {
    time(w, version, 0), time(w, version, 0);
    w.u32(d.track.timescale());
    time(w, version, duration);
    w.u16(kUndetermined);
    w.u16(0);
  });
}

void write_hdlr(BoxWriter& w, bool audio) {
  w.full_box("hdlr", 0, 0, [&] {
    w.u32(0);
    audio ? w.type("soun") : w.type("vide");
    w.zeros(12);
    w.text(audio ? "audio" : "video");
  });
}

void write_minf(BoxWriter& w, const Description& d) {
  w.box("minf", [&] {
    if (d.audio) {
      w.full_box("smhd", 0, 0, [&] { w.zeros(4); });
    } else {
      w.full_box("vmhd", 0, 1, [&] { w.zeros(8); });
    }
    w.box("dinf", [&] {
      w.full_box("dref", 0, 0, [&] {
        w.u32(1);
        w.full_box("url ", 0, 1, [] {});  // the samples are in this file
      });
    });
    w.box("stbl", [&] {
      w.full_box("stsd", 0, 0, [&] {
        w.u32(1);
        d.audio ? write_audio_entry(w, *d.movie.audio) : write_video_entry(w, d.movie.video, d.track);
      });
      write_sample_table(w, d.track, d.base, d.wide);
      if (d.audio && d.movie.audio->codec == Mp4Audio::Codec::opus) write_opus_roll(w, d.track);
    });
  });
}

void write_trak(BoxWriter& w, const Description& d) {
  w.box("trak", [&] {
    write_tkhd(w, d);
    write_edts(w, d);
    w.box("mdia", [&] {
      write_mdhd(w, d);
      write_hdlr(w, d.audio);
      write_minf(w, d);
    });
  });
}

// sample_flags of 8.8.3.1: an IDR picture depends on no other, and is no "non-sync" sample, as audio packets
// are none; a P picture depends on another.
constexpr std::uint32_t kSyncSample = 0x02000000, kDependentSample = 0x01010000;

void write_mvex(BoxWriter& w, const std::vector<Description>& tracks) {
  w.box("mvex", [&] {
    for (const Description& d : tracks) {
      w.full_box("trex", 0, 0, [&] {
        w.u32(d.id());
        w.u32(1);  // sample description
        w.u32(0), w.u32(0);
        w.u32(kSyncSample);
      });
    }
  });
}

void write_moov(BoxWriter& w, const Movie& movie, bool fragmented, std::uint64_t base, bool wide) {
  std::vector<Description> tracks = {{movie, movie.video_track, false, fragmented, base, wide}};
  if (movie.audio) tracks.push_back({movie, *movie.audio_track, true, fragmented, base, wide});
  std::uint64_t duration = 0;
  for (const Description& d : tracks) duration = std::max(duration, shown_ticks(d));
  const unsigned version = time_version(duration);
  w.box("moov", [&] {
    w.full_box("mvhd", version, 0, [&] {
      time(w, version, 0), time(w, version, 0);
      w.u32(movie.video_track.timescale());
      time(w, version, duration);
      w.u32(0x10000), w.u16(0x100);  // rate and volume 1
      w.zeros(10);
      write_matrix(w);
      w.zeros(24);
      w.u32(kAudioId + 1);  // next_track_ID
    });
    for (const Description& d : tracks) write_trak(w, d);
    if (fragmented) write_mvex(w, tracks);
  });
}

void write_ftyp(BoxWriter& w, bool fragmented) {
  w.box("ftyp", [&] {
    fragmented ? w.type("iso6") : w.type("isom");
    w.u32(0x200);
    if (fragmented) w.type("iso5"), w.type("iso6");
    w.type("isom"), w.type("iso2"), w.type("avc1"), w.type("mp41");
  });
}

void write_mdat_head(BoxWriter& w, std::uint64_t content) {
  const bool wide = content + 8 > kMax32;
  w.u32(wide ? 1 : static_cast<std::uint32_t>(content + 8));
  w.type("mdat");
  if (wide) w.u64(content + 16);
}

std::vector<std::uint8_t> file_head(const Movie& movie, std::uint64_t sample_bytes, std::uint64_t base,
                                    bool wide) {
  BoxWriter w;
  write_ftyp(w, false);
  write_moov(w, movie, false, base, wide);
  write_mdat_head(w, sample_bytes);
  return w.take();
}

}  // namespace

std::vector<std::uint8_t> file_head(const Movie& movie, std::uint64_t sample_bytes) {
  // The head's size does not depend on where the samples begin, except for the width of the offsets.
  std::uint64_t size = file_head(movie, sample_bytes, 0, false).size();
  const bool wide = size + sample_bytes > kMax32;
  if (wide) size = file_head(movie, sample_bytes, 0, true).size();
  return file_head(movie, sample_bytes, size, wide);
}

std::vector<std::uint8_t> fragmented_head(const Movie& movie) {
  Movie empty = movie;  // the samples that are there already belong to the first fragment
  empty.video_track.begin_fragment();
  if (empty.audio_track) empty.audio_track->begin_fragment();
  BoxWriter w;
  write_ftyp(w, true);
  write_moov(w, empty, true, 0, false);
  return w.take();
}

std::vector<std::uint8_t> fragment_head(const Movie& movie, std::uint32_t sequence_number) {
  BoxWriter w;
  std::vector<std::pair<std::size_t, std::uint64_t>> offsets;  // where data_offset stands, and bytes before
  const auto write_traf = [&](const Track& track, std::uint32_t id, std::uint64_t before) {
    if (track.samples().empty()) return;
    constexpr unsigned kBaseIsMoof = 0x20000;
    w.box("traf", [&] {
      w.full_box("tfhd", 0, kBaseIsMoof, [&] { w.u32(id); });
      // Where a track begins before 0, its edit list names that beginning as the time 0 of what is shown.
      const std::int64_t origin = std::min<std::int64_t>(track.first_pts(), 0);
      w.full_box("tfdt", 1, 0, [&] { w.u64(static_cast<std::uint64_t>(track.begin() - origin)); });
      constexpr unsigned kOffset = 1, kDurations = 0x100, kSizes = 0x200, kFlags = 0x400;
      const bool flags = !track.all_sync();
      w.full_box("trun", 0, kOffset | kDurations | kSizes | (flags ? kFlags : 0), [&] {
        w.u32(static_cast<std::uint32_t>(track.samples().size()));
        offsets.emplace_back(w.size(), before);
        w.u32(0);
        for (const Sample& sample : track.samples()) {
          w.u32(sample.duration), w.u32(sample.size);
          if (flags) w.u32(sample.sync ? kSyncSample : kDependentSample);
        }
      });
    });
  };
  const std::uint64_t video_bytes = movie.video_track.bytes();
  const std::uint64_t audio_bytes = movie.audio ? movie.audio_track->bytes() : 0;
  w.box("moof", [&] {
    w.full_box("mfhd", 0, 0, [&] { w.u32(sequence_number); });
    write_traf(movie.video_track, kVideoId, 0);
    if (movie.audio) write_traf(*movie.audio_track, kAudioId, video_bytes);
  });
  write_mdat_head(w, video_bytes + audio_bytes);
  for (const auto& [at, before] : offsets) w.set_u32(at, static_cast<std::uint32_t>(w.size() + before));
  return w.take();
}

}  // namespace cu264::mp4
