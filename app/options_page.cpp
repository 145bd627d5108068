#include "app/documentation.h"

#include <string>

#include "cu264/encoder.h"

namespace cu264::app {
namespace {

using Group = ConfigOption::Group;
using Type = ConfigOption::Type;

std::string code(const std::string& text) {
  return "`" + text + "`";
}

// Returns the text for a cell of a table.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string whole(double value) {
  return std::to_string(static_cast<long long>(value));
}

std::string range_of(const ConfigOption& option) {
  return whole(option.low) + " to " + whole(option.high);
}

std::string choices_of(const ConfigOption& option) {
  std::string list;
  for (const std::string& choice : option.choices) list += (list.empty() ? "" : ", ") + code(choice);
  return list;
}

std::string values_of(const ConfigOption& option) {
  const bool has_auto = std::string(option.value).find("|auto") != std::string::npos;
  switch (option.type) {
    case Type::whole:
      return range_of(option) + (has_auto ? ", `auto`" : "");
    case Type::number:
      return range_of(option) + ", with fractions";
    case Type::kilobits:
      return "up to " + whole(option.high) + " kbit, 0: none; in `Config` and Python, bits";
    case Type::bytes:
      return "up to " + whole(option.high) + " bytes";
    case Type::flag:
      return choices_of(option) + "; in `Config` and Python, a bool";
    case Type::choice:
      return choices_of(option);
    case Type::code_point:
      return choices_of(option) + "; or a number from 0 to 255, as in `Config`";
    case Type::devices:
      return range_of(option) + "; several with commas; in Python, one";
    default:
      return code(option.value);
  }
}

const char* change_of(const ConfigOption& option) {
  switch (option.change) {
    case ConfigOption::Change::any_picture:
      return "any picture";
    case ConfigOption::Change::next_clip:
      return "next clip";
    default:
      return "";
  }
}

std::string row_of(const ConfigOption& option) {
  const std::string field = option.field ? option.field : "", keyword = option.keyword ? option.keyword : "";
  std::string row;
  for (const std::string& text :
       {code(option.name), field.empty() ? field : code(field), keyword.empty() ? keyword : code(keyword),
        values_of(option), option.initial.empty() ? option.initial : code(option.initial),
        std::string(change_of(option)), std::string(option.about)}) {
    row += "| " + cell(text) + " ";
  }
  return row + "|\n";
}

struct Section {
  const char* title;
  Group group;
};

constexpr Section kSections[] = {{"Rate control", Group::rate},       {"Coding", Group::coding},
                                 {"Execution", Group::execution},     {"Input", Group::input},
                                 {"Description", Group::description}, {"Output", Group::output}};

// Says which options the command turns off by a switch of another name.
std::string off_switches() {
  std::string text;
  for (const ConfigOption& option : config_options()) {
    if (option.off_switch != nullptr)
      text += code(option.name) + " is " + code(std::string("--") + option.off_switch) + ", ";
  }
  return text;
}

}  // namespace

std::string options_page() {
  std::string page =
      "# Options of the encoder\n\n"
      "`cu264 help --options` prints this page; `scripts/update-options` writes it. The first name is that "
      "of\n"
      "`Config::set` and, with two dashes, of `cu264 encode`, where " +
      off_switches() +
      "`headers` is\n"
      "`every` or `first`, and the input decides about `input-format` and `timed-bitrate`. The texts name "
      "options by Python's\n"
      "keywords. Nothing under *default* means that the option is not set; *changes* says when\n"
      "`Encoder::reconfigure` and Python's `Encoder.reconfigure` may change it. The command has more "
      "options,\n"
      "which are not the encoder's: [command.md](command.md).\n";
  for (const Section& section : kSections) {
    page += std::string("\n## ") + section.title +
            "\n\n| name | `Config` | Python | values | default | changes | meaning "
            "|\n|---|---|---|---|---|---|---|\n";
    for (const ConfigOption& option : config_options()) {
      if (option.group == section.group) page += row_of(option);
    }
  }
  return page;
}

}  // namespace cu264::app
