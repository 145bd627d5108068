#include "app/verbs.h"

#include "app/parsed_options.h"
#include "app/suggest.h"

namespace cu264::app {

const std::vector<Verb>& all_verbs() {
  static const std::vector<Verb> verbs = {
      {"encode", encode_verb, encode_help},    {"edges", edges_verb, edges_help},
      {"protect", protect_verb, protect_help}, {"watermark", watermark_verb, watermark_help},
      {"hide", hide_verb, hide_help},          {"vle", vle_verb, vle_help},
      {"devices", devices_verb, devices_help}, {"help", help_verb, help_help},
  };
  return verbs;
}

const Verb& find_verb(const std::string& name) {
  std::vector<std::string> names{"--help", "--version"};
  std::string list;
  for (const Verb& verb : all_verbs()) {
    if (name == verb.name) return verb;
    names.emplace_back(verb.name);
    list += std::string(verb.name) + ", ";
  }
  const std::string near = suggest(name, names);
  usage("unknown verb '" + name + "'",
        near.empty() ? list + "--help or --version" : "did you mean " + near + "?");
}

}  // namespace cu264::app
