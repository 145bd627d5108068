// cu264 help: lists the verbs, shows what a verb takes, and prints the manual page and the completions of
// shells.
#include <cstdio>

#include "app/common_options.h"
#include "app/documentation.h"
#include "app/verbs.h"

namespace cu264::app {
namespace {

std::string overview() {
  std::string text = "cu264: an H.264 encoder for GPUs and processors\n\n";
  for (const Verb& verb : all_verbs()) {
    char line[120];
    std::snprintf(line, sizeof line, "  cu264 %-10s %s\n", verb.name, verb.help().brief.c_str());
    text += line;
  }
  text += "\n  cu264 encode film.mkv film.mp4 --qp 24    is the shortest way to begin\n";
  text += "  cu264 help VERB, cu264 VERB --help        list the options of a verb\n";
  text +=
      "  cu264 -V, cu264 --version                 tells the version and what is built in\n\nExit status:\n";
  for (const ExitMeaning& exit : exit_meanings()) {
    char line[120];
    std::snprintf(line, sizeof line, "  %-13s  %s\n", exit.status, exit.meaning);
    text += line;
  }
  return text;
}

std::string completion_for(const std::string& shell) {
  if (shell == "bash") return bash_completion();
  if (shell == "zsh") return zsh_completion();
  if (shell == "fish") return fish_completion();
  usage("there is no completion for '" + shell + "'", "bash, zsh or fish");
}

std::string answer(const ParsedOptions& parsed) {
  if (parsed.has("help")) return help_text(help_help());
  if (parsed.has("man")) return man_page();
  if (parsed.has("options")) return options_page();
  if (parsed.has("completion")) return completion_for(parsed["completion"]);
  return parsed.words().empty() ? overview() : help_text(find_verb(parsed.words()[0]).help());
}

}  // namespace

VerbHelp help_help() {
  return {"help",
          "explain a verb",
          {},
          {"help [VERB]", "help --man", "help --options", "help --completion SHELL"},
          {"Says what there is, or what a verb takes."},
          {"cu264 help encode",
           "cu264 help --completion bash > ~/.local/share/bash-completion/completions/cu264"},
          {{"Options",
            {{"man", 0, nullptr, "print the manual page, in roff"},
             {"options", 0, nullptr,
              "print the encoder's options as the command, Python and C++ name them, in Markdown"},
             {"completion", 0, "bash|zsh|fish", "print the script by which this shell completes the command"},
             kHelpOption}}}};
}

ExitCode help_verb(const std::vector<std::string>& arguments) {
  const ParsedOptions parsed(arguments, help_help().options(), "help");
  std::fputs(answer(parsed).c_str(), stdout);
  return ExitCode::done;
}

}  // namespace cu264::app
