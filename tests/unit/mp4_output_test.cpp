// Tests where MP4 files go: to memory, to a disk, to whoever throws; and what is refused.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "tests/unit/mp4_boxes.h"

namespace cu264::test {
namespace {

namespace fs = std::filesystem;

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
}  // namespace cu264::test
