// Config's fields by name: the table of options, and the parsing of their values.
#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>
#include <system_error>

#include "encoder/config.h"
#include "encoder/edge_thresholds.h"
#include "encoder/level.h"

namespace cu264 {
namespace {

using encoder::kMaxBatch;
using encoder::kMaxDevices;
using encoder::kMaxThreads;
using Group = ConfigOption::Group;

template <typename T>
struct Named {
  const char* name;
  T value;
};

constexpr Named<Preset> kPresets[] = {
    {"fast", Preset::fast}, {"balanced", Preset::balanced}, {"best", Preset::best}};
constexpr Named<Profile> kProfiles[] = {{"auto", Profile::automatic},
                                        {"automatic", Profile::automatic},
                                        {"baseline", Profile::baseline},
                                        {"main", Profile::main},
                                        {"high", Profile::high}};
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
                                           {"rgb-float-planar", PixelFormat::rgb_float_planar},
                                           {"rgb-float", PixelFormat::rgb_float},
                                           {"rgb-half-planar", PixelFormat::rgb_half_planar},
                                           {"rgb-half", PixelFormat::rgb_half},
                                           {"rgb-bfloat16-planar", PixelFormat::rgb_bfloat16_planar},
                                           {"rgb-bfloat16", PixelFormat::rgb_bfloat16}};
constexpr Named<AdaptiveQuantisation> kAqs[] = {{"auto", AdaptiveQuantisation::automatic},
                                                {"off", AdaptiveQuantisation::off},
                                                {"variance", AdaptiveQuantisation::variance},
                                                {"steps", AdaptiveQuantisation::steps},
                                                {"edges", AdaptiveQuantisation::edges}};
constexpr Named<EntropyCoder> kEntropies[] = {{"production", EntropyCoder::production},
                                              {"cavlcu", EntropyCoder::cavlcu}};
constexpr Named<Packing> kPackings[] = {{"production", Packing::production}, {"gvle", Packing::gvle}};
enum class Pipeline { production, published };
constexpr Named<Pipeline> kPipelines[] = {{"production", Pipeline::production},
                                          {"published", Pipeline::published}};
constexpr Named<OnOverflow> kOverflows[] = {{"error", OnOverflow::error}, {"drop", OnOverflow::drop}};
constexpr Named<bool> kRanges[] = {{"limited", false}, {"full", true}, {"tv", false}, {"pc", true}};
// Code points of H.273 by the names that x264 gives them. The matrix 0 (RGB) cannot describe 4:2:0.
constexpr Named<int> kPrimaries[] = {{"undef", 2},     {"bt709", 1},     {"bt470m", 4},   {"bt470bg", 5},
                                     {"smpte170m", 6}, {"smpte240m", 7}, {"film", 8},     {"bt2020", 9},
                                     {"smpte428", 10}, {"smpte431", 11}, {"smpte432", 12}};
constexpr Named<int> kTransfers[] = {
    {"undef", 2},     {"bt709", 1},         {"bt470m", 4},     {"bt470bg", 5},    {"smpte170m", 6},
    {"smpte240m", 7}, {"linear", 8},        {"log100", 9},     {"log316", 10},    {"iec61966-2-4", 11},
    {"bt1361e", 12},  {"iec61966-2-1", 13}, {"bt2020-10", 14}, {"bt2020-12", 15}, {"smpte2084", 16},
    {"smpte428", 17}, {"arib-std-b67", 18}};
constexpr Named<int> kMatrices[] = {{"undef", 2},
                                    {"bt709", 1},
                                    {"fcc", 4},
                                    {"bt470bg", 5},
                                    {"smpte170m", 6},
                                    {"smpte240m", 7},
                                    {"YCgCo", 8},
                                    {"bt2020nc", 9},
                                    {"bt2020c", 10},
                                    {"smpte2085", 11},
                                    {"chroma-derived-nc", 12},
                                    {"chroma-derived-c", 13},
                                    {"ICtCp", 14}};
constexpr Named<bool> kSwitches[] = {{"on", true},   {"off", false},   {"yes", true}, {"no", false},
                                     {"true", true}, {"false", false}, {"1", true},   {"0", false}};

// The text of one option, and the error for any fault in it.
struct Value {
  std::string_view name;
  std::string_view text;

  [[noreturn]] void reject(const std::string& accepted) const {
    throw Error(ErrorCode::invalid_argument, "bad " + std::string(name) + " \"" + std::string(text) + "\"",
                "use " + accepted);
  }
};

// Parses the whole of `text` as a decimal number.
template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  return error == std::errc{} && stop == end;
}

int parse_integer(const Value& value, int low, int high) {
  int number = 0;
  if (!parse_number(value.text, number) || number < low || number > high) {
    value.reject("a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return number;
}

// Parses a number of thousands, or 0.
std::int64_t parse_thousands(const Value& value, const char* unit) {
  std::int64_t number = 0;
  if (!parse_number(value.text, number) || number < 0 || number > encoder::kMostBits / 1000)
    value.reject("a whole number of " + std::string(unit) + ", or 0 for none");
  return 1000 * number;
}

std::int64_t parse_bytes(const Value& value) {
  std::int64_t number = 0;
  if (!parse_number(value.text, number) || number < 0 || number > encoder::kMostFrameBytes) {
    value.reject("a whole number of bytes up to " + std::to_string(encoder::kMostFrameBytes) +
                 ", or 0 for no limit");
  }
  return number;
}

double parse_crf(const Value& value) {
  double number = 0;
  const bool allowed = parse_number(value.text, number) && number >= 0 && number <= 51;  // not for NaN
  if (!allowed) value.reject("a number from 0 to 51, as 23 or 21.5");
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

// Parses a list such as "0,2,3", in which no number occurs twice.
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

// Parses "a<separator>b" as two numbers.
bool parse_pair(std::string_view text, char separator, int& first, int& second) {
  const std::size_t at = text.find(separator);
  return at != std::string_view::npos && parse_number(text.substr(0, at), first) &&
         parse_number(text.substr(at + 1), second);
}

// Parses "29.97" as 2997/100.
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

// `zero`: whether 0 ("unspecified") is allowed.
Rational parse_rational(const Value& value, char separator, bool zero, const std::string& accepted) {
  Rational r;
  const bool read = parse_pair(value.text, separator, r.num, r.den) || parse_number(value.text, r.num) ||
                    (separator == '/' && parse_decimal(value.text, r));
  if (!read || r.den <= 0 || r.num < 0 || (r.num == 0 && !zero)) value.reject(accepted);
  return encoder::reduced(r);
}

void set_size(Config& config, const Value& value) {
  int width = 0;
  int height = 0;
  const bool read = parse_pair(value.text, 'x', width, height);
  if (!read || width < 1 || height < 1 || width > kMaxSide || height > kMaxSide) {
    value.reject("WIDTHxHEIGHT, each from 1 to " + std::to_string(kMaxSide) + ", as 1920x1080");
  }
  config.width = width, config.height = height;
}

// A level as 3.1, 31 or 1b. Returns its level_idc.
int parse_level(const Value& value) {
  std::string digits(value.text);
  if (digits == "auto") return 0;
  if (digits == "1b") return encoder::kLevel1b;
  if (digits.size() == 1) digits += '0';
  if (digits.size() == 3 && digits[1] == '.') digits.erase(1, 1);
  int level = 0;
  if (!parse_number(digits, level) || !encoder::is_level(level)) {
    value.reject("auto, or a level of H.264 from 1 to 6.2, as 4, 3.1 or 1b");
  }
  return level;
}

// The name of lists, or the text of a file of lists.
ScalingLists parse_cqm(const Value& value) {
  if (value.text == "flat") return {};
  if (value.text == "jvt") return jvt_scaling_lists();
  if (value.text.find('=') == std::string_view::npos)
    value.reject("flat or jvt, or the text of a file of lists");
  return parse_scaling_lists(value.text);
}

void set_pipeline(Config& config, const Value& value) {
  constexpr int kUsualEdgeGuided = 2;
  const bool published = parse_name(value, kPipelines) == Pipeline::published;
  config.entropy = published ? EntropyCoder::cavlcu : EntropyCoder::production;
  config.packing = published ? Packing::gvle : Packing::production;
  if (published && config.edge_guided == 0) config.edge_guided = kUsualEdgeGuided;
}

canny::Params parse_edge_thresholds(const Value& value) {
  if (const auto params = encoder::edge_detector_named(value.text)) return *params;
  value.reject(encoder::edge_thresholds_accepted());
}

struct Entry {
  ConfigOption option;
  void (*set)(Config& config, const Value& value);
};

// Lists what Config::set takes, one entry for each option. The command's help text comes from the same table.
constexpr Entry kEntries[] = {
    {{"qp", "N", "quantiser, 0 (best) to 51 (27)", Group::coding},
     [](Config& config, const Value& value) { config.qp = parse_integer(value, 0, 51); }},
    {{"crf", "N", "constant quality on x264's scale, 0 (best) to 51, as 23 or 21.5 (off)", Group::coding},
     [](Config& config, const Value& value) { config.crf = parse_crf(value); }},
    {{"bitrate", "KBPS", "kbit a second, within a buffer (off)", Group::coding},
     [](Config& config, const Value& value) { config.bitrate = parse_thousands(value, "kbit a second"); }},
    {{"maxrate", "KBPS", "the rate that fills the buffer, in kbit a second (that of --bitrate)",
      Group::coding},
     [](Config& config, const Value& value) {
       config.max_bitrate = parse_thousands(value, "kbit a second");
     }},
    {{"bufsize", "KBIT",
      "the size of the buffer, in kbit (one second of the rate that fills it; two pictures if they are "
      "slower)",
      Group::coding},
     [](Config& config, const Value& value) { config.buffer_bits = parse_thousands(value, "kbit"); }},
    {{"cbr", "on|off", "constant --bitrate, by filler data where pictures need fewer bits (off)",
      Group::coding, "on"},
     [](Config& config, const Value& value) { config.cbr = parse_name(value, kSwitches); }},
    {{"lookahead", "N|auto",
      "pictures behind each one that a bitrate looks at; packets come so much later (auto: 40)",
      Group::coding},
     [](Config& config, const Value& value) {
       config.lookahead.reset();
       if (value.text != "auto") config.lookahead = parse_integer(value, 0, kMostLookahead);
     }},
    {{"max-frame-bytes", "N", "no picture has more bytes, headers included (0: no limit)", Group::coding},
     [](Config& config, const Value& value) { config.max_frame_bytes = parse_bytes(value); }},
    {{"frame-bytes", "N", "every picture has exactly so many bytes, by filler data (0: off)", Group::coding},
     [](Config& config, const Value& value) { config.frame_bytes = parse_bytes(value); }},
    {{"on-overflow", "error|drop", "what becomes of a picture that no QP makes small enough (error)",
      Group::coding},
     [](Config& config, const Value& value) { config.on_overflow = parse_name(value, kOverflows); }},
    {{"preset", "fast|balanced|best", "how thoroughly modes and levels are searched (balanced)",
      Group::coding},
     [](Config& config, const Value& value) { config.preset = parse_name(value, kPresets); }},
    {{"profile", "auto|baseline|main|high",
      "baseline: Constrained Baseline; main: with CABAC, smaller; high: with the 8x8 transform too; auto: "
      "high, with CAVLC where something needs it (auto)",
      Group::coding},
     [](Config& config, const Value& value) { config.profile = parse_name(value, kProfiles); }},
    {{"cavlc", "on|off", "CAVLC in place of CABAC, also where the profile allows CABAC (off)", Group::coding,
      "on"},
     [](Config& config, const Value& value) { config.cavlc = parse_name(value, kSwitches); }},
    {{"pipeline", "production|published",
      "published: the papers' stages, --entropy cavlcu, --packing gvle and --edge-guided=2 (production)",
      Group::coding},
     set_pipeline},
    {{"entropy", "production|cavlcu",
      "which kernels code the levels on a GPU; cavlcu: the paper's, with CAVLC. Never changes CAVLC's bytes "
      "(production)",
      Group::coding},
     [](Config& config, const Value& value) { config.entropy = parse_name(value, kEntropies); }},
    {{"packing", "production|gvle",
      "which kernels pack the slices on a GPU; gvle: the paper's steps, with CAVLC. Never changes CAVLC's "
      "bytes "
      "(production)",
      Group::coding},
     [](Config& config, const Value& value) { config.packing = parse_name(value, kPackings); }},
    {{"cqm", "flat|jvt",
      "scaling lists, of --profile high; jvt: the standard's, coarser the higher the frequency (flat)",
      Group::coding},
     [](Config& config, const Value& value) { config.scaling_lists = parse_cqm(value); }},
    {{"slices", "N", "slices a picture (1)", Group::coding},
     [](Config& config, const Value& value) { config.slices = parse_integer(value, 1, kMaxSide / 16); }},
    {{"edge-guided", "0..3",
      "bits go to edges of GUD-Canny, the weak above all; how strongly, as --edge-guided=1 (0; 2 if no "
      "number "
      "is given)",
      Group::coding, "2"},
     [](Config& config, const Value& value) {
       config.edge_guided = parse_integer(value, 0, kMaxEdgeGuided);
     }},
    {{"edge-thresholds", "NAME|LOW,HIGH",
      "how --edge-guided finds edges: distributed, rows or frame, with -0.01 for finer candidates; or plain "
      "Canny with thresholds from 0 to 1 (distributed)",
      Group::coding},
     [](Config& config, const Value& value) { config.edge_detector = parse_edge_thresholds(value); }},
    {{"aq", "auto|variance|steps|edges|off",
      "bits go to macroblocks of low variance, with steps of brightness, a cheap measure, or with edges, as "
      "--edge-guided (auto: variance with --crf and --bitrate)",
      Group::coding},
     [](Config& config, const Value& value) { config.aq = parse_name(value, kAqs); }},
    {{"aq-strength", "1..3", "of --aq edges and --aq steps (2)", Group::coding},
     [](Config& config, const Value& value) {
       config.aq_strength = parse_integer(value, 1, kMaxEdgeGuided);
     }},
    {{"level", "N", "the level that the stream keeps to, as 4.1; refused if it does not (auto: the lowest)",
      Group::coding},
     [](Config& config, const Value& value) { config.level_idc = parse_level(value); }},
    {{"deblock", "on|off", "the loop filter in the decoder (on)", Group::coding},
     [](Config& config, const Value& value) { config.deblock = parse_name(value, kSwitches); }},
    {{"backend", "auto|cuda|cpu", "what encodes; auto: cuda where that works (auto)", Group::execution},
     [](Config& config, const Value& value) { config.backend = parse_name(value, kBackends); }},
    {{"device", "N[,N]", "which CUDA device, or several that share the work (0)", Group::execution},
     [](Config& config, const Value& value) { config.devices = parse_devices(value); }},
    {{"batch", "N", "pictures the CUDA backend encodes together; 0: what fills the device (0)",
      Group::execution},
     [](Config& config, const Value& value) { config.batch = parse_integer(value, 0, kMaxBatch); }},
    {{"threads", "N|auto", "of the CPU backend; auto or 0: one a core (auto). Never changes the bytes",
      Group::execution},
     [](Config& config, const Value& value) {
       config.threads = value.text == "auto" ? 0 : parse_integer(value, 0, kMaxThreads);
     }},
    {{"size", "WxH", "the size of the pictures", Group::input}, set_size},
    {{"fps", "N[/D]", "frame rate (25)", Group::input},
     [](Config& config, const Value& value) {
       config.frame_rate = parse_rational(
           value, '/', false, "a positive number of frames a second, such as 25, 29.97 or 30000/1001");
     }},
    {{"sar", "N:D", "sample aspect ratio; 0: unspecified (0)", Group::description},
     [](Config& config, const Value& value) {
       config.sample_aspect_ratio =
           parse_rational(value, ':', true, "a ratio such as 16:11, or 0 for unspecified");
     }},
    {{"range", "limited|full", "of the samples (limited); tv and pc say the same", Group::description},
     [](Config& config, const Value& value) { config.colour.full_range = parse_name(value, kRanges); }},
    {{"colorprim", "NAME",
      "colour primaries: bt709, bt470m, bt470bg, smpte170m, smpte240m, film, bt2020, smpte428, smpte431, "
      "smpte432 "
      "(undef)",
      Group::description},
     [](Config& config, const Value& value) { config.colour.primaries = parse_name(value, kPrimaries); }},
    {{"transfer", "NAME",
      "transfer characteristics: bt709, bt470m, bt470bg, smpte170m, smpte240m, linear, log100, log316, "
      "iec61966-2-4, "
      "bt1361e, iec61966-2-1, bt2020-10, bt2020-12, smpte2084, smpte428, arib-std-b67 (undef)",
      Group::description},
     [](Config& config, const Value& value) { config.colour.transfer = parse_name(value, kTransfers); }},
    {{"colormatrix", "NAME",
      "matrix of YCbCr: bt709, fcc, bt470bg, smpte170m, smpte240m, YCgCo, bt2020nc, bt2020c, smpte2085, "
      "chroma-derived-nc, chroma-derived-c, ICtCp (undef)",
      Group::description},
     [](Config& config, const Value& value) { config.colour.matrix = parse_name(value, kMatrices); }},
    {{"chromaloc", "0..5", "where chroma samples lie, as in H.264 figure E-1 (not said)", Group::description},
     [](Config& config, const Value& value) {
       config.chroma_location = parse_integer(value, 0, kMaxChromaLocation);
     }},
    {{"input-format", "NAME", "pixel format of the frames (the first frame's)", Group::input},
     [](Config& config, const Value& value) { config.input_format = parse_name(value, kFormats); }},
    {{"headers", "NAME", "where SPS and PPS are: first, every or separate (first)", Group::output},
     [](Config& config, const Value& value) { config.headers = parse_name(value, kPlacements); }},
};

}  // namespace

std::vector<ConfigOption> config_options() {
  std::vector<ConfigOption> options;
  for (const Entry& entry : kEntries) options.push_back(entry.option);
  return options;
}

void Config::set(std::string_view name, std::string_view text) {
  std::string known;
  for (const Entry& entry : kEntries) {
    if (name == entry.option.name) return entry.set(*this, {name, text});
    known += (known.empty() ? "" : ", ") + std::string(entry.option.name);
  }
  throw Error(ErrorCode::invalid_argument, "unknown option \"" + std::string(name) + "\"",
              "use one of " + known);
}

namespace encoder {

const char* name_of(Preset preset) {
  for (const auto& named : kPresets) {
    if (named.value == preset) return named.name;
  }
  throw Error(ErrorCode::invalid_argument, "unknown preset", "use fast, balanced or best");
}

const char* name_of(Profile profile) {
  for (const auto& named : kProfiles) {
    if (named.value == profile) return named.name;
  }
  throw Error(ErrorCode::invalid_argument, "unknown profile", "use auto, baseline, main or high");
}

const char* name_of(AdaptiveQuantisation aq) {
  for (const auto& named : kAqs) {
    if (named.value == aq) return named.name;
  }
  throw Error(ErrorCode::invalid_argument, "unknown adaptive quantisation",
              "use auto, variance, steps, edges or off");
}

const char* name_of(HeaderPlacement placement) {
  for (const auto& named : kPlacements) {
    if (named.value == placement) return named.name;
  }
  throw Error(ErrorCode::invalid_argument, "unknown placement of headers", "use first, every or separate");
}

const char* name_of(BackendChoice backend) {
  for (const auto& named : kBackends) {
    if (named.value == backend) return named.name;
  }
  throw Error(ErrorCode::invalid_argument, "unknown backend", "use auto, cuda or cpu");
}

const char* name_of(EntropyCoder entropy) {
  for (const auto& named : kEntropies) {
    if (named.value == entropy) return named.name;
  }
  throw Error(ErrorCode::invalid_argument, "unknown entropy coder", "use production or cavlcu");
}

const char* name_of(Packing packing) {
  for (const auto& named : kPackings) {
    if (named.value == packing) return named.name;
  }
  throw Error(ErrorCode::invalid_argument, "unknown packing", "use production or gvle");
}

const char* name_of(PixelFormat format) {
  for (const auto& named : kFormats) {
    if (named.value == format) return named.name;
  }
  throw Error(ErrorCode::invalid_argument, "unknown pixel format", "use one of cu264::PixelFormat");
}

Rational reduced(Rational value) {
  const int common = std::gcd(value.num, value.den);
  return common > 1 ? Rational{value.num / common, value.den / common} : value;
}

}  // namespace encoder
}  // namespace cu264
