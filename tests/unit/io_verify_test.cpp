// Verification finds what differs, in files that are muxed here.
#include "io/verify.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cu264/encoder.h"
#include "io/muxer.h"
#include "io/picture_hash.h"

namespace cu264::io {
namespace {

constexpr int kWidth = 48;
constexpr int kHeight = 32;
constexpr int kPictures = 4;

struct Written {
  std::string path;
  std::vector<std::uint64_t> hashes;
};

// A few pictures with moving stripes.
Written write_file(Container container, const std::string& name) {
  Config config;
  config.width = kWidth, config.height = kHeight, config.threads = 1, config.reconstruction = true;
  Encoder encoder(config);
  MuxerOptions options;
  options.container = container;
  options.video.width = kWidth, options.video.height = kHeight;
  options.headers = encoder.headers();
  Written written;
  written.path = (std::filesystem::path(testing::TempDir()) / name).string();
  OutputFile file(written.path);
  Muxer muxer(file, options);
  const auto write = [&](const Packet& packet) {
    muxer.write(packet.data, packet.pts, 1);
    written.hashes.push_back(hash_planar(packet.reconstruction.data(), kWidth, kHeight));
  };
  std::vector<std::uint8_t> samples(kWidth * kHeight * 3 / 2);
  for (int picture = 0; picture < kPictures; ++picture) {
    for (std::size_t i = 0; i < samples.size(); ++i)
      samples[i] = static_cast<std::uint8_t>(i * 7 + picture * 40);
    Frame frame;
    frame.width = kWidth, frame.height = kHeight, frame.pts = picture;
    frame.plane[0] = samples.data(), frame.pitch[0] = kWidth;
    frame.plane[1] = samples.data() + kWidth * kHeight, frame.pitch[1] = kWidth / 2;
    frame.plane[2] = frame.plane[1] + kWidth * kHeight / 4, frame.pitch[2] = kWidth / 2;
    while (!encoder.send(frame)) write(*encoder.receive());
  }
  encoder.flush();
  while (const auto packet = encoder.receive()) write(*packet);
  muxer.finish();
  file.commit();
  return written;
}

std::string verdict(const Written& written, Container container) {
  set_up_av();
  try {
    verify_file(written.path, "file", container, kWidth, kHeight, written.hashes);
    return "good";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::verify_failure) << error.what();
    return error.what();
  }
}

class Verify : public testing::TestWithParam<Container> {
 protected:
  void TearDown() override { std::filesystem::remove(std::filesystem::path(testing::TempDir()) / name()); }

  // Test cases may run at the same time as processes of their own.
  static std::string name() {
    std::string name = std::string("cu264_") + testing::UnitTest::GetInstance()->current_test_info()->name();
    for (char& c : name) c = c == '/' ? '_' : c;
    return name;
  }
};

TEST_P(Verify, AcceptsWhatWasWritten) {
  EXPECT_EQ(verdict(write_file(GetParam(), name()), GetParam()), "good");
}

TEST_P(Verify, NamesTheFirstPictureThatDiffers) {
  Written written = write_file(GetParam(), name());
  written.hashes[2] ^= 1, written.hashes[3] ^= 1;
  EXPECT_NE(verdict(written, GetParam()).find("picture 2 "), std::string::npos)
      << verdict(written, GetParam());
}

TEST_P(Verify, CountsPictures) {
  Written written = write_file(GetParam(), name());
  written.hashes.push_back(1);
  EXPECT_NE(verdict(written, GetParam()).find("5 pictures were written, 4 decoded"), std::string::npos);
  written.hashes.resize(3);
  EXPECT_NE(verdict(written, GetParam()).find("3 pictures were written, 4 decoded"), std::string::npos);
}

TEST_P(Verify, RefusesADamagedFile) {
  const Written written = write_file(GetParam(), name());
  std::filesystem::resize_file(written.path, std::filesystem::file_size(written.path) * 2 / 3);
  EXPECT_NE(verdict(written, GetParam()), "good");
}

INSTANTIATE_TEST_SUITE_P(Containers, Verify,
                         testing::Values(Container::h264, Container::mp4, Container::mov, Container::mkv,
                                         Container::ts));

}  // namespace
}  // namespace cu264::io
