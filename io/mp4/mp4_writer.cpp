#include "cu264/mp4.h"

#include <array>
#include <string>
#include <utility>

#include "io/mp4/movie_boxes.h"
#include "io/mp4/sample_entries.h"
#include "io/output_file.h"

namespace cu264 {
namespace {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

// A fragment's offsets have 31 bits, and its bytes are held in memory.
constexpr std::size_t kMaxFragment = std::size_t{1} << 28;

mp4::Movie movie_of(const Mp4Config& config) {
  mp4::Movie movie{mp4::AvcStream(config.headers), mp4::Track("video", config.time_base), config.audio, {}};
  if (config.audio) {
    mp4::check_audio(*config.audio);
    movie.audio_track.emplace("audio", Rational{1, config.audio->sample_rate});
  }
  return movie;
}

}  // namespace

struct Mp4Writer::Impl {
  Impl(const Mp4Config& config, Sink to, Sink to_front)
      : movie(movie_of(config)), options(config), append(std::move(to)), insert_front(std::move(to_front)) {}

  void check_open() const {
    if (finished) throw Error(ErrorCode::invalid_argument, "the file is finished", "open another writer");
    if (failed) throw Error(ErrorCode::invalid_argument, "the writer has failed", "open another writer");
  }

  // Adds a sample, which `pieces` make up, to its track, and its bytes to what has to be written. `pending`
  // holds them until their index is known.
  void add(mp4::Track& track, Bytes& pending, const std::vector<ByteSpan>& pieces, std::int64_t pts,
           std::int64_t duration, bool sync = true) {
    std::size_t size = 0;
    for (const ByteSpan piece : pieces) size += piece.size();
    track.add(size, pts, duration, options.fragmented ? track.bytes() : written, sync);
    written += size;
    if (!options.fragmented && !file && insert_front) {
      for (const ByteSpan piece : pieces) append(piece);
      return;
    }
    for (const ByteSpan piece : pieces) pending.insert(pending.end(), piece.begin(), piece.end());
    if (options.fragmented || !file) return;
    put(pending);
    pending.clear();
  }

  // The NAL units of a picture, each after its length.
  void add_picture(const mp4::SampleUnits& sample, std::int64_t pts, std::int64_t duration) {
    const std::vector<ByteSpan>& units = sample.nal_units;
    std::vector<std::array<std::uint8_t, 4>> lengths(units.size());
    std::vector<ByteSpan> pieces(2 * units.size());
    for (std::size_t i = 0; i < units.size(); ++i) {
      lengths[i] = mp4::length_of(units[i]);
      pieces[2 * i] = lengths[i], pieces[2 * i + 1] = units[i];
    }
    add(movie.video_track, video, pieces, pts, duration, sample.sync);
  }

  void put(const Bytes& bytes) {
    if (file) return file->write(bytes.data(), bytes.size());
    append(bytes);
  }

  bool is_fragment_full() const {
    const double limit = options.fragment_seconds;
    const bool long_enough = limit > 0 && movie.video_track.seconds() >= limit;
    return options.fragmented && (long_enough || video.size() + audio.size() >= kMaxFragment);
  }

  void end_fragment() {
    const bool nothing = video.empty() && audio.empty();
    if (nothing && (fragments > 0 || !last)) return;
    if (fragments == 0) put(mp4::fragmented_head(movie));
    ++fragments;
    if (nothing) return;
    put(mp4::fragment_head(movie, fragments));
    put(video);
    if (!audio.empty()) put(audio);
    video.clear(), audio.clear();
    movie.video_track.begin_fragment();
    if (movie.audio_track) movie.audio_track->begin_fragment();
  }

  void finish() {
    last = true;
    if (options.fragmented) {
      end_fragment();
    } else {
      const Bytes head = mp4::file_head(movie, written);
      if (file) {
        file->insert_front(head.data(), head.size());
      } else if (insert_front) {
        insert_front(head);
      } else {
        put(head);
        if (!video.empty()) put(video);
      }
    }
    if (file) file->commit();
    finished = true;
  }

  // Runs `call`. If that throws, the writer can only be destroyed.
  template <class Call>
  void guard(Call&& call) {
    check_open();
    failed = true;
    call();
    failed = false;
  }

  mp4::Movie movie;
  const Mp4Config options;
  Sink append;
  Sink insert_front;
  std::unique_ptr<io::OutputFile> file;
  Bytes video;                // pending: a fragment's pictures, or all samples of a file without fragments
  Bytes audio;                // pending: a fragment's audio
  std::uint64_t written = 0;  // bytes of samples, without fragments
  std::uint32_t fragments = 0;
  bool last = false;
  bool finished = false;
  bool failed = false;
};

Mp4Writer::Mp4Writer(const Mp4Config& config, const std::string& path)
    : impl_(std::make_unique<Impl>(config, Sink(), Sink())) {
  impl_->file = std::make_unique<io::OutputFile>(path);
  if (!config.fragmented && !impl_->file->regular()) {
    throw Error(ErrorCode::bad_output,
                impl_->file->name() +
                    ": is not a regular file, and an MP4 file's index "
                    "comes before its pictures",
                "write fragments (Mp4Config::fragmented), or to a file");
  }
}

Mp4Writer::Mp4Writer(const Mp4Config& config, Sink append, Sink insert_front)
    : impl_(std::make_unique<Impl>(config, std::move(append), std::move(insert_front))) {}
Mp4Writer::~Mp4Writer() = default;
Mp4Writer::Mp4Writer(Mp4Writer&&) noexcept = default;
Mp4Writer& Mp4Writer::operator=(Mp4Writer&&) noexcept = default;

void Mp4Writer::write(std::span<const std::uint8_t> access_unit, std::int64_t pts, std::int64_t duration) {
  impl_->guard([&] {
    impl_->add_picture(impl_->movie.video.sample_units(access_unit), pts, duration);
    if (impl_->is_fragment_full()) impl_->end_fragment();
  });
}

void Mp4Writer::write_audio(std::span<const std::uint8_t> packet, std::int64_t pts, std::int64_t duration) {
  impl_->guard([&] {
    if (!impl_->movie.audio_track) {
      throw Error(ErrorCode::invalid_argument, "this file has no audio track", "set Mp4Config::audio");
    }
    if (pts < 0 && impl_->fragments > 0 && impl_->movie.audio_track->empty()) {
      throw Error(ErrorCode::bad_input, "audio that begins before 0 comes after the first fragment",
                  "write the first audio packet before the first fragment ends");
    }
    if (packet.empty()) throw Error(ErrorCode::bad_input, "an audio packet is empty", "leave it out");
    Bytes& pending = impl_->options.fragmented ? impl_->audio : impl_->video;
    impl_->add(*impl_->movie.audio_track, pending, {packet}, pts, duration);
  });
}

void Mp4Writer::end_fragment() {
  if (impl_->options.fragmented) impl_->guard([&] { impl_->end_fragment(); });
}

void Mp4Writer::finish() {
  impl_->guard([&] { impl_->finish(); });
}

}  // namespace cu264
