// The verbs of the command. `arguments` are those behind the verb.
#pragma once

#include <string>
#include <vector>

#include "app/exit_code.h"

namespace cu264::app {

ExitCode encode_verb(const std::vector<std::string>& arguments);
ExitCode edges_verb(const std::vector<std::string>& arguments);
ExitCode protect_verb(const std::vector<std::string>& arguments);
ExitCode watermark_verb(const std::vector<std::string>& arguments);
ExitCode hide_verb(const std::vector<std::string>& arguments);
ExitCode vle_verb(const std::vector<std::string>& arguments);
ExitCode devices_verb(const std::vector<std::string>& arguments);

}  // namespace cu264::app
