// Tests what the boxes of MP4 files say.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "io/mp4/movie_boxes.h"
#include "tests/unit/mp4_boxes.h"

namespace cu264::test {
namespace {

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
  // 2 pictures of 1/25 s: the rate of the file is that of its bytes
  const std::uint64_t bytes = sample_of(video.packets[0]).size() + sample_of(video.packets[1]).size();
  EXPECT_EQ(at(file, entry + "/btrt").u32(8), bytes * 8 * 25 / 2);
}

// avcC has the SPS and the PPS as the headers have them and, in High, the chroma format and the depths
// (ISO/IEC 14496-15, 5.3.3.1.2).
TEST(Mp4Writer, ConfigurationRecordOfAProfile) {
  for (const Profile profile : {Profile::baseline, Profile::main, Profile::high}) {
    const Video video = coded(1, [&](Config& config) { config.profile = profile; });
    const auto units = bitstream::split_annexb(video.headers).units;
    const auto size = [](const bitstream::NalUnit& nal) {
      return static_cast<std::uint8_t>(nal.unit.size());
    };
    Bytes record = {1, units[0].unit[1], units[0].unit[2], units[0].unit[3], 0xff, 0xe1, 0, size(units[0])};
    record.insert(record.end(), units[0].unit.begin(), units[0].unit.end());
    record.insert(record.end(), {1, 0, size(units[1])});
    record.insert(record.end(), units[1].unit.begin(), units[1].unit.end());
    if (profile == Profile::high) record.insert(record.end(), {0xfd, 0xf8, 0xf8, 0});
    const Bytes file = written(video, {}, evenly(1));
    const ByteSpan avcc = at(file, kSamples + "stsd/avc1/avcC").content;
    EXPECT_EQ(Bytes(avcc.begin(), avcc.end()), record);
  }
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

// The pictures that others depend on can be sought: stss and the flags of fragments name them.
TEST(Mp4Writer, ListsSyncSamplesWhereThereArePPictures) {
  const Video video = coded(7, [](Config& config) { config.gop = 3; });
  const Bytes file = written(video, {}, evenly(7));
  const Box sync = at(file, kSamples + "stss");
  ASSERT_EQ(sync.u32(4), 3u);
  EXPECT_EQ(sync.u32(8), 1u);
  EXPECT_EQ(sync.u32(12), 4u);
  EXPECT_EQ(sync.u32(16), 7u);
  EXPECT_EQ(samples_in(file).size(), 7u);

  Mp4Config config;
  config.fragmented = true;
  const Bytes fragments = written(video, config, evenly(7));
  const Box run = at(fragments, "moof/traf/trun");
  EXPECT_EQ(run.u32(0) & 0xffffff, 0x701u);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(run.u32(16 + 12 * i), sample_of(video.packets[i]).size());
    EXPECT_EQ(run.u32(20 + 12 * i), i % 3 == 0 ? 0x02000000u : 0x01010000u);
  }
  EXPECT_FALSE(find(written(coded(3), {}, evenly(3)), kSamples + "stss"));
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

}  // namespace
}  // namespace cu264::test
