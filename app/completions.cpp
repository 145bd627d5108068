#include "app/documentation.h"

#include <vector>

#include "app/verbs.h"

namespace cu264::app {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Replaces each character of `special` in the text by a backslash and itself.
std::string escaped(const std::string& text, const std::string& special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string::npos) out += '\\';
    out += c;
  }
  return out;
}

// Returns the text in single quotes, for a shell of the Bourne family.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

bool takes_file(const Option& option) {
  return option.value && std::string(option.value) == "FILE";
}

std::string letter_of(const Option& option) {
  return std::string("-") + option.letter;
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb& verb : all_verbs()) names.emplace_back(verb.name);
  return names;
}

// Returns one specification of zsh's _arguments.
std::string zsh_option(const Option& option) {
  std::string spec = option.implied ? "=-[" : "[";
  spec += escaped(option.meaning, "[]:\\") + "]";
  if (option.value) {
    const std::vector<std::string> choices = choices_of(option);
    spec += option.implied ? "::" : ":";
    spec += escaped(option.value, ":[]") + ":";
    if (!choices.empty()) {
      spec.append("(").append(joined(choices)).append(")");
    } else {
      spec += takes_file(option) ? "_files" : " ";
    }
  }
  const std::string name = std::string("--") + option.name;
  if (option.letter == 0) return quoted(name + spec);
  const std::string letter = letter_of(option);
  std::string both = quoted(std::string("(").append(letter).append(" ").append(name).append(")"));
  return both.append("{").append(letter).append(",").append(name).append("}").append(quoted(spec));
}

}  // namespace

std::string bash_completion() {
  std::string script =
      "# Completion of cu264 in bash. Made by: cu264 help --completion bash\n"
      "_cu264() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} "
      "words=\n"
      "  COMPREPLY=()\n"
      "  # bash takes --name=value for three words.\n"
      "  if [[ $current == = ]]; then\n"
      "    current=\n"
      "  elif [[ $previous == = ]]; then\n"
      "    previous=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  fi\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '" +
      joined(verb_names()) +
      " --help --version' -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case $verb in\n";
  for (const Verb& verb : all_verbs()) {
    const VerbHelp help = verb.help();
    std::vector<std::string> names;
    std::string values;
    for (const Option& option : help.options()) {
      const std::string name = std::string("--") + option.name;
      names.push_back(name);
      if (option.letter != 0) names.push_back(letter_of(option));
      const std::vector<std::string> choices = choices_of(option);
      if (!choices.empty()) values += "        " + name + ") words='" + joined(choices) + "' ;;\n";
    }
    script += "    " + help.name + ")\n      case $previous in\n" + values;
    script += "        *)\n          [[ $current != -* ]] || words='" + joined(names) + "'\n";
    const std::vector<std::string> actions = help.name == "help" ? verb_names() : help.actions;
    if (!actions.empty()) script += "          ((COMP_CWORD > 2)) || words+=' " + joined(actions) + "'\n";
    script += "          ;;\n      esac\n      ;;\n";
  }
  script +=
      "  esac\n"
      "  # Without words, readline completes names of files.\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}\n"
      "complete -o bashdefault -o default -F _cu264 cu264\n";
  return script;
}

std::string zsh_completion() {
  std::string script =
      "#compdef cu264\n"
      "# Completion of cu264 in zsh. Made by: cu264 help --completion zsh\n"
      "local -a verbs=(\n";
  for (const Verb& verb : all_verbs())
    script += "  " + quoted(std::string(verb.name) + ":" + escaped(verb.help().brief, ":")) + "\n";
  script +=
      ")\n"
      "if (( CURRENT == 2 )); then\n"
      "  _describe verb verbs\n"
      "  return\n"
      "fi\n"
      "local verb=$words[2]\n"
      "shift words\n"
      "(( CURRENT-- ))\n"
      "case $verb in\n";
  for (const Verb& verb : all_verbs()) {
    const VerbHelp help = verb.help();
    script += "  " + help.name + ")\n    _arguments -s";
    for (const Option& option : help.options()) script += " \\\n      " + zsh_option(option);
    const std::vector<std::string> actions = help.name == "help" ? verb_names() : help.actions;
    if (!actions.empty()) script += " \\\n      '1:action:(" + joined(actions) + ")'";
    script += " \\\n      '*:file:_files'\n    ;;\n";
  }
  return script + "esac\n";
}

std::string fish_completion() {
  const auto fish_quoted = [](const std::string& text) {
    return std::string("'").append(escaped(text, "\\'")).append("'");
  };
  std::string script = "# Completion of cu264 in fish. Made by: cu264 help --completion fish\n";
  for (const Verb& verb : all_verbs()) {
    const VerbHelp help = verb.help();
    script += "complete -c cu264 -n __fish_use_subcommand -f -a " + help.name + " -d " +
              fish_quoted(help.brief) + "\n";
    const std::string after_verb = "complete -c cu264 -n '__fish_seen_subcommand_from " + help.name;
    const std::string actions = joined(help.name == "help" ? verb_names() : help.actions);
    if (!actions.empty()) {
      script += after_verb + "; and test (count (commandline -opc)) -eq 2' -f -a '" + actions + "'\n";
    }
    for (const Option& option : help.options()) {
      script += after_verb + "' -l " + option.name;
      if (option.letter != 0) script += std::string(" -s ") + option.letter;
      const std::vector<std::string> choices = choices_of(option);
      if (option.value && !option.implied) script += takes_file(option) ? " -r" : " -x";
      if (!choices.empty()) script += " -a '" + joined(choices) + "'";
      script += " -d " + fish_quoted(option.meaning) + "\n";
    }
  }
  return script;
}

}  // namespace cu264::app
