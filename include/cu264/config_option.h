// The options of a Config: what Config::set takes, and all that a help text, a form or a binding of another
// language needs to know of them. docs/options.md is made from this list.
#pragma once

#include <string>
#include <vector>

namespace cu264 {

struct ConfigOption {
  enum class Group { rate, coding, execution, input, output, description };  // description: of the pictures

  enum class Type {
    whole,       // a whole number
    number,      // a number
    kilobits,    // a number of kbit; the member of Config is in bits
    bytes,       // a whole number of bytes
    flag,        // one of two `choices`, for true and for false; a bool in Config
    choice,      // one of `choices`
    code_point,  // one of `choices`, which name the numbers of H.273 that Config has
    ratio,       // a number, or two with "/" or ":" between them; a Rational in Config
    devices,     // numbers of CUDA devices
    text,        // as `value` shows it
  };

  // When Encoder::reconfigure may change it.
  enum class Change { never, next_clip, any_picture };

  const char* name;     // as Config::set takes it, and with two dashes the command
  const char* value;    // a placeholder for the value, for example "N" or "fast|balanced|best"
  const char* meaning;  // in the command's words; the default is in parentheses. Null: the command decides
  Group group = Group::coding;
  const char* implicit_value = nullptr;  // what a name without a value stands for; null: it needs one
  const char* field = nullptr;           // the member of Config; null: several
  const char* keyword = nullptr;         // Python's keyword argument; null: there is none
  const char* about = nullptr;           // sentences that name options by their keywords, in backticks
  Type type = Type::text;
  double low = 0, high = 0;  // the range of numbers, in the unit of Config::set; equal: there is none
  std::vector<std::string> choices = {};  // the words that are taken, without other spellings; may be empty
  std::string initial = {};               // what Config() has, as Config::text gives it
  Change change = Change::never;
  // What the command has in the place of a flag that is on by default: a switch that turns it off.
  const char* off_switch = nullptr;  // its name; null: the command has the option itself
  const char* off_meaning = nullptr;
};

// Returns all of them, in the order in which help texts list them.
std::vector<ConfigOption> config_options();

}  // namespace cu264
