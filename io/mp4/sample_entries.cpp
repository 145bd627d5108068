#include "io/mp4/sample_entries.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace cu264::mp4 {
namespace {

constexpr std::size_t kOpusHead = 19;  // bytes of an OpusHead of channel mapping family 0

// The largest number of bytes of the samples that begin within a second of one another (btrt counts bits).
std::uint64_t bytes_of_busiest_second(const Track& track) {
  std::uint64_t window = 0, most = 0, ticks = 0;
  std::size_t first = 0;
  for (const Sample& sample : track.samples()) {
    window += sample.size, ticks += sample.duration;
    while (ticks > track.timescale() && track.samples()[first].duration < ticks) {
      window -= track.samples()[first].size, ticks -= track.samples()[first].duration;
      ++first;
    }
    most = std::max(most, window);
  }
  return most;
}

// BitRateBox (14496-12, 8.5.2). Rates of 4 Gbit/s and more are written as the largest number.
void write_bit_rate(BoxWriter& w, const Track& track) {
  if (track.samples().empty()) return;  // a fragmented file begins before its rate is known
  const auto clipped = [](double bits) { return static_cast<std::uint32_t>(std::min(bits, 4294967295.0)); };
  std::uint32_t largest = 0;
  for (const Sample& sample : track.samples()) largest = std::max(largest, sample.size);
  w.box("btrt", [&] {
    w.u32(largest);  // bufferSizeDB
    w.u32(clipped(8.0 * static_cast<double>(bytes_of_busiest_second(track))));
    w.u32(clipped(8.0 * static_cast<double>(track.bytes()) / track.seconds()));
  });
}

void write_colour(BoxWriter& w, const SequenceInfo& info) {
  if (!info.has_colour) return;
  w.box("colr", [&] {
    w.type("nclx");
    w.u16(static_cast<unsigned>(info.colour.primaries));
    w.u16(static_cast<unsigned>(info.colour.transfer));
    w.u16(static_cast<unsigned>(info.colour.matrix));
    w.u8(info.colour.full_range ? 0x80 : 0);
  });
}

// A descriptor of ISO/IEC 14496-1, 8.3.3, of less than 128 bytes.
template <class Content>
void descriptor(BoxWriter& to, unsigned tag, Content&& content) {
  BoxWriter inner;
  content(inner);
  const std::vector<std::uint8_t> bytes = inner.take();
  to.u8(tag);
  to.u8(static_cast<unsigned>(bytes.size()));
  to.bytes(bytes);
}

// ISO/IEC 14496-1, 7.2.6, with the object type of 14496-3 audio
void write_esds(BoxWriter& w, const Mp4Audio& audio) {
  constexpr unsigned kAudioObject = 0x40, kAudioStream = 0x15;
  w.full_box("esds", 0, 0, [&] {
    descriptor(w, 3, [&](BoxWriter& es) {
      es.u16(0);  // ES_ID: not used in files
      es.u8(0);
      descriptor(es, 4, [&](BoxWriter& config) {
        config.u8(kAudioObject);
        config.u8(kAudioStream);
        config.zeros(3 + 4 + 4);  // buffer size and bit rates: unspecified
        descriptor(config, 5, [&](BoxWriter& specific) { specific.bytes(audio.config); });
      });
      descriptor(es, 6, [](BoxWriter& sync_layer) { sync_layer.u8(2); });  // as in MP4 files
    });
  });
}

// OpusSpecificBox: the fields of OpusHead with the most significant byte first
void write_dops(BoxWriter& w, const Mp4Audio& audio) {
  const std::uint8_t* const head = audio.config.data();
  w.box("dOps", [&] {
    w.u8(0);                                                         // version
    w.u8(head[9]);                                                   // channels
    w.u8(head[11]), w.u8(head[10]);                                  // PreSkip
    w.u8(head[15]), w.u8(head[14]), w.u8(head[13]), w.u8(head[12]);  // InputSampleRate
    w.u8(head[17]), w.u8(head[16]);                                  // OutputGain
    w.u8(0);                                                         // ChannelMappingFamily
  });
}

}  // namespace

void write_video_entry(BoxWriter& w, const AvcStream& video, const Track& track) {
  const SequenceInfo& info = video.info();
  w.box("avc1", [&] {
    w.zeros(6);
    w.u16(1);  // data_reference_index
    w.zeros(16);
    w.u16(static_cast<unsigned>(info.width));
    w.u16(static_cast<unsigned>(info.height));
    w.u32(72u << 16), w.u32(72u << 16);  // dots an inch
    w.u32(0);
    w.u16(1);  // frames a sample
    w.zeros(32);
    w.u16(24);      // depth: colour without alpha
    w.u16(0xffff);  // pre_defined
    w.box("avcC", [&] { w.bytes(video.configuration_record()); });
    if (info.sample_aspect_ratio.num > 0) {
      w.box("pasp", [&] {
        w.u32(static_cast<std::uint32_t>(info.sample_aspect_ratio.num));
        w.u32(static_cast<std::uint32_t>(info.sample_aspect_ratio.den));
      });
    }
    write_colour(w, info);
    write_bit_rate(w, track);
  });
}

void write_audio_entry(BoxWriter& w, const Mp4Audio& audio) {
  const auto content = [&] {
    w.zeros(6);
    w.u16(1);  // data_reference_index
    w.zeros(8);
    w.u16(static_cast<unsigned>(audio.channels));
    w.u16(16);  // sample size
    w.u32(0);
    // A 16.16 number: higher rates are told by the codec's own description alone.
    w.u32(audio.sample_rate <= 0xffff ? static_cast<std::uint32_t>(audio.sample_rate) << 16 : 0);
    audio.codec == Mp4Audio::Codec::aac ? write_esds(w, audio) : write_dops(w, audio);
  };
  audio.codec == Mp4Audio::Codec::aac ? w.box("mp4a", content) : w.box("Opus", content);
}

void check_audio(const Mp4Audio& audio) {
  const auto require = [](bool condition, const std::string& cause, const std::string& remedy) {
    if (!condition) throw Error(ErrorCode::invalid_argument, "audio: " + cause, remedy);
  };
  require(audio.sample_rate > 0, "a sample rate of " + std::to_string(audio.sample_rate),
          "use samples a second");
  require(audio.channels >= 1 && audio.channels <= 255, std::to_string(audio.channels) + " channels",
          "use 1 to 255");
  if (audio.codec == Mp4Audio::Codec::aac) {
    require(audio.config.size() >= 2 && audio.config.size() <= 64,
            "the AudioSpecificConfig has " + std::to_string(audio.config.size()) + " bytes",
            "pass the encoder's 2 to 64 bytes");
    return;
  }
  require(audio.sample_rate == 48000, "Opus counts time in 1/48000 seconds", "use the sample rate 48000");
  require(audio.config.size() == kOpusHead && std::memcmp(audio.config.data(), "OpusHead", 8) == 0 &&
              audio.config[18] == 0,
          "the Opus header is not an OpusHead of mono or stereo", "pass the encoder's 19 bytes");
}

}  // namespace cu264::mp4
