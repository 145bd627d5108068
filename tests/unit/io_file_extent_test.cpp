// Files that say how long they are, cut at each of their bytes.
#include "io/file_extent.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "io/input_file.h"

namespace cu264::io {
namespace {

using namespace std::string_literals;

class FileExtent : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  bool is_cut(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;
    return !missing_end(InputFile(path_.string())).empty();
  }

  // Whole, with something after the end, and cut at every byte from `from` on.
  void check(const std::string& content, std::size_t from, const std::string& after = "") {
    EXPECT_FALSE(is_cut(content));
    EXPECT_FALSE(is_cut(content + after));
    for (std::size_t size = from; size < content.size(); ++size)
      EXPECT_TRUE(is_cut(content.substr(0, size))) << size;
  }

 private:
  std::filesystem::path path_ = testing::TempDir() + "cu264-extent-" + std::to_string(getpid());
};

TEST_F(FileExtent, Matroska) {
  const std::string header =
      "\x1a\x45\xdf\xa3\x84"
      "head"s;
  check(header + "\x18\x53\x80\x67\x94" + std::string(20, 'c'), 16, "more");
  EXPECT_FALSE(
      is_cut(header + "\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff" + "live"));  // of unknown size
}

TEST_F(FileExtent, Mp4) {
  const std::string type =
                        "\0\0\0\x10"
                        "ftypisom\0\0\0\0"s,
                    index =
                        "\0\0\0\x0c"
                        "moov1234"s;
  const std::string pictures =
      "\0\0\0\x14"
      "mdat123456789012"s;
  check(type + pictures + index, 44);
  EXPECT_TRUE(is_cut(type + "\0\0\1\0mdat"s + "few"));
  EXPECT_FALSE(is_cut(type + index + "\0\0\0\0mdat"s + "to the end"));
}

TEST_F(FileExtent, Gif) {
  const std::string screen =
      "GIF89a\2\0\2\0\x80\0\0"
      "blckwh"s;
  const std::string delay = "\x21\xf9\4\0\x0a\0\0\0"s, picture = "\x2c\0\0\0\0\2\0\2\0\0\2\3\x3b\x3b\x3b\0"s;
  check(screen + delay + picture + delay + picture + "\x3b", 20, "\0\0"s);
}

TEST_F(FileExtent, JpegAndTransportStream) {
  check("\xff\xd8\xff\xe0" + std::string(100, 'j') + "\xff\xd9", 20, "a camera's own");
  const std::string packet = "\x47" + std::string(187, 't');
  std::string stream;
  for (int i = 0; i < 4; ++i) stream += packet;
  EXPECT_FALSE(is_cut(stream));
  EXPECT_TRUE(is_cut(stream.substr(0, 700)));
}

TEST_F(FileExtent, SaysNothingOfOthers) {
  EXPECT_FALSE(is_cut("YUV4MPEG2 W2 H2"));
  EXPECT_FALSE(is_cut(""));
  EXPECT_FALSE(is_cut(std::string(1000, '\0')));
}

}  // namespace
}  // namespace cu264::io
