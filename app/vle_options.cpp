#include "app/vle_options.h"

#include "app/common_options.h"
#include "app/option_values.h"
#include "app/verbs.h"
#include "cu264/encoder.h"

namespace cu264::app {

VerbHelp vle_help() {
  return {"vle",
          "compress and expand any file",
          {"compress", "expand"},
          {"vle compress|expand [options] INPUT OUTPUT"},
          {"Huffman codes for bytes, in segments of 4 MiB with checksums, on a GPU or on the CPU: the same "
           "bytes. INPUT is "
           "a file, a pipe, or - for standard input; OUTPUT a file that is complete or absent, or - for "
           "standard output. "
           "Damaged or cut-off input is refused. docs/vle-format.md describes the format."},
          {"cu264 vle compress genome.txt genome.vle", "cu264 vle expand genome.vle genome.txt",
           "tar -c folder | cu264 vle compress - - | ssh host 'cu264 vle expand - - | tar -x'"},
          {{"Options",
            {kInputOption,
             kOutputOption,
             kOverwriteOption,
             kKeepOption,
             {"backend", 0, "auto|cuda|cpu",
              "auto: cuda where that works and the input is at least 64 MiB (auto)"},
             {"threads", 0, "N|auto", "auto or 0: one a core (auto). Never changes the bytes"},
             kProgressOption,
             kQuietOption,
             kHelpOption}}}};
}

std::optional<VleOptions> parse_vle_options(const std::vector<std::string>& arguments) {
  const VerbHelp help = vle_help();
  const ParsedOptions parsed(arguments, help.options(), help.name);
  if (parsed.has("help")) return std::nullopt;
  std::vector<std::string> words = parsed.words();
  if (words.empty()) usage("nothing to do", "cu264 " + help.forms[0]);
  if (words[0] != "compress" && words[0] != "expand") {
    usage("'" + words[0] + "' is neither compress nor expand", "cu264 " + help.forms[0]);
  }
  VleOptions options;
  options.expand = words[0] == "expand";
  words.erase(words.begin());
  const NamedFiles files = named_files(parsed, words, help.forms[0]);
  options.input = files.input, options.output = files.output;
  options.overwrite = read_overwrite(parsed);
  Config scratch;  // knows the names of backends and the range of threads
  for (const char* name : {"backend", "threads"}) {
    if (parsed.has(name)) scratch.set(name, parsed[name]);
  }
  options.backend = scratch.backend, options.threads = scratch.threads;
  options.progress = read_progress(parsed);
  options.quiet = parsed.has("quiet");
  check_files_differ({options.input, options.output});
  if (!options.expand) check_not_a_terminal(options.output);
  return options;
}

}  // namespace cu264::app
