#include "app/edges_options.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "app/common_options.h"
#include "app/input_options.h"
#include "app/option_values.h"
#include "app/parsed_options.h"
#include "app/verbs.h"

namespace cu264::app {
namespace {

// Parses a decimal number as a whole multiple of 1/scale: 0.03 with scale 100 is 3. Returns nothing if it is
// not a number or lies between two multiples.
std::optional<int> parse_scaled(const std::string& value, int scale) {
  double number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  const double scaled = number * scale;
  if (error != std::errc{} || stop != end || !(std::abs(scaled) < 1e6)) return std::nullopt;
  const auto whole = static_cast<int>(std::lround(scaled));
  if (std::abs(scaled - whole) > 1e-6) return std::nullopt;
  return whole;
}

std::vector<int> parse_hundredths(const std::string& option, const std::string& value) {
  std::vector<int> numbers;
  std::stringstream list(value);
  for (std::string item; std::getline(list, item, ',');) {
    const auto number = parse_scaled(item, 100);
    if (!number)
      usage("bad " + option + " \"" + value + "\"", "thresholds are hundredths from 0 to 1, as 0.08");
    numbers.push_back(*number);
  }
  return numbers;
}

void read_detector(const ParsedOptions& parsed, EdgesOptions& options) {
  canny::Params& params = options.params;
  if (parsed.has("sigma")) {
    const auto tenths = parse_scaled(parsed["sigma"], 10);
    if (!tenths || *tenths < 1 || *tenths > 20) {
      usage("bad sigma \"" + parsed["sigma"] + "\"", "use 0.1 to 2.0, in steps of 0.1");
    }
    params.sigma_tenths = *tenths;
  }
  if (parsed.has("candidates")) {
    constexpr int kMaxLevel = 25;  // the paper's MAX_HIGH
    const std::vector<int> numbers = parse_hundredths("candidates", parsed["candidates"]);
    params.candidates = numbers;
    if (numbers.size() == 1 && numbers[0] >= 1 && numbers[0] < kMaxLevel) {
      params.candidates.clear();
      for (int level = 1; level <= kMaxLevel; level += numbers[0]) params.candidates.push_back(level);
    }
  }
  if (parsed.has("partition")) {
    const std::string name = parsed["partition"];
    if (name != "columns" && name != "rows" && name != "frame") {
      usage("bad partition \"" + name + "\"", "use columns, rows or frame");
    }
    params.partition = name == "columns" ? canny::Partition::columns
                       : name == "rows"  ? canny::Partition::rows
                                         : canny::Partition::frame;
  }
  if (parsed.has("fixed")) {
    if (parsed.has("partition") || parsed.has("candidates")) {
      usage("--fixed leaves nothing to search", "drop --candidates and --partition");
    }
    const std::vector<int> pair = parse_hundredths("fixed", parsed["fixed"]);
    if (pair.size() != 2) usage("bad fixed \"" + parsed["fixed"] + "\"", "use LOW,HIGH, as 0.08,0.19");
    if (parsed.has("density-scaling")) usage("--density-scaling of fixed thresholds", "drop one");
    params.fixed = canny::ThresholdPair{pair[0], pair[1]};
  }
  if (parsed.has("noise-floor")) {
    const auto floor = parse_scaled(parsed["noise-floor"], 1);
    if (!floor) usage("bad noise-floor \"" + parsed["noise-floor"] + "\"", "use whole grey levels from 0");
    params.noise_floor = *floor;
  }
  params.density_scaling = parsed.has("density-scaling");
  options.published = parsed.has("published");
}

void read_execution(const ParsedOptions& parsed, EdgesOptions& options) {
  Config& config = options.output.config;
  for (const char* name : {"backend", "threads"}) {
    if (parsed.has(name)) config.set(name, parsed[name]);
  }
  if (parsed.has("device")) {
    config.set("device", parsed["device"]);
    if (config.devices.size() != 1) usage("bad device \"" + parsed["device"] + "\"", "name one device");
    if (config.backend == BackendChoice::cpu) usage("--device is of no use to --backend cpu", "drop one");
    config.backend = BackendChoice::cuda;
    options.execution.device = config.devices[0];
  }
  options.execution.backend = config.backend;
  options.execution.threads = config.threads;
}

void read_output(const ParsedOptions& parsed, const NamedFiles& files, EdgesOptions& options) {
  // The encoder of a video runs with the same settings as the detector.
  const Config execution = options.output.config;
  options.output = edges_output(files.output, read_overwrite(parsed), files.input);
  EdgesOutput& output = options.output;
  output.config.backend = execution.backend, output.config.threads = execution.threads;
  output.config.devices = execution.devices;
  if (parsed.has("qp")) {
    if (output.format != EdgeFormat::video) usage("--qp is for video", "drop it");
    output.config.set("qp", parsed["qp"]);
  }
  output.overlay = parsed.has("overlay");
  options.thresholds = parsed["thresholds"];
  options.quiet = parsed.has("quiet");
  options.progress = read_progress(parsed);
}

}  // namespace

EdgesOutput edges_output(const std::string& path, Overwrite overwrite, const std::string& input) {
  EdgesOutput output;
  output.path = path, output.overwrite = overwrite, output.input = input;
  check_not_a_terminal(path);
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".png") {
    output.format = EdgeFormat::png;
  } else if (extension == ".pgm" || path == "-") {
    output.format = EdgeFormat::pgm;
  } else {
    output.format = EdgeFormat::video;
    try {
      output.container = io::container_by_extension(path);
    } catch (const Error&) {
      usage(path + ": no known kind of output", "name it .png, .pgm, .264, .h264, .mp4, .mov, .mkv or .ts");
    }
  }
  output.config.qp = 18;
  return output;
}

VerbHelp edges_help() {
  const OptionGroup detector{
      "Detector",
      {{"sigma", 0, "S", "of the Gaussian, 0.1 to 2.0 in tenths (1.4)"},
       {"candidates", 0, "STEP|LIST",
        "thresholds that are tried: 0.01 to 0.25 in steps of 0.01 or 0.03, say, or a list 0.02,0.05,0.2 "
        "(0.03)"},
       {"partition", 0, "columns|rows|frame",
        "sub-images: columns of 32xH, rows of Wx32, or frame (columns)"},
       {"density-scaling", 0, nullptr,
        "scale the thresholds found by how crowded the picture is: better, not in the paper"},
       {"fixed", 0, "LOW,HIGH", "plain Canny with these thresholds, 0 to 1"},
       {"noise-floor", 0, "N",
        "gradients count relative to the picture's largest, at least to N grey levels (0)"},
       {"published", 0, nullptr, "hysteresis by passes for each pair, as published: slow, the same edges"}}};
  const OptionGroup execution{
      "Execution",
      {{"backend", 0, "auto|cuda|cpu", "where it runs (auto)"},
       {"device", 0, "N", "which CUDA device (0)"},
       {"threads", 0, "N|auto",
        "of the CPU backend; auto or 0: one a core (auto). Never changes the edges"}}};
  const OptionGroup output{"Output",
                           {kOutputOption,
                            kOverwriteOption,
                            kKeepOption,
                            {"overlay", 0, nullptr, "edges on the picture: red, in PGM white"},
                            {"qp", 0, "N", "video: quantiser, 0 (best) to 51 (18)"},
                            {"thresholds", 0, "FILE", "write each sub-image's thresholds as JSON"},
                            kProgressOption,
                            kQuietOption,
                            kHelpOption}};
  return {"edges",
          "find edges in pictures or video",
          {},
          {"edges [options] INPUT OUTPUT"},
          {"Finds edges without being told thresholds: GUD-Canny gives each sub-image its own. INPUT is "
           "whatever FFmpeg "
           "reads, raw video with --size, or - for standard input. OUTPUT is .png or .pgm, with a number "
           "like %04d in "
           "its name for more than one picture (from 1); a video, .264 .h264 .mp4 .mov .mkv .ts; or -: PGM "
           "pictures on "
           "standard output. Edges are white on black. Each file is complete or absent."},
          {"cu264 edges photo.jpg edges.png", "cu264 edges film.mkv out%04d.png --overlay --frames 50",
           "cu264 edges film.mkv edges.mp4 --thresholds thresholds.json",
           "cu264 edges photo.jpg plain.pgm --fixed 0.08,0.19 --sigma 1.0"},
          {input_options(), description_options(), detector, execution, output}};
}

std::optional<EdgesOptions> parse_edges_options(const std::vector<std::string>& arguments) {
  const VerbHelp help = edges_help();
  const ParsedOptions parsed(arguments, help.options(), help.name);
  if (parsed.has("help")) return std::nullopt;
  const NamedFiles files = named_files(parsed, parsed.words(), help.forms[0]);
  EdgesOptions options;
  options.reader.max_side = canny::kMaxSide;
  read_input(parsed, files.input, options.reader);
  read_detector(parsed, options);
  read_execution(parsed, options);
  read_output(parsed, files, options);
  check_files_differ({files.input, options.output.path, options.thresholds});
  return options;
}

}  // namespace cu264::app
