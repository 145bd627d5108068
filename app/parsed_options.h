// A verb's command line, parsed according to its table of options.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

namespace cu264::app {

inline constexpr unsigned kHelpWidth = 110;

// An option with a text value, which ParsedOptions can find.
inline auto text(const char* placeholder) {
  return boost::program_options::value<std::string>()->value_name(placeholder);
}

[[noreturn]] void usage(const std::string& cause, const std::string& remedy);

// Options that are planned. For them the error says more than "unknown option": it says what to do without
// them.
struct LaterOptions {
  std::vector<std::string> names;
  std::string instead;
};

class ParsedOptions {
 public:
  // Throws Error(invalid_argument), which tells what is wrong and what may have been meant. `verb` is written
  // as it is typed: "cu264 encode".
  ParsedOptions(const std::vector<std::string>& arguments,
                const boost::program_options::options_description& known, const std::string& verb,
                const LaterOptions& later = {});

  bool has(const char* name) const { return map_.count(name) > 0; }
  std::string operator[](const char* name) const {
    return has(name) ? map_[name].as<std::string>() : std::string();
  }
  // The arguments that are not options.
  std::vector<std::string> inputs() const {
    return has("input") ? map_["input"].as<std::vector<std::string>>() : std::vector<std::string>();
  }

 private:
  boost::program_options::variables_map map_;
};

}  // namespace cu264::app
