#include "app/vle_options.h"

#include <unistd.h>

#include <boost/program_options.hpp>
#include <sstream>

#include "app/option_values.h"
#include "app/parsed_options.h"
#include "io/output_file.h"

namespace cu264::app {
namespace {

namespace po = boost::program_options;

constexpr char kExamples[] =
    "cu264 vle compress|expand [options] INPUT -o OUTPUT\n"
    "\n"
    "  cu264 vle compress genome.txt -o genome.vle\n"
    "  cu264 vle expand genome.vle -o genome.txt\n"
    "  tar -c folder | cu264 vle compress - -o - | ssh host 'cu264 vle expand - -o - | tar -x'\n"
    "\n"
    "Huffman codes for bytes, in segments of 4 MiB with checksums, on a GPU or on the CPU: the same bytes. "
    "INPUT\n"
    "is a file, a pipe, or - for standard input; OUTPUT a file that is complete or absent, or - for "
    "standard\n"
    "output. Damaged or cut-off input is refused. The format: docs/vle-format.md.\n";

constexpr char kExitCodes[] =
    "\nExit status: 0 done, 1 usage, 2 input, 3 device, 4 encoding or writing, 130 interrupted.\n";

constexpr std::int64_t kMostThreads = 1024;

po::options_description known_options() {
  po::options_description known("Options", kHelpWidth);
  known.add_options()("output,o", text("FILE"), "where to; - is standard output");
  known.add_options()("backend", text("NAME"),
                      "auto, cuda or cpu (auto: cuda where that works and the input is not small)");
  known.add_options()("threads", text("N"), "0: one a core (0). Never changes the bytes");
  known.add_options()("progress", text("WHEN"), "auto: if stderr is a terminal; or off (auto)");
  known.add_options()("quiet,q", "errors only");
  known.add_options()("help,h", "this text");
  return known;
}

void read_words(const std::vector<std::string>& words, VleOptions& options) {
  constexpr char kForm[] = "cu264 vle compress|expand INPUT -o OUTPUT";
  if (words.empty()) usage("nothing to do", kForm);
  if (words[0] != "compress" && words[0] != "expand") {
    usage("'" + words[0] + "' is neither compress nor expand", kForm);
  }
  options.expand = words[0] == "expand";
  if (words.size() < 2 || words[1].empty()) usage("no input is named", kForm);
  if (words.size() > 2) {
    usage("two inputs: '" + words[1] + "' and '" + words[2] + "'", "the output is named by -o");
  }
  options.input = words[1];
}

BackendChoice parse_backend(const std::string& name) {
  if (name == "auto") return BackendChoice::automatic;
  if (name == "cuda") return BackendChoice::cuda;
  if (name == "cpu") return BackendChoice::cpu;
  usage("--backend '" + name + "'", "it is auto, cuda or cpu");
}

void check_files(const VleOptions& options) {
  if (options.output.empty()) usage("no output is named", "cu264 vle compress|expand INPUT -o OUTPUT");
  if (options.input != "-" && options.output != "-" && io::same_file(options.input, options.output)) {
    usage(options.output + ": is the same file as " + options.input + ", the input", "name another output");
  }
  if (options.output == "-" && !options.expand && isatty(STDOUT_FILENO) == 1) {
    usage("compressed bytes are not for a terminal", "name a file with -o, or send them to a pipe");
  }
}

}  // namespace

std::string vle_help() {
  std::ostringstream text;
  text << kExamples << '\n' << known_options() << kExitCodes;
  return text.str();
}

std::optional<VleOptions> parse_vle_options(const std::vector<std::string>& arguments) {
  const ParsedOptions parsed(arguments, known_options(), "cu264 vle");
  if (parsed.has("help")) return std::nullopt;
  VleOptions options;
  read_words(parsed.inputs(), options);
  if (parsed.has("output")) options.output = parsed["output"];
  if (parsed.has("backend")) options.backend = parse_backend(parsed["backend"]);
  if (parsed.has("threads") && parsed["threads"] != "0") {
    const std::int64_t threads = parse_count("threads", parsed["threads"]);
    if (threads > kMostThreads) usage("--threads " + parsed["threads"], "at most 1024, or 0: one a core");
    options.threads = static_cast<int>(threads);
  }
  if (parsed.has("progress")) {
    const std::string when = parsed["progress"];
    if (when != "auto" && when != "off") usage("--progress '" + when + "'", "it is auto or off");
    options.progress = when == "auto";
  }
  options.quiet = parsed.has("quiet");
  check_files(options);
  return options;
}

}  // namespace cu264::app
