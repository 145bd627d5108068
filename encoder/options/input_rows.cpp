// Options that say what the frames are, and where the stream's headers go.
#include "encoder/options/option_kinds.h"

namespace cu264::encoder {
namespace {

using Type = ConfigOption::Type;
using enum ConfigOption::Change;

constexpr OptionKind kSize = {
    Type::text,
    "WxH",
    nullptr,
    1,
    kMaxSide,
    [](Config& config, const OptionText& value) {
      int width = 0;
      int height = 0;
      const bool read = parse_pair(value.text, 'x', width, height);
      if (!read || width < 1 || height < 1 || width > kMaxSide || height > kMaxSide)
        value.reject("WIDTHxHEIGHT, each from 1 to " + std::to_string(kMaxSide) + ", as 1920x1080");
      config.width = width, config.height = height;
    },
    [](const Config& config) {
      const bool is_set = config.width > 0 && config.height > 0;
      return is_set ? std::to_string(config.width) + "x" + std::to_string(config.height) : "";
    },
    [](const Config& config, const char*) {
      require_range("width", config.width, 1, kMaxSide);
      require_range("height", config.height, 1, kMaxSide);
    }};

constexpr OptionChange kSizeChange = {
    next_clip, [](const ConfigChanges& changes) { return changes.width || changes.height; },
    [](const ConfigChanges& changes, Config& config) {
      config.width = changes.width.value_or(config.width);
      config.height = changes.height.value_or(config.height);
    },
    [](const Config& config, ConfigChanges& changes) {
      changes.width = config.width, changes.height = config.height;
    }};

constexpr OptionKind kFrameRate = {
    Type::ratio,
    "N[/D]",
    nullptr,
    0,
    0,
    [](Config& config, const OptionText& value) {
      config.frame_rate = parse_ratio(
          value, '/', false, "a positive number of frames a second, such as 25, 29.97 or 30000/1001");
    },
    [](const Config& config) { return ratio_text(config.frame_rate, '/'); },
    [](const Config& config, const char*) {
      require(config.frame_rate.num > 0 && config.frame_rate.den > 0, "the frame rate is not positive",
              "use a fraction such as 30000/1001");
    }};

constexpr OptionRow kInputRows[] = {
    {.name = "size",
     .kind = kSize,
     .meaning = "the size of the pictures",
     .about = "Width and height of the pictures, in luma samples.",
     .change = kSizeChange},
    {.name = "fps",
     .kind = kFrameRate,
     .meaning = "frame rate (25)",
     .field = "frame_rate",
     .keyword = "fps",
     .about = "Pictures a second.",
     .change = changes<Field<&Config::frame_rate>, &ConfigChanges::frame_rate>(next_clip)},
    {.name = "input-format",
     .kind = kChoice<Field<&Config::input_format>, kFormats>,
     .meaning = "pixel format of the frames (the first frame's)",
     .field = "input_format",
     .about = "Pixel format of all frames; the first frame's by default, unless that is RGB.",
     .value = "NAME"},
};

constexpr OptionRow kOutputRows[] = {
    {.name = "headers",
     .kind = kChoice<Field<&Config::headers>, kPlacements>,
     .meaning = "where SPS and PPS are: first, every or separate (first)",
     .field = "headers",
     .keyword = "headers",
     .about = "Where packets have the parameter sets: before the first picture, before each key picture, or "
              "in none of them. MP4 files keep them apart from the pictures in any case.",
     .value = "NAME"},
};

}  // namespace

std::span<const OptionRow> input_rows() {
  return kInputRows;
}

std::span<const OptionRow> output_rows() {
  return kOutputRows;
}

}  // namespace cu264::encoder
