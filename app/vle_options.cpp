#include "app/vle_options.h"

#include <unistd.h>

#include <boost/program_options.hpp>
#include <sstream>

#include "app/nearest.h"
#include "app/option_values.h"
#include "cu264/status.h"
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

constexpr unsigned kHelpWidth = 110;
constexpr std::int64_t kMostThreads = 1024;

[[noreturn]] void usage(const std::string& cause, const std::string& remedy) {
  throw Error(ErrorCode::invalid_argument, cause, remedy);
}

po::options_description known_options() {
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
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

[[noreturn]] void reject_unknown(std::string typed) {
  typed.erase(0, typed.find_first_not_of('-'));
  std::vector<std::string> names;
  const po::options_description known = known_options();
  for (const auto& option : known.options()) names.push_back(option->long_name());
  const std::string near = nearest(typed, names);
  usage("unknown option --" + typed,
        near.empty() ? "cu264 vle --help lists them" : "did you mean --" + near + "?");
}

po::variables_map parse(const std::vector<std::string>& arguments) {
  po::options_description all = known_options();
  all.add_options()("words", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("words", -1);
  // No guessing of abbreviated names: a script must not change its meaning when an option is added.
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  po::variables_map given;
  try {
    po::store(po::command_line_parser(arguments).options(all).positional(positional).style(style).run(),
              given);
  } catch (const po::unknown_option& error) {
    reject_unknown(error.get_option_name());
  } catch (const po::multiple_occurrences& error) {
    usage(error.get_option_name() + " is given twice", "give it once");
  } catch (const po::error& error) {
    usage(error.what(), "cu264 vle --help tells what each option takes");
  }
  return given;
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

vle::Backend parse_backend(const std::string& name) {
  if (name == "auto") return vle::Backend::automatic;
  if (name == "cuda") return vle::Backend::cuda;
  if (name == "cpu") return vle::Backend::cpu;
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
  const po::variables_map given = parse(arguments);
  if (given.count("help") > 0) return std::nullopt;
  const auto text = [&](const char* name) { return given[name].as<std::string>(); };
  VleOptions options;
  using Words = std::vector<std::string>;
  read_words(given.count("words") > 0 ? given["words"].as<Words>() : Words(), options);
  if (given.count("output") > 0) options.output = text("output");
  if (given.count("backend") > 0) options.backend = parse_backend(text("backend"));
  if (given.count("threads") > 0 && text("threads") != "0") {
    const std::int64_t threads = parse_count("threads", text("threads"));
    if (threads > kMostThreads) usage("--threads " + text("threads"), "at most 1024, or 0: one a core");
    options.threads = static_cast<int>(threads);
  }
  if (given.count("progress") > 0) {
    const std::string when = text("progress");
    if (when != "auto" && when != "off") usage("--progress '" + when + "'", "it is auto or off");
    options.progress = when == "auto";
  }
  options.quiet = given.count("quiet") > 0;
  check_files(options);
  return options;
}

}  // namespace cu264::app
