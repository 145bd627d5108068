#include "app/edges_options.h"

#include <unistd.h>

#include <boost/program_options.hpp>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "app/input_options.h"
#include "app/option_values.h"
#include "app/parsed_options.h"
#include "io/output_file.h"

namespace cu264::app {
namespace {

namespace po = boost::program_options;

constexpr char kExamples[] =
    "cu264 edges [options] INPUT -o OUTPUT\n"
    "\n"
    "  cu264 edges photo.jpg -o edges.png\n"
    "  cu264 edges film.mkv -o out%04d.png --overlay --frames 50\n"
    "  cu264 edges film.mkv -o edges.mp4 --thresholds thresholds.json\n"
    "  cu264 edges photo.jpg -o plain.pgm --fixed 0.08,0.19 --sigma 1.0\n"
    "\n"
    "Finds edges without being told thresholds: GUD-Canny gives each sub-image its own. INPUT is whatever "
    "FFmpeg\n"
    "reads, raw video with --size, or - for standard input. OUTPUT is .png or .pgm, with a number like %04d "
    "in "
    "its\n"
    "name for more than one picture (from 1); a video, .264 .h264 .mp4 .mov .mkv .ts; or -: PGM pictures on "
    "standard\n"
    "output. Edges are white on black. Each file is complete or absent.\n";

constexpr char kExitCodes[] =
    "\nExit status: 0 done, 1 usage, 2 input, 3 device, 4 encoding or writing, 130 interrupted.\n";

struct Groups {
  po::options_description input{"Input", kHelpWidth};
  po::options_description detector{"Detector", kHelpWidth};
  po::options_description execution{"Execution", kHelpWidth};
  po::options_description output{"Output", kHelpWidth};

  Groups() {
    add_input_options(input);
    detector.add_options()("sigma", text("S"), "of the Gaussian, 0.1 to 2.0 in tenths (1.4)");
    detector.add_options()("candidates", text("STEP|LIST"),
                           "thresholds that are tried: 0.01 to 0.25 in steps of 0.01 or 0.03, say, or a list "
                           "0.02,0.05,0.2 (0.03)");
    detector.add_options()("partition", text("NAME"),
                           "sub-images: columns of 32xH, rows of Wx32, or frame (columns)");
    detector.add_options()(
        "density-scaling",
        "scale the thresholds found by how crowded the picture is: better, not in the paper");
    detector.add_options()("fixed", text("LOW,HIGH"), "plain Canny with these thresholds, 0 to 1");
    detector.add_options()(
        "noise-floor", text("N"),
        "gradients count relative to the picture's largest, at least to N grey levels (0)");
    detector.add_options()("published",
                           "hysteresis by passes for each pair, as published: slow, the same edges");
    execution.add_options()("backend", text("NAME"), "auto, cuda or cpu (auto)");
    execution.add_options()("device", text("N"), "which CUDA device (0)");
    execution.add_options()("threads", text("N"),
                            "of the CPU backend; 0: one a core (0). Never changes the edges");
    output.add_options()("output,o", text("FILE"), "where to; - is standard output");
    output.add_options()("overlay", "edges on the picture: red, in PGM white");
    output.add_options()("qp", text("N"), "video: quantiser, 0 (best) to 51 (18)");
    output.add_options()("thresholds", text("FILE"), "write each sub-image's thresholds as JSON");
    output.add_options()("progress", text("WHEN"), "auto: if stderr is a terminal; or off (auto)");
    output.add_options()("quiet,q", "errors only");
    output.add_options()("help,h", "this text");
  }

  po::options_description all() const {
    po::options_description all;
    return all.add(input).add(detector).add(execution).add(output);
  }
};

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
    constexpr int kHighest = 25;  // the paper's MAX_HIGH
    const std::vector<int> numbers = parse_hundredths("candidates", parsed["candidates"]);
    params.candidates = numbers;
    if (numbers.size() == 1 && numbers[0] >= 1 && numbers[0] < kHighest) {
      params.candidates.clear();
      for (int level = 1; level <= kHighest; level += numbers[0]) params.candidates.push_back(level);
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
  Config& config = options.config;
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

void read_output(const ParsedOptions& parsed, EdgesOptions& options) {
  options.output = parsed["output"];
  if (options.output.empty()) usage("no output is named", "cu264 edges INPUT -o OUTPUT");
  const std::string extension = std::filesystem::path(options.output).extension().string();
  if (extension == ".png") {
    options.format = EdgeFormat::png;
  } else if (extension == ".pgm" || options.output == "-") {
    options.format = EdgeFormat::pgm;
  } else {
    options.format = EdgeFormat::video;
    try {
      options.container = io::container_by_extension(options.output);
    } catch (const Error&) {
      usage(options.output + ": no known kind of output",
            "name it .png, .pgm, .264, .h264, .mp4, .mov, .mkv or .ts");
    }
  }
  options.config.qp = 18;
  if (parsed.has("qp")) {
    if (options.format != EdgeFormat::video) usage("--qp is for video", "drop it");
    options.config.set("qp", parsed["qp"]);
  }
  options.overlay = parsed.has("overlay");
  options.thresholds = parsed["thresholds"];
  options.quiet = parsed.has("quiet");
  if (parsed.has("progress")) options.progress = parse_auto_off("progress", parsed["progress"]);
  if (options.quiet || isatty(STDERR_FILENO) == 0) options.progress = false;
}

// Every file that is written must be a different one.
void check_files(const EdgesOptions& options) {
  const std::vector<std::string> files = {options.reader.input.path, options.output, options.thresholds};
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = i + 1; j < files.size(); ++j) {
      if (files[i].empty() || files[j].empty() || files[i] == "-") continue;
      if (files[i] == files[j] || io::same_file(files[i], files[j])) {
        usage(files[j] + ": is the same file as " + files[i], "name another output");
      }
    }
  }
}

}  // namespace

std::string edges_help() {
  const Groups groups;
  std::ostringstream text;
  text << kExamples;
  for (const auto* group : {&groups.input, &groups.detector, &groups.execution, &groups.output}) {
    text << "\n" << *group;
  }
  text << kExitCodes;
  return text.str();
}

std::optional<EdgesOptions> parse_edges_options(const std::vector<std::string>& arguments) {
  const Groups groups;
  const ParsedOptions parsed(arguments, groups.all(), "cu264 edges");
  if (parsed.has("help")) return std::nullopt;
  EdgesOptions options;
  options.reader.max_side = canny::kMaxSide;
  read_input(parsed, "cu264 edges", options.reader);
  read_detector(parsed, options);
  read_execution(parsed, options);
  read_output(parsed, options);
  check_files(options);
  return options;
}

}  // namespace cu264::app
