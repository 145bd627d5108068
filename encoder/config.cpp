#include "encoder/config.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <system_error>
#include <utility>

#include "core/colour.h"
#include "encoder/frame_layout.h"

namespace cu264 {
namespace {

using encoder::kMaxBatch;
using encoder::kMaxDevices;
using encoder::kMaxSide;
using encoder::kMaxThreads;

template <typename T>
struct Named {
  const char* name;
  T value;
};

constexpr Named<Preset> kPresets[] = {
    {"fast", Preset::fast}, {"balanced", Preset::balanced}, {"best", Preset::best}};
constexpr Named<Profile> kProfiles[] = {{"baseline", Profile::baseline}};
constexpr Named<BackendChoice> kBackends[] = {
    {"auto", BackendChoice::automatic}, {"cuda", BackendChoice::cuda}, {"cpu", BackendChoice::cpu}};
constexpr Named<HeaderPlacement> kPlacements[] = {{"first", HeaderPlacement::first_packet},
                                                  {"every", HeaderPlacement::every_packet},
                                                  {"separate", HeaderPlacement::separate}};
constexpr Named<PixelFormat> kFormats[] = {{"i420", PixelFormat::i420},
                                           {"nv12", PixelFormat::nv12},
                                           {"gray8", PixelFormat::gray8},
                                           {"rgb24", PixelFormat::rgb24},
                                           {"bgr24", PixelFormat::bgr24},
                                           {"rgba32", PixelFormat::rgba32},
                                           {"rgb-planar", PixelFormat::rgb_planar},
                                           {"rgb-float-planar", PixelFormat::rgb_float_planar}};
constexpr Named<AdaptiveQuantisation> kAqs[] = {{"off", AdaptiveQuantisation::off},
                                                {"variance", AdaptiveQuantisation::variance}};
constexpr Named<bool> kRanges[] = {{"limited", false}, {"full", true}};
constexpr Named<bool> kSwitches[] = {{"on", true},   {"off", false},   {"yes", true}, {"no", false},
                                     {"true", true}, {"false", false}, {"1", true},   {"0", false}};

// The text of one option, and the error that every fault of it ends in.
struct Value {
  std::string_view name;
  std::string_view text;

  [[noreturn]] void reject(const std::string& accepted) const {
    throw Error(ErrorCode::invalid_argument, "bad " + std::string(name) + " \"" + std::string(text) + "\"",
                "use " + accepted);
  }
};

// The whole of `text` as a decimal number.
bool parse_number(std::string_view text, int& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

int parse_integer(const Value& value, int low, int high) {
  int number = 0;
  if (!parse_number(value.text, number) || number < low || number > high) {
    value.reject("a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return number;
}

template <typename T, std::size_t n>
T parse_name(const Value& value, const Named<T> (&names)[n]) {
  std::string accepted;
  for (std::size_t i = 0; i < n; ++i) {
    if (value.text == names[i].name) return names[i].value;
    if (i > 0) accepted += i + 1 == n ? " or " : ", ";
    accepted += names[i].name;
  }
  value.reject(accepted);
}

// "0,2,3": each once.
std::vector<int> parse_devices(const Value& value) {
  std::vector<int> devices;
  std::string_view rest = value.text;
  while (true) {
    const std::size_t comma = rest.find(',');
    int device = 0;
    const bool read = parse_number(rest.substr(0, comma), device);
    const bool known = std::find(devices.begin(), devices.end(), device) != devices.end();
    if (!read || device < 0 || device >= kMaxDevices || known) {
      value.reject("the devices' numbers, each once, as 0 or 0,1");
    }
    devices.push_back(device);
    if (comma == std::string_view::npos) return devices;
    rest.remove_prefix(comma + 1);
  }
}

// "a<separator>b" as two numbers.
bool parse_pair(std::string_view text, char separator, int& first, int& second) {
  const std::size_t at = text.find(separator);
  return at != std::string_view::npos && parse_number(text.substr(0, at), first) &&
         parse_number(text.substr(at + 1), second);
}

// "29.97" as 2997/100
bool parse_decimal(std::string_view text, Rational& value) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return false;
  const std::size_t decimals = text.size() - point - 1;
  if (decimals < 1 || decimals > 6) return false;
  std::string digits(text.substr(0, point));
  value.den = 1;
  for (const char digit : text.substr(point + 1)) digits += digit, value.den *= 10;
  return parse_number(digits, value.num);
}

// Whether zero is allowed ("unspecified") is the option's matter.
Rational parse_rational(const Value& value, char separator, bool zero, const std::string& accepted) {
  Rational r;
  const bool read = parse_pair(value.text, separator, r.num, r.den) || parse_number(value.text, r.num) ||
                    (separator == '/' && parse_decimal(value.text, r));
  if (!read || r.den <= 0 || r.num < 0 || (r.num == 0 && !zero)) value.reject(accepted);
  return encoder::reduced(r);
}

void require(bool condition, const std::string& cause, const std::string& remedy) {
  if (!condition) throw Error(ErrorCode::invalid_argument, cause, remedy);
}

void require_range(const char* name, int value, int low, int high) {
  require(value >= low && value <= high, std::string(name) + " " + std::to_string(value) + " is out of range",
          "use " + std::to_string(low) + " to " + std::to_string(high));
}

}  // namespace

void Config::set(std::string_view name, std::string_view text) {
  const Value value{name, text};
  if (name == "qp") {
    qp = parse_integer(value, 0, 51);
  } else if (name == "preset") {
    preset = parse_name(value, kPresets);
  } else if (name == "profile") {
    profile = parse_name(value, kProfiles);
  } else if (name == "slices") {
    slices = parse_integer(value, 1, kMaxSide / 16);
  } else if (name == "deblock") {
    deblock = parse_name(value, kSwitches);
  } else if (name == "backend") {
    backend = parse_name(value, kBackends);
  } else if (name == "threads") {
    threads = parse_integer(value, 0, kMaxThreads);
  } else if (name == "batch") {
    batch = parse_integer(value, 0, kMaxBatch);
  } else if (name == "device") {
    devices = parse_devices(value);
  } else if (name == "input-format") {
    input_format = parse_name(value, kFormats);
  } else if (name == "fps") {
    frame_rate =
        parse_rational(value, '/', false, "a positive number of frames a second, as 25, 29.97 or 30000/1001");
  } else if (name == "sar") {
    sample_aspect_ratio = parse_rational(value, ':', true, "a ratio as 16:11, or 0 for unspecified");
  } else if (name == "range") {
    colour.full_range = parse_name(value, kRanges);
  } else if (name == "size") {
    int w = 0;
    int h = 0;
    const bool read = parse_pair(text, 'x', w, h);
    if (!read || w < 1 || h < 1 || w > kMaxSide || h > kMaxSide) {
      value.reject("WIDTHxHEIGHT, each from 1 to " + std::to_string(kMaxSide) + ", as 1920x1080");
    }
    width = w, height = h;
  } else if (name == "edge-guided") {
    edge_guided = parse_integer(value, 0, kStrongestEdgeGuide);
  } else if (name == "aq") {
    aq = parse_name(value, kAqs);
  } else if (name == "headers") {
    headers = parse_name(value, kPlacements);
  } else {
    throw Error(ErrorCode::invalid_argument, "unknown option \"" + std::string(name) + "\"",
                "use qp, preset, profile, slices, deblock, backend, threads, batch, device, fps, sar, range, "
                "size, headers, input-format, edge-guided or aq");
  }
}

namespace encoder {

const char* name_of(Preset preset) {
  for (const auto& named : kPresets) {
    if (named.value == preset) return named.name;
  }
  throw Error(ErrorCode::invalid_argument, "unknown preset", "use fast, balanced or best");
}

const char* name_of(PixelFormat format) {
  for (const auto& named : kFormats) {
    if (named.value == format) return named.name;
  }
  throw Error(ErrorCode::invalid_argument, "unknown pixel format", "use one of cu264::PixelFormat");
}

bool converts_rgb(const Config& config) {
  return config.input_format && is_rgb(*config.input_format);
}

Colour coded_colour(const Config& config) {
  constexpr int kUnspecified = 2, kBt709 = 1, kBt601 = 6;
  Colour colour = config.colour;
  if (converts_rgb(config) && colour.matrix == kUnspecified)
    colour.matrix = config.height >= 720 ? kBt709 : kBt601;
  return colour;
}

Rational reduced(Rational value) {
  const int common = std::gcd(value.num, value.den);
  return common > 1 ? Rational{value.num / common, value.den / common} : value;
}

void validate(const Config& config) {
  require_range("width", config.width, 1, kMaxSide);
  require_range("height", config.height, 1, kMaxSide);
  require_range("qp", config.qp, 0, 51);
  name_of(config.preset);
  require(config.profile == Profile::baseline, "unknown profile", "use baseline");
  const int rows = macroblocks(config.height);
  require(config.slices >= 1 && config.slices <= rows,
          std::to_string(config.slices) + " slices do not fit a picture of " + std::to_string(rows) +
              " macroblock rows",
          "use 1 to " + std::to_string(rows));
  require_range("edge-guided", config.edge_guided, 0, kStrongestEdgeGuide);
  require(config.edge_guided == 0 || config.aq == AdaptiveQuantisation::off,
          "edge-guided and aq both set the QP of macroblocks", "use one of them");
  require_range("threads", config.threads, 0, kMaxThreads);
  require_range("batch", config.batch, 0, kMaxBatch);
  for (std::size_t i = 0; i < config.devices.size(); ++i) {
    const auto end = config.devices.begin() + static_cast<std::ptrdiff_t>(i);
    require_range("device", config.devices[i], 0, kMaxDevices - 1);
    require(std::find(config.devices.begin(), end, config.devices[i]) == end, "a device is named twice",
            "name each device once");
  }
  require(config.frame_rate.num > 0 && config.frame_rate.den > 0, "the frame rate is not positive",
          "use a fraction as 30000/1001");
  require(config.time_base.num >= 0 && config.time_base.den > 0, "the time base is not positive",
          "use seconds a unit, or 0 for 1 / frame rate");
  const Rational sar = config.sample_aspect_ratio;
  require(sar.num >= 0 && sar.den > 0 && reduced(sar).num <= 65535 && reduced(sar).den <= 65535,
          "the sample aspect ratio is out of range", "use two numbers up to 65535, or 0 for unspecified");
  require_range("colour primaries", config.colour.primaries, 0, 255);
  require_range("transfer characteristics", config.colour.transfer, 0, 255);
  require_range("matrix coefficients", config.colour.matrix, 0, 255);
  // H.264 E.2.1
  require(config.colour.matrix != 0, "matrix coefficients 0 (RGB) cannot describe 4:2:0 pictures",
          "name the matrix of the YCbCr conversion, or 2 for unspecified");
  if (config.encryption) {
    require(config.encryption->parts.any(), "nothing to encrypt", "name signs, modes or codewords");
  }
  if (config.watermark) {
    require(!config.watermark->payload.empty(), "the watermark's payload is empty", "give it bytes");
    require_range("watermark density", static_cast<int>(std::min(config.watermark->density, 65537u)), 1,
                  65536);
    require(!config.device_output, "a watermark is checked on the host", "clear Config::device_output");
  }
  if (config.input_format) name_of(*config.input_format);
  require(!converts_rgb(config) || core::is_convertible_matrix(coded_colour(config).matrix),
          "RGB cannot be converted by matrix coefficients " + std::to_string(config.colour.matrix),
          "use 1 (BT.709), 5 or 6 (BT.601), or 2 to have one chosen");
}

}  // namespace encoder
}  // namespace cu264
