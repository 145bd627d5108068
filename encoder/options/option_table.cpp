// The table of options, and what is made from it in the library: Config::set and text, ConfigChanges::set,
// the list for others, the checks of ranges, the words of the SEI message.
#include <algorithm>
#include <vector>

#include "encoder/options/option_changes.h"
#include "encoder/options/option_row.h"

namespace cu264 {
namespace encoder {
namespace {

const OptionRow& row_named(std::string_view name) {
  std::string known;
  for (const OptionGroup& group : option_table()) {
    for (const OptionRow& row : group.rows) {
      if (name == row.name) return row;
      known += (known.empty() ? "" : ", ") + std::string(row.name);
    }
  }
  throw Error(ErrorCode::invalid_argument, "unknown option \"" + std::string(name) + "\"",
              "use one of " + known);
}

std::vector<std::string> choices_of(const OptionKind& kind) {
  std::vector<std::string> choices;
  if (kind.choices == nullptr) return choices;
  std::string_view rest = kind.choices;
  for (std::size_t bar = rest.find('|'); bar != std::string_view::npos; bar = rest.find('|')) {
    choices.emplace_back(rest.substr(0, bar));
    rest.remove_prefix(bar + 1);
  }
  choices.emplace_back(rest);
  return choices;
}

ConfigOption described(const OptionRow& row, ConfigOption::Group group) {
  return {.name = row.name,
          .value = row.value != nullptr ? row.value : row.kind.value,
          .meaning = row.meaning,
          .group = group,
          .implicit_value = row.implicit_value,
          .field = row.field,
          .keyword = row.keyword,
          .about = row.about,
          .type = row.kind.type,
          .low = row.kind.low,
          .high = row.kind.high,
          .choices = choices_of(row.kind),
          .initial = row.kind.text(Config()),
          .change = row.change.when,
          .off_switch = row.off_switch,
          .off_meaning = row.off_meaning};
}

}  // namespace

std::array<OptionGroup, 6> option_table() {
  using Group = ConfigOption::Group;
  return {{{Group::rate, rate_rows()},
           {Group::coding, coding_rows()},
           {Group::execution, execution_rows()},
           {Group::input, input_rows()},
           {Group::description, description_rows()},
           {Group::output, output_rows()}}};
}

void check_options(const Config& config) {
  for (const OptionGroup& group : option_table()) {
    for (const OptionRow& row : group.rows) {
      if (row.kind.check != nullptr) row.kind.check(config, row.field);
    }
  }
}

bool has_goal(const Config& config, bool limits) {
  for (const OptionGroup& group : option_table()) {
    for (const OptionRow& row : group.rows) {
      const OptionGoal& goal = row.goal;
      if (goal.set != nullptr && (goal.limits || !limits) && goal.set(config)) return true;
    }
  }
  return false;
}

bool same_goals(const Config& a, const Config& b) {
  for (const OptionGroup& group : option_table()) {
    for (const OptionRow& row : group.rows) {
      if (row.goal.set != nullptr && row.goal.set(a) != row.goal.set(b)) return false;
    }
  }
  return true;
}

std::string options_in_stream(const Config& config) {
  std::vector<const OptionRow*> named;
  for (const OptionGroup& group : option_table()) {
    for (const OptionRow& row : group.rows) {
      if (row.in_stream.text != nullptr) named.push_back(&row);
    }
  }
  std::stable_sort(named.begin(), named.end(), [](const OptionRow* a, const OptionRow* b) {
    return a->in_stream.place < b->in_stream.place;
  });
  std::string all;
  for (const OptionRow* const row : named) {
    const std::string text = row->in_stream.text(config);
    const char* const name = row->in_stream.name != nullptr ? row->in_stream.name : row->name;
    if (!text.empty()) all += std::string(" ") + name + "=" + text;
  }
  return all;
}

Config with_changes(Config config, const ConfigChanges& changes) {
  for (const OptionGroup& group : option_table()) {
    for (const OptionRow& row : group.rows) {
      if (row.change.asked != nullptr && row.change.asked(changes)) row.change.apply(changes, config);
    }
  }
  // A crf and a bitrate take each other's place.
  if (changes.crf && !changes.bitrate) config.bitrate = 0;
  if (changes.bitrate && *changes.bitrate > 0 && !changes.crf) config.crf.reset();
  return config;
}

std::string changes_of_next_clip(const ConfigChanges& changes) {
  std::string names;
  for (const OptionGroup& group : option_table()) {
    for (const OptionRow& row : group.rows) {
      if (row.change.when == ConfigOption::Change::next_clip && row.change.asked(changes))
        names += (names.empty() ? "" : ", ") + std::string(row.name);
    }
  }
  return names;
}

}  // namespace encoder

std::vector<ConfigOption> config_options() {
  std::vector<ConfigOption> options;
  for (const encoder::OptionGroup& group : encoder::option_table()) {
    for (const encoder::OptionRow& row : group.rows) options.push_back(encoder::described(row, group.group));
  }
  return options;
}

void Config::set(std::string_view name, std::string_view text) {
  encoder::row_named(name).kind.set(*this, {name, text});
}

std::string Config::text(std::string_view name) const {
  return encoder::row_named(name).kind.text(*this);
}

void ConfigChanges::set(std::string_view name, std::string_view text) {
  const encoder::OptionRow& row = encoder::row_named(name);
  if (row.change.ask == nullptr) {
    throw Error(ErrorCode::invalid_argument, "an encoder that is open cannot change its " + std::string(name),
                "open another one");
  }
  Config config;
  row.kind.set(config, {name, text});
  row.change.ask(config, *this);
}

}  // namespace cu264
