// The line on a terminal that shows how far the encode is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace cu264::io {

struct ProgressState {
  std::int64_t frames = 0;
  std::int64_t expected_frames = 0;  // 0: unknown
  std::uint64_t bytes = 0;
  double video_seconds = 0;    // the length of what is coded so far
  double elapsed_seconds = 0;  // since the start
};

// Returns text such as "[ 42.0%] 420/1000 frames, 31.25 fps, 8123.4 kb/s, eta 0:00:18".
std::string progress_text(const ProgressState& state);

// Returns as many of the text's parts, which commas separate, as fit into the given number of columns; of the
// first part, what fits.
std::string fitted(const std::string& text, std::size_t columns);

class Progress {
 public:
  explicit Progress(bool shown) : shown_(shown) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Writes the line to stderr, at most five times a second.
  void update(const ProgressState& state) {
    show([&] { return progress_text(state); });
  }
  // Does the same with any one line of text, which is made only if it is going to be seen.
  template <typename MakeText>
  void show(const MakeText& make_text) {
    if (due()) write(make_text());
  }
  // Removes the line, so that other text can follow.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool due();
  void write(const std::string& text);

  bool shown_;
  bool on_screen_ = false;
  Clock::time_point last_{};
};

}  // namespace cu264::io
