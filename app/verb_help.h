// Describes a verb. Its parser, its help text, the manual page and the completions are all made from this
// description, so that the name of an option is written down once.
#pragma once

#include <string>
#include <vector>

namespace cu264::app {

struct Option {
  const char* name;               // without dashes
  char letter;                    // for the short form, or 0
  const char* value;              // a placeholder ("N", "FILE", "on|off"), or null for a switch
  const char* meaning;            // the default is in parentheses
  const char* implied = nullptr;  // the value that the name alone stands for; null: a value is required
};

struct OptionGroup {
  std::string title;
  std::vector<Option> options;
  std::string action = {};  // the only action that takes them; empty: all do
};

struct VerbHelp {
  std::string name;
  std::string brief;                 // what it does, in a few words
  std::vector<std::string> actions;  // words that follow the verb, such as "compress"; may be empty
  std::vector<std::string> forms;    // after "cu264 ": "encode [options] INPUT OUTPUT"
  std::vector<std::string> about;    // paragraphs
  std::vector<std::string> examples;
  std::vector<OptionGroup> groups;

  // Returns all options, or those that `action` takes.
  std::vector<Option> options(const std::string& action = {}) const;
};

// Returns the option's names and its value, as "-o, --output FILE".
std::string names_of(const Option& option);
// Returns the words that a placeholder such as "on|off" or "N|auto" lists; empty if it lists none.
std::vector<std::string> choices_of(const Option& option);

// Returns what `cu264 VERB --help` prints.
std::string help_text(const VerbHelp& help);

// The exit statuses and their meanings, for help texts and the manual page.
struct ExitMeaning {
  const char* status;
  const char* meaning;
};
const std::vector<ExitMeaning>& exit_meanings();

}  // namespace cu264::app
