// A verb's command line, parsed according to its table of options.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/verb_help.h"

namespace cu264::app {

[[noreturn]] void usage(const std::string& cause, const std::string& remedy);

class ParsedOptions {
 public:
  // Throws Error(invalid_argument), which says what is wrong and what may have been meant. `verb` is written
  // as it is typed: "encode" or "vle compress".
  ParsedOptions(const std::vector<std::string>& arguments, const std::vector<Option>& known,
                const std::string& verb);

  bool has(const char* name) const { return values_.count(name) > 0; }
  // The option's value; empty if it is not given or a switch.
  std::string operator[](const char* name) const { return has(name) ? values_.at(name) : std::string(); }
  // The arguments that are not options.
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::string> values_;
  std::vector<std::string> words_;
};

}  // namespace cu264::app
