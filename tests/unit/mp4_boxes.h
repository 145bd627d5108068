// MP4 files taken apart box by box, and what is written to them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/bitstream/nal_unit.h"
#include "cu264/mp4.h"

namespace cu264::test {

using bitstream::Bytes;
using bitstream::ByteSpan;

inline std::uint64_t number(ByteSpan bytes, std::size_t at, int length) {
  std::uint64_t value = 0;
  for (int i = 0; i < length; ++i) value = value << 8 | bytes[at + static_cast<std::size_t>(i)];
  return value;
}

struct Box {
  std::string type;
  ByteSpan content;
  std::size_t end = 0;  // in the span that it was found in

  std::uint64_t u32(std::size_t at) const { return number(content, at, 4); }
  std::uint64_t u64(std::size_t at) const { return number(content, at, 8); }
};

inline std::vector<Box> boxes(ByteSpan in) {
  std::vector<Box> found;
  for (std::size_t at = 0; at < in.size();) {
    std::uint64_t size = number(in, at, 4);
    const std::string type(in.begin() + static_cast<std::ptrdiff_t>(at) + 4,
                           in.begin() + static_cast<std::ptrdiff_t>(at) + 8);
    const std::size_t head = size == 1 ? 16 : 8;
    if (size == 1) size = number(in, at + 8, 8);
    EXPECT_GE(size, head);
    EXPECT_LE(at + size, in.size()) << type;
    found.push_back({type, in.subspan(at + head, size - head), at + size});
    at += size;
  }
  return found;
}

// The box at a path such as "moov/trak/mdia"; "trak:1" is the second of its type.
inline std::optional<Box> find(ByteSpan in, std::string_view path) {
  std::string name(path.substr(0, path.find('/')));
  std::size_t skip = 0;
  if (const auto colon = name.find(':'); colon != std::string::npos) {
    skip = std::stoul(name.substr(colon + 1)), name.resize(colon);
  }
  for (const Box& box : boxes(in)) {
    if (box.type != name || skip-- > 0) continue;
    if (path.find('/') == std::string_view::npos) return box;
    // After these come other fields, before the boxes inside.
    const std::size_t fields = name == "stsd"                     ? 8
                               : name == "avc1"                   ? 78
                               : name == "mp4a" || name == "Opus" ? 28
                                                                  : 0;
    return find(box.content.subspan(fields), path.substr(path.find('/') + 1));
  }
  return std::nullopt;
}

inline Box at(ByteSpan in, std::string_view path) {
  const auto box = find(in, path);
  if (!box) throw std::runtime_error("no box " + std::string(path));
  return *box;
}

inline const std::string kSamples = "moov/trak/mdia/minf/stbl/";

struct Video {
  Bytes headers;
  std::vector<Packet> packets;
};

inline Video coded(int pictures, const std::function<void(Config&)>& change = {}) {
  Config config;
  config.width = 50, config.height = 34;
  config.backend = BackendChoice::cpu;
  if (change) change(config);
  Encoder encoder(config);
  Bytes samples(50 * 34 * 3 / 2);
  Frame frame;
  frame.width = 50, frame.height = 34;
  frame.plane[0] = samples.data(), frame.plane[1] = samples.data() + 50 * 34,
  frame.plane[2] = frame.plane[1] + 25 * 17;
  frame.pitch[0] = 50, frame.pitch[1] = frame.pitch[2] = 25;
  Video video{encoder.headers(), {}};
  for (; frame.pts < pictures; ++frame.pts) {
    for (std::size_t i = 0; i < samples.size(); ++i)
      samples[i] = static_cast<std::uint8_t>(i * (3 + frame.pts) / 7);
    while (!encoder.send(frame)) video.packets.push_back(*encoder.receive());
  }
  encoder.flush();
  while (auto packet = encoder.receive()) video.packets.push_back(std::move(*packet));
  return video;
}

// Returns what a player reads of a packet: its NAL units, but for parameter sets, each after four bytes of
// length.
inline Bytes sample_of(const Packet& packet) {
  Bytes sample;
  for (const auto& nal : bitstream::split_annexb(packet.data).units) {
    if (nal.type() == bitstream::kNalSps || nal.type() == bitstream::kNalPps) continue;
    for (int shift = 24; shift >= 0; shift -= 8)
      sample.push_back(static_cast<std::uint8_t>(nal.unit.size() >> shift));
    sample.insert(sample.end(), nal.unit.begin(), nal.unit.end());
  }
  return sample;
}

inline Mp4Writer::Sink into(Bytes& file) {
  return [&file](ByteSpan bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); };
}

struct Timed {
  std::int64_t pts, duration;
};

inline Bytes written(const Video& video, Mp4Config config, const std::vector<Timed>& times) {
  Bytes file;
  config.headers = video.headers;
  Mp4Writer writer(config, into(file));
  for (std::size_t i = 0; i < times.size(); ++i)
    writer.write(video.packets[i].data, times[i].pts, times[i].duration);
  writer.finish();
  return file;
}

inline std::vector<Timed> evenly(int count, std::int64_t first = 0) {
  std::vector<Timed> times;
  for (int i = 0; i < count; ++i) times.push_back({first + i, 1});
  return times;
}

// The samples of the first track, found through stsc, stsz and stco.
inline std::vector<Bytes> samples_in(const Bytes& file) {
  const Box sizes = at(file, kSamples + "stsz"), chunks = at(file, kSamples + "stco"),
            map = at(file, kSamples + "stsc");
  std::vector<Bytes> samples;
  std::uint64_t run = 0, sample = 0;
  for (std::uint64_t chunk = 0; chunk < chunks.u32(4); ++chunk) {
    while (run + 1 < map.u32(4) && map.u32(8 + 12 * (run + 1)) <= chunk + 1) ++run;
    std::uint64_t offset = chunks.u32(8 + 4 * chunk);
    for (std::uint64_t i = 0; i < map.u32(8 + 12 * run + 4); ++i, ++sample) {
      const std::uint64_t size = sizes.u32(12 - 4 + 4 * (sample + 1));
      samples.emplace_back(file.begin() + static_cast<std::ptrdiff_t>(offset),
                           file.begin() + static_cast<std::ptrdiff_t>(offset + size));
      offset += size;
    }
  }
  EXPECT_EQ(sample, sizes.u32(8));
  return samples;
}

inline Mp4Audio aac() {
  return {Mp4Audio::Codec::aac, {0x11, 0x90}, 48000, 2};
}

inline Mp4Audio opus() {
  Bytes head = {'O', 'p', 'u', 's', 'H', 'e', 'a', 'd', 1, 2, 0x38, 1, 0x80, 0xbb, 0, 0, 0, 0, 0};
  return {Mp4Audio::Codec::opus, head, 48000, 2};
}

}  // namespace cu264::test
