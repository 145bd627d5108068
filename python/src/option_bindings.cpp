// The library's table of options, for settings.py and for messages.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cctype>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "cu264/encoder.h"

namespace cu264::python {
namespace {

const char* name_of(ConfigOption::Group group) {
  switch (group) {
    case ConfigOption::Group::rate:
      return "rate";
    case ConfigOption::Group::coding:
      return "coding";
    case ConfigOption::Group::execution:
      return "execution";
    case ConfigOption::Group::input:
      return "input";
    case ConfigOption::Group::output:
      return "output";
    default:
      return "description";
  }
}

const char* name_of(ConfigOption::Type type) {
  switch (type) {
    case ConfigOption::Type::whole:
      return "whole";
    case ConfigOption::Type::number:
      return "number";
    case ConfigOption::Type::kilobits:
      return "kilobits";
    case ConfigOption::Type::bytes:
      return "bytes";
    case ConfigOption::Type::flag:
      return "flag";
    case ConfigOption::Type::choice:
      return "choice";
    case ConfigOption::Type::code_point:
      return "code_point";
    case ConfigOption::Type::ratio:
      return "ratio";
    case ConfigOption::Type::devices:
      return "devices";
    default:
      return "text";
  }
}

const char* name_of(ConfigOption::Change change) {
  switch (change) {
    case ConfigOption::Change::any_picture:
      return "any_picture";
    case ConfigOption::Change::next_clip:
      return "next_clip";
    default:
      return "never";
  }
}

// Pairs of the library's words and this package's.
using Words = std::vector<std::pair<const char*, const char*>>;

const Words& words() {
  static const Words all = [] {
    Words words{{"give --key-file", "use Key.from_file"},
                {"Mp4Config::fragmented", "container=\"fmp4\""},
                {"Mp4Config::audio", "audio="}};
    for (const ConfigOption& option : config_options()) {
      const bool differs = option.keyword != nullptr && std::strcmp(option.keyword, option.name) != 0;
      // What is "out of range" is not meant; a bool cannot be wrong here.
      if (differs && std::strcmp(option.name, "range") != 0) words.emplace_back(option.name, option.keyword);
    }
    return words;
  }();
  return all;
}

}  // namespace

std::string in_our_words(std::string text) {
  const auto in_word = [&](std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '-' || text[at] == '_');
  };
  for (const auto& [theirs, ours] : words()) {
    const std::size_t size = std::strlen(theirs);
    for (std::size_t at = text.find(theirs); at != std::string::npos; at = text.find(theirs, at + 1)) {
      if ((at == 0 || !in_word(at - 1)) && !in_word(at + size)) text.replace(at, size, ours);
    }
  }
  return text;
}

void bind_options(nanobind::module_& m) {
  namespace nb = nanobind;
  nb::class_<ConfigOption>(m, "Option", "A row of the library's table of options.")
      .def_prop_ro(
          "name", [](const ConfigOption& option) { return option.name; }, "str: as the library takes it.")
      .def_prop_ro(
          "keyword",
          [](const ConfigOption& option) { return std::string(option.keyword ? option.keyword : ""); },
          "str: of this package's calls; empty: there is none.")
      .def_prop_ro("value", [](const ConfigOption& option) { return option.value; })
      .def_prop_ro("about", [](const ConfigOption& option) { return option.about; })
      .def_prop_ro("group", [](const ConfigOption& option) { return name_of(option.group); })
      .def_prop_ro("type", [](const ConfigOption& option) { return name_of(option.type); })
      .def_prop_ro("change", [](const ConfigOption& option) { return name_of(option.change); })
      .def_ro("low", &ConfigOption::low)
      .def_ro("high", &ConfigOption::high)
      .def_ro("choices", &ConfigOption::choices)
      .def_ro("initial", &ConfigOption::initial, "str: the default, as the library takes it; may be empty.");
  m.def("options", &config_options, "The options of the library.");
}

}  // namespace cu264::python
