// Options that all verbs have: the file that is read, the one that is written, whether that may be
// overwritten, and how much is said.
#pragma once

#include <string>
#include <vector>

#include "app/overwrite.h"
#include "app/parsed_options.h"

namespace cu264::app {

// INPUT OUTPUT; either may be named by an option instead.
inline constexpr Option kInputOption = {"input", 'i', "FILE",
                                        "what to read, if it is not named first; - is standard input"};
inline constexpr Option kOutputOption = {"output", 'o', "FILE",
                                         "where to, if it is not named last; - is standard output"};
inline constexpr Option kOverwriteOption = {"overwrite", 'y', nullptr, "overwrite outputs that exist"};
inline constexpr Option kKeepOption = {
    "no-overwrite", 'n', nullptr,
    "refuse outputs that exist; without -y or -n, a person at a terminal is asked"};
inline constexpr Option kProgressOption = {"progress", 0, "auto|off", "auto: if stderr is a terminal (auto)"};
inline constexpr Option kQuietOption = {"quiet", 'q', nullptr, "errors only"};
inline constexpr Option kHelpOption = {"help", 'h', nullptr, "this text"};
inline constexpr Option kKeyOption = {
    "key-file", 0, "FILE", "32 bytes, or 64 hexadecimal digits; without it, CU264_KEY in the environment"};

struct NamedFiles {
  std::string input, output;
};

// Finds the names of both files. `words` are the arguments that are not options, without the verb's action.
// `form` says how the verb is used, for the error. A verb that only reports has no output.
NamedFiles named_files(const ParsedOptions& parsed, std::vector<std::string> words, const std::string& form,
                       bool has_output = true);

// Reads -y and -n.
Overwrite read_overwrite(const ParsedOptions& parsed);

// Says whether progress is shown.
bool read_progress(const ParsedOptions& parsed);

// Refuses files that are the same. `files` begins with the input. Empty names are none.
void check_files_differ(const std::vector<std::string>& files);

// Refuses to write what is not text to standard output if that is a terminal.
void check_not_a_terminal(const std::string& output);

}  // namespace cu264::app
