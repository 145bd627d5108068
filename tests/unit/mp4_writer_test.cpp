// MP4 files, taken apart box by box.
#include "cu264/mp4.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "common/bitstream/nal_unit.h"
#include "io/mp4/movie_boxes.h"

namespace cu264 {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

std::uint64_t number(ByteSpan bytes, std::size_t at, int length) {
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

std::vector<Box> boxes(ByteSpan in) {
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
std::optional<Box> find(ByteSpan in, std::string_view path) {
  std::string name(path.substr(0, path.find('/')));
  std::size_t skip = 0;
  if (const auto colon = name.find(':'); colon != std::string::npos) {
    skip = std::stoul(name.substr(colon + 1)), name.resize(colon);
  }
  for (const Box& box : boxes(in)) {
    if (box.type != name || skip-- > 0) continue;
    if (path.find('/') == std::string_view::npos) return box;
    // Behind these come other fields before the boxes inside.
    const std::size_t fields = name == "stsd"                     ? 8
                               : name == "avc1"                   ? 78
                               : name == "mp4a" || name == "Opus" ? 28
                                                                  : 0;
    return find(box.content.subspan(fields), path.substr(path.find('/') + 1));
  }
  return std::nullopt;
}

Box at(ByteSpan in, std::string_view path) {
  const auto box = find(in, path);
  if (!box) throw std::runtime_error("no box " + std::string(path));
  return *box;
}

const std::string kSamples = "moov/trak/mdia/minf/stbl/";

struct Video {
  Bytes headers;
  std::vector<Packet> packets;
};

Video coded(int pictures, const std::function<void(Config&)>& change = {}) {
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

// What a player reads of a packet: its NAL units, but for parameter sets, each behind four bytes of length.
Bytes sample_of(const Packet& packet) {
  Bytes sample;
  for (const auto& nal : bitstream::split_annexb(packet.data).units) {
    if (nal.type() == bitstream::kNalSps || nal.type() == bitstream::kNalPps) continue;
    for (int shift = 24; shift >= 0; shift -= 8)
      sample.push_back(static_cast<std::uint8_t>(nal.unit.size() >> shift));
    sample.insert(sample.end(), nal.unit.begin(), nal.unit.end());
  }
  return sample;
}

Mp4Writer::Sink into(Bytes& file) {
  return [&file](ByteSpan bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); };
}

struct Timed {
  std::int64_t pts, duration;
};

Bytes written(const Video& video, Mp4Config config, const std::vector<Timed>& times) {
  Bytes file;
  config.headers = video.headers;
  Mp4Writer writer(config, into(file));
  for (std::size_t i = 0; i < times.size(); ++i)
    writer.write(video.packets[i].data, times[i].pts, times[i].duration);
  writer.finish();
  return file;
}

std::vector<Timed> evenly(int count, std::int64_t first = 0) {
  std::vector<Timed> times;
  for (int i = 0; i < count; ++i) times.push_back({first + i, 1});
  return times;
}

// The samples of the first track, found through stsc, stsz and stco.
std::vector<Bytes> samples_in(const Bytes& file) {
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

TEST(Mp4Writer, PutsTheIndexBeforeTheSamplesAndFindsThemThere) {
  const Video video = coded(60);
  const Bytes file = written(video, {}, evenly(60));
  std::string order;
  for (const Box& box : boxes(file)) order += box.type + " ";
  EXPECT_EQ(order, "ftyp moov mdat ");
  const std::vector<Bytes> samples = samples_in(file);
  ASSERT_EQ(samples.size(), 60u);
  for (std::size_t i = 0; i < samples.size(); ++i) EXPECT_EQ(samples[i], sample_of(video.packets[i])) << i;
  EXPECT_GT(at(file, kSamples + "stco").u32(4), 1u) << "a chunk is about a second";
  EXPECT_FALSE(find(file, kSamples + "stss")) << "every picture is a sync sample";
  EXPECT_FALSE(find(file, "moov/trak/edts"));
  const Box header = at(file, "moov/trak/mdia/mdhd");
  EXPECT_EQ(header.u32(16) * 25, header.u32(12) * 60) << "60 pictures at 25 a second";
}

TEST(Mp4Writer, DescribesTheStreamAsItsHeadersDo) {
  const Video video = coded(2, [](Config& config) {
    config.sample_aspect_ratio = {16, 11};
    config.colour = {1, 13, 6, true};
  });
  const Bytes file = written(video, {}, evenly(2));
  const std::string entry = kSamples + "stsd/avc1";
  EXPECT_EQ(number(at(file, entry).content, 24, 2), 50u);
  EXPECT_EQ(number(at(file, entry).content, 26, 2), 34u);
  const Box ratio = at(file, entry + "/pasp");
  EXPECT_EQ(ratio.u32(0), 16u);
  EXPECT_EQ(ratio.u32(4), 11u);
  const ByteSpan colour = at(file, entry + "/colr").content;
  EXPECT_EQ(std::string(colour.begin(), colour.begin() + 4), "nclx");
  EXPECT_EQ(Bytes(colour.begin() + 4, colour.end()), (Bytes{0, 1, 0, 13, 0, 6, 0x80}));
  EXPECT_EQ(at(file, "moov/trak/tkhd").u32(76), ((50u << 16) * 16 + 5) / 11) << "the width as shown";
  // avcC: the SPS and the PPS as the headers have them
  const auto units = bitstream::split_annexb(video.headers).units;
  Bytes record = {1,
                  units[0].unit[1],
                  units[0].unit[2],
                  units[0].unit[3],
                  0xff,
                  0xe1,
                  0,
                  static_cast<std::uint8_t>(units[0].unit.size())};
  record.insert(record.end(), units[0].unit.begin(), units[0].unit.end());
  record.insert(record.end(), {1, 0, static_cast<std::uint8_t>(units[1].unit.size())});
  record.insert(record.end(), units[1].unit.begin(), units[1].unit.end());
  const ByteSpan avcc = at(file, entry + "/avcC").content;
  EXPECT_EQ(Bytes(avcc.begin(), avcc.end()), record);
  // 2 pictures of 1/25 s: the rate of the file is that of its bytes
  const std::uint64_t bytes = sample_of(video.packets[0]).size() + sample_of(video.packets[1]).size();
  EXPECT_EQ(at(file, entry + "/btrt").u32(8), bytes * 8 * 25 / 2);
}

TEST(Mp4Writer, SaysNothingThatTheStreamDoesNotSay) {
  const Bytes file = written(coded(1), {}, evenly(1));
  EXPECT_FALSE(find(file, kSamples + "stsd/avc1/colr"));
  EXPECT_FALSE(find(file, kSamples + "stsd/avc1/pasp"));
}

TEST(Mp4Writer, KeepsVariableDurationsExactly) {
  Mp4Config config;
  config.time_base = {1001, 30000};
  const Bytes file = written(coded(4), config, {{0, 1}, {1, 1}, {5, 1}, {6, 3}});
  const Box durations = at(file, kSamples + "stts");
  EXPECT_EQ(at(file, "moov/trak/mdia/mdhd").u32(12), 30000u);
  ASSERT_EQ(durations.u32(4), 4u);
  const std::uint64_t expected[] = {1001, 4 * 1001, 1001, 3 * 1001};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(durations.u32(8 + 8 * i), 1u);
    EXPECT_EQ(durations.u32(12 + 8 * i), expected[i]);
  }
}

TEST(Mp4Writer, TellsALateAndAnEarlyBeginningInTheEditList) {
  const Video video = coded(3);
  const Bytes late = written(video, {}, evenly(3, 50));
  const std::uint64_t second = at(late, "moov/mvhd").u32(12);
  const Box list = at(late, "moov/trak/edts/elst");
  ASSERT_EQ(list.u32(4), 2u);
  EXPECT_EQ(list.u32(8), 2 * second);
  EXPECT_EQ(list.u32(12), 0xffffffffu);  // nothing is shown
  EXPECT_EQ(list.u32(20) * 25, 3 * second);
  EXPECT_EQ(list.u32(24), 0u);
  EXPECT_EQ(at(late, "moov/mvhd").u32(16) * 25, 53 * second);
  const Bytes early = written(video, {}, evenly(3, -1));
  const Box cut = at(early, "moov/trak/edts/elst");
  ASSERT_EQ(cut.u32(4), 1u);
  EXPECT_EQ(cut.u32(8) * 25, 2 * second);
  EXPECT_EQ(cut.u32(12) * 25, second);
}

TEST(Mp4Writer, WritesFragmentsThatHoldNoMoreThanASecond) {
  const Video video = coded(60);
  Mp4Config config;
  config.fragmented = true;
  const Bytes file = written(video, config, evenly(60, 25));
  EXPECT_EQ(at(file, "moov/trak/mdia/minf/stbl/stsz").u32(8), 0u);
  EXPECT_EQ(at(file, "moov/mvex/trex").u32(20), 0x02000000u);
  const std::uint64_t second = at(file, "moov/trak/mdia/mdhd").u32(12);
  std::size_t begin = 0, picture = 0, fragments = 0;
  for (const Box& box : boxes(file)) {
    if (box.type == "moof") {
      ++fragments;
      EXPECT_EQ(at(box.content, "mfhd").u32(4), fragments);
      EXPECT_EQ(at(box.content, "traf/tfdt").u64(4) * 25, (picture + 25) * second);
      const Box run = at(box.content, "traf/trun");
      std::size_t from = begin + run.u32(8);
      EXPECT_LE(run.u32(4), 25u);
      for (std::size_t i = 0; i < run.u32(4); ++i, ++picture) {
        EXPECT_EQ(run.u32(12 + 8 * i) * 25, second);
        const std::size_t size = run.u32(16 + 8 * i);
        EXPECT_EQ(Bytes(file.begin() + static_cast<std::ptrdiff_t>(from),
                        file.begin() + static_cast<std::ptrdiff_t>(from + size)),
                  sample_of(video.packets[picture]));
        from += size;
      }
    }
    begin = box.end;
  }
  EXPECT_EQ(picture, 60u);
  EXPECT_EQ(fragments, 3u);
}

TEST(Mp4Writer, EndsAFragmentWhenAsked) {
  const Video video = coded(3);
  Mp4Config config;
  config.fragmented = true, config.headers = video.headers;
  Bytes file;
  Mp4Writer writer(config, into(file));
  writer.end_fragment();
  EXPECT_TRUE(file.empty()) << "there is nothing to write yet";
  writer.write(video.packets[0].data, 0, 1);
  EXPECT_TRUE(file.empty());
  writer.end_fragment();
  EXPECT_EQ(boxes(file).back().content.size(), sample_of(video.packets[0]).size());
  const std::size_t before = file.size();
  writer.end_fragment();
  EXPECT_EQ(file.size(), before);
  writer.finish();
  EXPECT_EQ(file.size(), before);
}

Mp4Audio aac() {
  return {Mp4Audio::Codec::aac, {0x11, 0x90}, 48000, 2};
}

Mp4Audio opus() {
  Bytes head = {'O', 'p', 'u', 's', 'H', 'e', 'a', 'd', 1, 2, 0x38, 1, 0x80, 0xbb, 0, 0, 0, 0, 0};
  return {Mp4Audio::Codec::opus, head, 48000, 2};
}

TEST(Mp4Writer, AddsAudioAndCutsItsPriming) {
  const Video video = coded(2);
  Mp4Config config;
  config.headers = video.headers, config.audio = aac();
  Bytes file;
  Mp4Writer writer(config, into(file));
  const Bytes packets[] = {Bytes(7, 1), Bytes(9, 2), Bytes(11, 3)};
  writer.write_audio(packets[0], -1024, 1024);
  writer.write(video.packets[0].data, 0, 1);
  writer.write_audio(packets[1], 0, 1024);
  writer.write_audio(packets[2], 1024, 1024);
  writer.write(video.packets[1].data, 1, 1);
  writer.finish();
  const std::string samples = "moov/trak:1/mdia/minf/stbl/";
  const ByteSpan esds = at(file, samples + "stsd/mp4a/esds").content;
  EXPECT_NE(std::search(esds.begin(), esds.end(), config.audio->config.begin(), config.audio->config.end()),
            esds.end());
  EXPECT_EQ(at(file, "moov/trak:1/edts/elst").u32(12), 1024u);
  const Box chunks = at(file, samples + "stco");
  ASSERT_EQ(chunks.u32(4), 2u);
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(file[chunks.u32(8) + i], 1);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(file[chunks.u32(12) + i], 2);
  EXPECT_EQ(file[chunks.u32(12) + 9], 3);
  EXPECT_EQ(samples_in(file)[1], sample_of(video.packets[1]));
}

TEST(Mp4Writer, DescribesOpus) {
  const Video video = coded(1);
  Mp4Config config;
  config.headers = video.headers, config.audio = opus();
  Bytes file;
  Mp4Writer writer(config, into(file));
  writer.write(video.packets[0].data, 0, 1);
  for (int i = 0; i < 3; ++i) writer.write_audio(Bytes(5, 1), 960 * i - 312, 960);
  writer.finish();
  const std::string samples = "moov/trak:1/mdia/minf/stbl/";
  const ByteSpan dops = at(file, samples + "stsd/Opus/dOps").content;
  EXPECT_EQ(Bytes(dops.begin(), dops.end()), (Bytes{0, 2, 1, 0x38, 0, 0, 0xbb, 0x80, 0, 0, 0}));
  const ByteSpan roll = at(file, samples + "sgpd").content;
  EXPECT_EQ(number(roll, 16, 2), 0x10000u - 4) << "80 ms are four packets";
}

TEST(Mp4Writer, OffsetsHave64BitsWhereTheyNeedThem) {
  const Video video = coded(1);
  mp4::Movie movie{mp4::AvcStream(video.headers), mp4::Track("video", {1, 25}), {}, {}};
  const std::uint64_t size = std::uint64_t{1} << 31;
  for (int i = 0; i < 3; ++i) movie.video_track.add(size, 25 * i, 25, size * static_cast<std::uint64_t>(i));
  const Bytes head = mp4::file_head(movie, 3 * size);
  EXPECT_FALSE(find(ByteSpan(head).first(head.size() - 16), kSamples + "stco"));
  const Box offsets = at(ByteSpan(head).first(head.size() - 16), kSamples + "co64");
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(offsets.u64(8 + 8 * i), head.size() + size * i);
  EXPECT_EQ(number(head, head.size() - 16, 4), 1u);
  EXPECT_EQ(number(head, head.size() - 8, 8), 3 * size + 16);
}

TEST(Mp4Writer, AMemoryThatTakesTheIndexInFrontGivesTheSameFile) {
  const Video video = coded(30);
  Mp4Config config;
  config.headers = video.headers;
  Bytes file;
  std::size_t before_the_end = 0;
  Mp4Writer writer(config, into(file), [&](ByteSpan head) {
    before_the_end = file.size();
    file.insert(file.begin(), head.begin(), head.end());
  });
  for (int i = 0; i < 30; ++i) writer.write(video.packets[static_cast<std::size_t>(i)].data, i, 1);
  EXPECT_GT(file.size(), 0u) << "samples are not kept";
  writer.finish();
  EXPECT_GT(before_the_end, 0u);
  EXPECT_EQ(file, written(video, {}, evenly(30)));
}

class Mp4File : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "cu264-mp4-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path() const { return (folder_ / "out.mp4").string(); }
  long files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

  fs::path folder_;
};

TEST_F(Mp4File, IsTheSameAsInMemory) {
  const Video video = coded(40);
  Mp4Config config;
  config.headers = video.headers;
  Mp4Writer writer(config, path());
  for (int i = 0; i < 40; ++i) writer.write(video.packets[static_cast<std::size_t>(i)].data, i, 1);
  writer.finish();
  std::ifstream in(path(), std::ios::binary);
  const Bytes file{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(file, written(video, {}, evenly(40)));
}

TEST_F(Mp4File, IsNotThereUnlessItIsFinished) {
  const Video video = coded(2);
  Mp4Config config;
  config.headers = video.headers;
  {
    Mp4Writer writer(config, path());
    writer.write(video.packets[0].data, 0, 1);
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(Mp4File, IsNotThereIfTheDiskIsFull) {
  const Video video = coded(60);
  Mp4Config config;
  config.headers = video.headers;
  const auto limit = [](rlim_t bytes) {
    const rlimit old = [] {
      rlimit r;
      getrlimit(RLIMIT_FSIZE, &r);
      return r;
    }();
    const rlimit now{bytes, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
    return old.rlim_cur;
  };
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlim_t before = limit(2000);
  try {
    Mp4Writer writer(config, path());
    for (int i = 0; i < 60; ++i) writer.write(video.packets[static_cast<std::size_t>(i)].data, i, 1);
    writer.finish();
    ADD_FAILURE() << "the file has more than 2000 bytes";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_output);
  }
  limit(before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(files(), 0);
}

TEST(Mp4Writer, PassesOnWhatItsSinkThrowsAndWritesNoMore) {
  const Video video = coded(2);
  Mp4Config config;
  config.headers = video.headers, config.fragmented = true;
  Mp4Writer writer(config, [](ByteSpan) { throw std::length_error("full"); });
  writer.write(video.packets[0].data, 0, 1);
  EXPECT_THROW(writer.end_fragment(), std::length_error);
  EXPECT_THROW(writer.write(video.packets[1].data, 1, 1), Error);
  EXPECT_THROW(writer.finish(), Error);
}

TEST(Mp4Writer, RefusesWhatCannotBeWritten) {
  const Video video = coded(2), other = coded(2, [](Config&config) {
                                  config.sample_aspect_ratio = {4, 3};
                                  config.headers = HeaderPlacement::every_packet;
                                });
  Bytes file;
  Mp4Config config;
  EXPECT_THROW(Mp4Writer(config, into(file)), Error) << "no headers";
  config.headers = video.headers;
  const auto refused = [&](const std::function<void(Mp4Writer&)>& calls, Mp4Config changed) {
    Mp4Writer writer(changed, into(file));
    EXPECT_THROW(calls(writer), Error);
  };
  const ByteSpan first = video.packets[0].data, second = video.packets[1].data;
  refused([&](Mp4Writer& w) { w.write(first, 0, 0); }, config);
  refused([&](Mp4Writer& w) { w.write(first, 3, 1), w.write(second, 3, 1); }, config);
  refused([&](Mp4Writer& w) { w.write(first, std::int64_t{1} << 60, 1); }, config);
  refused([&](Mp4Writer& w) { w.write(other.packets[1].data, 0, 1); }, config);
  refused([&](Mp4Writer& w) { w.write(video.headers, 0, 1); }, config);
  refused([&](Mp4Writer& w) { w.write_audio(Bytes(4), 0, 1); }, config);
  refused([&](Mp4Writer& w) { w.finish(), w.finish(); }, config);
  const auto refused_audio = [&](const std::function<void(Mp4Audio&)>& change, Mp4Audio audio) {
    change(audio);
    Mp4Config with_audio = config;
    with_audio.audio = audio;
    EXPECT_THROW(Mp4Writer(with_audio, into(file)), Error);
  };
  refused_audio([](Mp4Audio& a) { a.config.clear(); }, aac());
  refused_audio([](Mp4Audio& a) { a.channels = 0; }, aac());
  refused_audio([](Mp4Audio& a) { a.sample_rate = 44100; }, opus());
  refused_audio([](Mp4Audio& a) { a.config[0] = 'X'; }, opus());
}

}  // namespace
}  // namespace cu264
