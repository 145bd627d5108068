#include "app/common_options.h"

#include <unistd.h>

#include "app/option_values.h"
#include "io/output_file.h"

namespace cu264::app {

NamedFiles named_files(const ParsedOptions& parsed, std::vector<std::string> words, const std::string& form,
                       bool has_output) {
  const std::string how = "cu264 " + form;
  NamedFiles files{parsed["input"], parsed["output"]};
  if (files.input.empty() && !words.empty()) files.input = words[0], words.erase(words.begin());
  if (files.input.empty()) usage("no input is named", how);
  if (has_output && files.output.empty() && !words.empty())
    files.output = words[0], words.erase(words.begin());
  if (has_output && files.output.empty()) usage("no output is named", how);
  if (!has_output && !files.output.empty()) usage("there is nothing to write to " + files.output, how);
  if (!words.empty()) {
    usage("'" + words[0] + "' is one name too many beside " + files.input + (has_output ? " and " : "") +
              files.output,
          how);
  }
  return files;
}

Overwrite read_overwrite(const ParsedOptions& parsed) {
  if (parsed.has("overwrite") && parsed.has("no-overwrite"))
    usage("-y and -n contradict each other", "drop one");
  return parsed.has("overwrite")      ? Overwrite::yes
         : parsed.has("no-overwrite") ? Overwrite::no
                                      : Overwrite::ask;
}

bool read_progress(const ParsedOptions& parsed) {
  const bool wanted = !parsed.has("progress") || parse_auto_off("progress", parsed["progress"]);
  return wanted && !parsed.has("quiet") && isatty(STDERR_FILENO) == 1;
}

void check_files_differ(const std::vector<std::string>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].empty() || (i == 0 && files[i] == "-")) continue;  // standard input is like no output
    for (std::size_t j = i + 1; j < files.size(); ++j) {
      if (files[j].empty() || !io::same_file(files[i], files[j])) continue;
      usage(files[j] + ": is the same file as " + files[i] + (i == 0 ? ", the input" : ""),
            "name another output");
    }
  }
}

void check_not_a_terminal(const std::string& output) {
  if (output == "-" && isatty(STDOUT_FILENO) == 1) {
    usage("standard output is a terminal, which cannot show these bytes", "name a file, or use a pipe");
  }
}

}  // namespace cu264::app
