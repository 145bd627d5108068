#include "app/parsed_options.h"

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <cctype>
#include <string>
#include <vector>

#include "app/suggest.h"
#include "cu264/status.h"

namespace cu264::app {
namespace {

namespace po = boost::program_options;

constexpr char kWords[] = "words";  // what Boost calls the arguments that are not options

po::options_description description_of(const std::vector<Option>& known) {
  po::options_description description;
  for (const Option& option : known) {
    std::string name = option.name;
    if (option.letter != 0) name += std::string(",") + option.letter;
    if (!option.value) {
      description.add_options()(name.c_str(), "");
      continue;
    }
    description.add_options()(name.c_str(), po::value<std::string>());
  }
  description.add_options()(kWords, po::value<std::vector<std::string>>());
  return description;
}

// `typed` may be as --name, --name=value or -n.
[[noreturn]] void reject_unknown(std::string typed, const std::vector<Option>& known,
                                 const std::string& verb) {
  typed = typed.substr(0, typed.find('='));
  const std::string help = "cu264 help " + verb + " lists them";
  const std::size_t dashes = typed.find_first_not_of('-');
  if (dashes == 1 && typed.size() == 2) usage("unknown option " + typed, help);
  const std::string name = dashes == std::string::npos ? "" : typed.substr(dashes);
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const Option& option : known) names.emplace_back(option.name);
  const std::string near = suggest(name, names);
  usage("unknown option " + typed, near.empty() ? help : "did you mean --" + near + "?");
}

// A word that was perhaps meant as the value of the switch before it, although a file may have that name.
bool may_be_value(const std::string& word) {
  static constexpr std::array<const char*, 6> kSwitchValues{"on", "off", "yes", "no", "true", "false"};
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  return std::find(kSwitchValues.begin(), kSwitchValues.end(), word) != kSwitchValues.end() ||
         (!word.empty() && std::all_of(word.begin(), word.end(), is_digit));
}

// Gives every switch without a value the value that it implies. Boost would take the next word, which names a
// file.
std::vector<std::string> with_implied_values(std::vector<std::string> arguments,
                                             const std::vector<Option>& known) {
  for (auto word = arguments.begin(); word != arguments.end() && *word != "--"; ++word) {
    const auto option = std::find_if(known.begin(), known.end(), [&](const Option& one) {
      return one.implied && *word == std::string("--") + one.name;
    });
    if (option == known.end()) continue;
    if (const auto next = word + 1; next != arguments.end() && may_be_value(*next)) {
      usage(*word + " " + *next + ": its value is written with =, as " + *word + "=" + *next,
            "a file of that name is ./" + *next);
    }
    *word += std::string("=") + option->implied;
  }
  return arguments;
}

// An option that stands where the value of the previous one belongs would be taken for that value; who means
// it writes --name=--value.
void reject_missing_value(const po::basic_option<char>& option, const std::vector<Option>& known) {
  if (option.original_tokens.size() != 2) return;
  const std::string& value = option.original_tokens[1];
  const std::string name = value.substr(0, value.find('='));
  const bool is_option = std::any_of(known.begin(), known.end(),
                                     [&](const Option& one) { return name == std::string("--") + one.name; });
  if (is_option)
    usage(option.original_tokens[0] + " has no value: " + name + " follows it", "give the value first");
}

}  // namespace

void usage(const std::string& cause, const std::string& remedy) {
  throw Error(ErrorCode::invalid_argument, cause, remedy);
}

ParsedOptions::ParsedOptions(const std::vector<std::string>& arguments, const std::vector<Option>& known,
                             const std::string& verb) {
  const po::options_description description = description_of(known);
  po::positional_options_description positional;
  positional.add(kWords, -1);
  // Abbreviated names are not accepted, because a script must not change its meaning when an option is added.
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  po::variables_map parsed;
  try {
    const po::parsed_options options = po::command_line_parser(with_implied_values(arguments, known))
                                           .options(description)
                                           .positional(positional)
                                           .style(style)
                                           .run();
    for (const auto& option : options.options) reject_missing_value(option, known);
    po::store(options, parsed);
  } catch (const po::unknown_option& error) {
    reject_unknown(error.get_option_name(), known, verb);
  } catch (const po::multiple_occurrences& error) {
    usage(error.get_option_name() + " is given twice", "give it once");
  } catch (const po::error& error) {
    usage(error.what(), "cu264 help " + verb + " tells what each option takes");
  }
  for (const auto& [name, value] : parsed) {
    if (name == kWords) {
      words_ = value.as<std::vector<std::string>>();
    } else {
      const auto* const text = boost::any_cast<std::string>(&value.value());
      values_[name] = text ? *text : std::string();
    }
  }
}

}  // namespace cu264::app
