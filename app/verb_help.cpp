#include "app/verb_help.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace cu264::app {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kWidestNames = 34;  // wider ones have a line of their own

// Appends the words of `text` to `out`, whose last line has `column` characters; further lines begin with
// `indent` spaces.
void append_wrapped(std::string& out, std::size_t column, std::size_t indent, const std::string& text) {
  std::istringstream words(text);
  bool first = true;
  for (std::string word; words >> word; first = false) {
    if (!first && column + 1 + word.size() > kWidth) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ', ++column;
    }
    out += word, column += word.size();
  }
  out += '\n';
}

std::size_t names_column(const VerbHelp& help) {
  std::size_t widest = 0;
  for (const Option& option : help.options()) {
    const std::size_t width = names_of(option).size();
    if (width <= kWidestNames) widest = std::max(widest, width);
  }
  return widest + 4;  // two spaces on either side
}

}  // namespace

std::vector<Option> VerbHelp::options(const std::string& action) const {
  std::vector<Option> all;
  for (const OptionGroup& group : groups) {
    if (action.empty() || group.action.empty() || group.action == action)
      all.insert(all.end(), group.options.begin(), group.options.end());
  }
  return all;
}

std::string names_of(const Option& option) {
  std::string names;
  if (option.letter != 0) names = std::string("-") + option.letter + ", ";
  names += std::string("--") + option.name;
  if (!option.value) return names;
  return names + (option.implied ? std::string("[=") + option.value + "]" : std::string(" ") + option.value);
}

std::vector<std::string> choices_of(const Option& option) {
  std::vector<std::string> choices;
  const std::string value = option.value ? option.value : "";
  if (value.find('|') == std::string::npos) return choices;
  std::istringstream list(value);
  for (std::string one; std::getline(list, one, '|');) {
    const auto is_lower = [](unsigned char c) { return std::islower(c) != 0; };
    if (std::any_of(one.begin(), one.end(), is_lower)) choices.push_back(one);
  }
  return choices;
}

std::string help_text(const VerbHelp& help) {
  std::string text;
  for (const std::string& form : help.forms) text += "cu264 " + form + '\n';
  text += '\n';
  for (const std::string& example : help.examples) text += "  " + example + '\n';
  if (!help.examples.empty()) text += '\n';
  for (std::size_t i = 0; i < help.about.size(); ++i) {
    if (i > 0) text += '\n';
    append_wrapped(text, 0, 0, help.about[i]);
  }
  const std::size_t column = names_column(help);
  for (const OptionGroup& group : help.groups) {
    text += '\n' + group.title + ":\n";
    for (const Option& option : group.options) {
      std::string line = "  " + names_of(option);
      if (line.size() + 2 > column) line += '\n' + std::string(column, ' ');
      if (line.size() < column) line.resize(column, ' ');
      text += line;
      append_wrapped(text, column, column, option.meaning);
    }
  }
  std::string statuses = "Exit status:";
  for (const ExitMeaning& exit : exit_meanings())
    statuses += std::string(" ") + exit.status + " " + exit.meaning + ";";
  statuses.back() = '.';
  text += '\n';
  append_wrapped(text, 0, 0, statuses);
  return text;
}

const std::vector<ExitMeaning>& exit_meanings() {
  static const std::vector<ExitMeaning> meanings = {{"0", "done"},
                                                    {"1", "usage"},
                                                    {"2", "input"},
                                                    {"3", "device"},
                                                    {"4", "encoding or writing"},
                                                    {"5", "verification failed"},
                                                    {"129, 130, 143", "ended by SIGHUP, SIGINT, SIGTERM"}};
  return meanings;
}

}  // namespace cu264::app
