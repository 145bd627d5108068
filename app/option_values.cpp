#include "app/option_values.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <system_error>

#include "cu264/status.h"

namespace cu264::app {
namespace {

Error bad_value(const std::string& option, const std::string& value, const std::string& accepted) {
  return Error(ErrorCode::invalid_argument, "bad --" + option + " \"" + value + "\"", "use " + accepted);
}

template <typename T>
bool parse_whole(const std::string& text, T& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

bool has_extension(const std::string& path, std::initializer_list<const char*> extensions) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

}  // namespace

std::int64_t parse_count(const std::string& option, const std::string& value) {
  std::int64_t number = 0;
  if (!parse_whole(value, number) || number < 1) throw bad_value(option, value, "a whole number from 1");
  return number;
}

std::uint32_t parse_density(const std::string& option, const std::string& value) {
  std::uint32_t number = 0;
  if (!parse_whole(value, number) || number < 1 || number > 65536)
    throw bad_value(option, value, "a whole number from 1 to 65536");
  return number;
}

int parse_from_zero(const std::string& option, const std::string& value) {
  int number = 0;
  if (!parse_whole(value, number) || number < 0) throw bad_value(option, value, "a whole number from 0");
  return number;
}

double parse_time(const std::string& option, const std::string& value) {
  constexpr double kMaxSeconds = 1e9;
  const auto reject = [&] {
    return bad_value(option, value, "seconds or hours:minutes:seconds, as 12.5 or 0:01:30");
  };
  double whole = 0;  // hours and minutes, as seconds
  std::string rest = value;
  for (std::size_t colon = rest.find(':'); colon != std::string::npos; colon = rest.find(':')) {
    int number = 0;
    if (!parse_whole(rest.substr(0, colon), number) || number < 0) throw reject();
    if (whole > 0 && number >= 60) throw reject();
    whole = (whole + number) * 60;
    rest.erase(0, colon + 1);
  }
  double seconds = 0;
  const bool read = parse_whole(rest, seconds) && std::count(value.begin(), value.end(), ':') <= 2;
  const bool in_range = seconds >= 0 && whole + seconds <= kMaxSeconds;  // false for NaN
  if (!read || !in_range || (rest != value && seconds >= 60)) throw reject();
  return whole + seconds;
}

std::pair<int, int> parse_size(const std::string& option, const std::string& value, int max_side) {
  const std::size_t at = value.find('x');
  int width = 0;
  int height = 0;
  const bool read = at != std::string::npos && parse_whole(value.substr(0, at), width) &&
                    parse_whole(value.substr(at + 1), height);
  if (!read || width < 1 || height < 1 || width > max_side || height > max_side) {
    throw bad_value(option, value,
                    "WIDTHxHEIGHT, each from 1 to " + std::to_string(max_side) + ", as 1920x1080");
  }
  return {width, height};
}

bool parse_auto_off(const std::string& option, const std::string& value) {
  if (value != "auto" && value != "off") throw bad_value(option, value, "auto or off");
  return value == "auto";
}

bool parse_on_off(const std::string& option, const std::string& value) {
  if (value != "on" && value != "off") throw bad_value(option, value, "on or off");
  return value == "on";
}

std::string parse_pixel_format(const std::string& option, const std::string& value) {
  const AVPixelFormat format = av_get_pix_fmt(value.c_str());
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(format);
  if (!descriptor || (descriptor->flags & AV_PIX_FMT_FLAG_HWACCEL)) {
    throw bad_value(option, value,
                    "a format as yuv420p, nv12, gray, yuv422p10le, rgb24; ffmpeg -pix_fmts lists all");
  }
  return value;
}

bool looks_like_raw_video(const std::string& path) {
  return has_extension(path, {".yuv", ".raw", ".rgb", ".i420", ".nv12", ".gray"});
}

bool looks_like_described_video(const std::string& path) {
  return has_extension(
      path, {".y4m", ".mp4", ".mov", ".mkv", ".webm", ".avi", ".ts", ".264", ".h264", ".png", ".jpg"});
}

}  // namespace cu264::app
