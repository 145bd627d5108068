#include "app/parsed_options.h"

#include "app/suggest.h"
#include "cu264/status.h"

namespace cu264::app {
namespace {

namespace po = boost::program_options;

[[noreturn]] void reject_unknown(std::string typed, const po::options_description& known,
                                 const std::string& verb, const LaterOptions& later) {
  typed.erase(0, typed.find_first_not_of('-'));
  for (const std::string& name : later.names) {
    if (typed == name) usage("--" + typed + " is not in this version", later.instead);
  }
  std::vector<std::string> names;
  for (const auto& option : known.options()) names.push_back(option->long_name());
  const std::string near = suggest(typed, names);
  usage("unknown option --" + typed,
        near.empty() ? verb + " --help lists them" : "did you mean --" + near + "?");
}

}  // namespace

void usage(const std::string& cause, const std::string& remedy) {
  throw Error(ErrorCode::invalid_argument, cause, remedy);
}

ParsedOptions::ParsedOptions(const std::vector<std::string>& arguments, const po::options_description& known,
                             const std::string& verb, const LaterOptions& later) {
  po::options_description with_input;
  with_input.add(known).add_options()("input", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("input", -1);
  // Abbreviated names are not accepted, because a script must not change its meaning when an option is added.
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  try {
    po::store(
        po::command_line_parser(arguments).options(with_input).positional(positional).style(style).run(),
        map_);
  } catch (const po::unknown_option& error) {
    reject_unknown(error.get_option_name(), known, verb, later);
  } catch (const po::multiple_occurrences& error) {
    usage(error.get_option_name() + " is given twice", "give it once");
  } catch (const po::error& error) {
    usage(error.what(), verb + " --help tells what each option takes");
  }
}

}  // namespace cu264::app
