#include "io/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace cu264::io {
namespace {

// Returns the number of columns of the terminal that stderr is, or many if it does not say.
std::size_t terminal_columns() {
  constexpr std::size_t kMany = 1000;
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kMany;
}

}  // namespace

std::string progress_text(const ProgressState& state) {
  const double fps = state.elapsed_seconds > 0 ? state.frames / state.elapsed_seconds : 0;
  const double rate = state.video_seconds > 0 ? state.bytes * 8 / state.video_seconds / 1000 : 0;
  char text[160];
  std::string line;
  if (state.expected_frames > 0) {
    const double done = std::min(1.0, static_cast<double>(state.frames) / state.expected_frames);
    std::snprintf(text, sizeof text, "[%5.1f%%] %lld/%lld frames", 100 * done,
                  static_cast<long long>(state.frames), static_cast<long long>(state.expected_frames));
  } else {
    std::snprintf(text, sizeof text, "%lld frames", static_cast<long long>(state.frames));
  }
  line = text;
  std::snprintf(text, sizeof text, ", %.2f fps, %.1f kb/s", fps, rate);
  line += text;
  if (state.expected_frames > 0 && fps > 0) {
    const auto left =
        static_cast<long long>(std::max<double>(0, state.expected_frames - state.frames) / fps + .5);
    std::snprintf(text, sizeof text, ", eta %lld:%02lld:%02lld", left / 3600, left / 60 % 60, left % 60);
    line += text;
  }
  return line;
}

std::string fitted(const std::string& text, std::size_t columns) {
  if (text.size() <= columns) return text;
  const std::size_t comma = text.rfind(", ", columns);
  return text.substr(0, comma == std::string::npos ? columns : comma);
}

bool Progress::due() {
  if (!shown_) return false;
  const Clock::time_point now = Clock::now();
  if (on_screen_ && now - last_ < std::chrono::milliseconds(200)) return false;
  last_ = now, on_screen_ = true;
  return true;
}

void Progress::write(const std::string& text) {
  // The line consists of a carriage return, the text, and the code that erases the rest of the line. It must
  // not reach the last column, after which a terminal begins another line.
  std::fprintf(stderr, "\r%s\x1b[K", fitted(text, terminal_columns() - 1).c_str());
  std::fflush(stderr);
}

void Progress::clear() {
  if (!on_screen_) return;
  std::fprintf(stderr, "\r\x1b[K");
  on_screen_ = false;
}

}  // namespace cu264::io
