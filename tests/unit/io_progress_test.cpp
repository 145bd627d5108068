// The text of the progress line.
#include "io/progress.h"

#include <gtest/gtest.h>

namespace cu264::io {
namespace {

TEST(Progress, Text) {
  ProgressState state;
  state.frames = 420, state.expected_frames = 1000, state.bytes = 1'000'000;
  state.video_seconds = 16, state.elapsed_seconds = 21;
  EXPECT_EQ(progress_text(state), "[ 42.0%] 420/1000 frames, 20.00 fps, 500.0 kb/s, eta 0:00:29");
}

TEST(Progress, WithoutAnExpectedLength) {
  ProgressState state;
  state.frames = 3, state.bytes = 100;
  EXPECT_EQ(progress_text(state), "3 frames, 0.00 fps, 0.0 kb/s") << "no time has passed yet";
}

TEST(Progress, MorePicturesThanAnnounced) {
  ProgressState state;
  state.frames = 30, state.expected_frames = 20, state.elapsed_seconds = 1;
  EXPECT_EQ(progress_text(state), "[100.0%] 30/20 frames, 30.00 fps, 0.0 kb/s, eta 0:00:00");
}

TEST(Progress, FitsNarrowTerminals) {
  const std::string text = "[ 42.0%] 420/1000 frames, 20.00 fps, 500.0 kb/s, eta 0:00:29";
  EXPECT_EQ(fitted(text, text.size()), text);
  EXPECT_EQ(fitted(text, text.size() - 1), "[ 42.0%] 420/1000 frames, 20.00 fps, 500.0 kb/s");
  EXPECT_EQ(fitted(text, 30), "[ 42.0%] 420/1000 frames");
  EXPECT_EQ(fitted(text, 8), "[ 42.0%]");
  EXPECT_EQ(fitted(text, 0), "");
}

}  // namespace
}  // namespace cu264::io
