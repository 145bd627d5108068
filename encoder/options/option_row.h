// A row of the table of options. To add an option, write its field in Config, its row here in one of the
// *_rows.cpp, and what it does: help texts, the manual page, completions, Python's keywords with their types
// and docstrings, docs/options.md, the checks of ranges, ConfigChanges::set and the SEI message follow.
#pragma once

#include <array>
#include <span>
#include <string>

#include "cu264/encoder.h"
#include "encoder/options/option_text.h"

namespace cu264::encoder {

// How an option's value is written, which member of Config holds it, and what it may be. option_kinds.h has
// those that several options share.
struct OptionKind {
  ConfigOption::Type type;
  const char* value;    // ConfigOption::value
  const char* choices;  // ConfigOption::choices, as "fast|balanced|best"; null: none
  double low, high;
  void (*set)(Config& config, const OptionText& text);
  std::string (*text)(const Config& config);  // the inverse of `set`; empty: not set, or without a text
  // Throws Error(invalid_argument) for a value that `set` cannot give; null: there is none. `field` is
  // ConfigOption::field.
  void (*check)(const Config& config, const char* field);
};

// Whether and when Encoder::reconfigure changes an option.
struct OptionChange {
  ConfigOption::Change when = ConfigOption::Change::never;
  bool (*asked)(const ConfigChanges& changes) = nullptr;
  void (*apply)(const ConfigChanges& changes, Config& config) = nullptr;  // if it is asked for
  void (*ask)(const Config& config, ConfigChanges& changes) = nullptr;
};

// How the SEI message names an option: decoders' users read there what decided the bytes.
struct InStream {
  int place = 0;  // smaller ones come first; rows of one place never have a text together
  std::string (*text)(const Config& config) = nullptr;  // empty: not named
  const char* name = nullptr;                           // null: the row's
};

// What pictures are coded for besides a QP. A goal that is set when a clip begins stays set, and one that is
// not stays away: opening a backend depends on it, and so do headers.
struct OptionGoal {
  bool (*set)(const Config& config) = nullptr;  // null: the option is no goal
  bool limits = false;                          // pictures may be coded again to keep to it
};

struct OptionRow {
  const char* name;
  OptionKind kind;
  const char* meaning;  // null: the command has no such option, because the input decides
  const char* field = nullptr;
  const char* keyword = nullptr;
  const char* about = nullptr;
  const char* value = nullptr;  // instead of the kind's
  const char* implicit_value = nullptr;
  OptionChange change = {};
  InStream in_stream = {};
  OptionGoal goal = {};
  const char* off_switch = nullptr;  // ConfigOption's
  const char* off_meaning = nullptr;
};

struct OptionGroup {
  ConfigOption::Group group;
  std::span<const OptionRow> rows;
};

std::span<const OptionRow> rate_rows();
std::span<const OptionRow> coding_rows();
std::span<const OptionRow> execution_rows();
std::span<const OptionRow> input_rows();
std::span<const OptionRow> description_rows();
std::span<const OptionRow> output_rows();

// The table of options, in the order of help texts.
std::array<OptionGroup, 6> option_table();

// Checks every option's value alone, not which ones go together.
void check_options(const Config& config);

// Returns whether any option is a goal; with `limits`, one that may have pictures coded again.
bool has_goal(const Config& config, bool limits);

// Returns what the SEI message says of the options that decide the bytes: " name=value" for each.
std::string options_in_stream(const Config& config);

}  // namespace cu264::encoder
