// The verbs of the command. `arguments` are those after the verb.
#pragma once

#include <string>
#include <vector>

#include "app/exit_code.h"
#include "app/verb_help.h"

namespace cu264::app {

ExitCode encode_verb(const std::vector<std::string>& arguments);
ExitCode edges_verb(const std::vector<std::string>& arguments);
ExitCode protect_verb(const std::vector<std::string>& arguments);
ExitCode watermark_verb(const std::vector<std::string>& arguments);
ExitCode hide_verb(const std::vector<std::string>& arguments);
ExitCode vle_verb(const std::vector<std::string>& arguments);
ExitCode devices_verb(const std::vector<std::string>& arguments);
ExitCode help_verb(const std::vector<std::string>& arguments);

VerbHelp encode_help();
VerbHelp edges_help();
VerbHelp protect_help();
VerbHelp watermark_help();
VerbHelp hide_help();
VerbHelp vle_help();
VerbHelp devices_help();
VerbHelp help_help();

struct Verb {
  const char* name;
  ExitCode (*run)(const std::vector<std::string>& arguments);
  VerbHelp (*help)();
};

// The verbs, in the order in which help lists them.
const std::vector<Verb>& all_verbs();
// Returns the verb of this name. Throws Error(invalid_argument), with what may have been meant.
const Verb& find_verb(const std::string& name);

}  // namespace cu264::app
