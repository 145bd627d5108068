// The kinds of values that several options have.
#pragma once

#include <optional>
#include <type_traits>

#include "encoder/config.h"
#include "encoder/options/option_names.h"
#include "encoder/options/option_row.h"

namespace cu264::encoder {

// A member of Config, or a member of a member: Field<&Config::colour, &Colour::matrix>.
template <auto... path>
struct Field {
  static auto& of(Config& config) { return (config.*....*path); }
  static const auto& of(const Config& config) { return (config.*....*path); }
};

template <class F, int low, int high>
inline constexpr OptionKind kWhole = {
    ConfigOption::Type::whole,
    "N",
    nullptr,
    low,
    high,
    [](Config& config, const OptionText& value) { F::of(config) = parse_whole(value, low, high); },
    [](const Config& config) { return std::to_string(F::of(config)); },
    [](const Config& config, const char* field) { require_range(field, F::of(config), low, high); }};

// 0 is written "auto".
template <class F, int low, int high>
inline constexpr OptionKind kWholeOrAuto = {
    ConfigOption::Type::whole,
    "N|auto",
    nullptr,
    low,
    high,
    [](Config& config, const OptionText& value) {
      F::of(config) = value.text == "auto" ? 0 : parse_whole(value, low, high);
    },
    [](const Config& config) { return F::of(config) == 0 ? "auto" : std::to_string(F::of(config)); },
    [](const Config& config, const char* field) { require_range(field, F::of(config), low, high); }};

// A std::optional in Config, written "auto" if it is not set.
template <class F, int low, int high>
inline constexpr OptionKind kOptionalWhole = {
    ConfigOption::Type::whole,
    "N|auto",
    nullptr,
    low,
    high,
    [](Config& config, const OptionText& value) {
      F::of(config).reset();
      if (value.text != "auto") F::of(config) = parse_whole(value, low, high);
    },
    [](const Config& config) { return F::of(config) ? std::to_string(*F::of(config)) : "auto"; },
    [](const Config& config, const char* field) {
      if (F::of(config)) require_range(field, *F::of(config), low, high);
    }};

// low..high, or `unset`, just below them, which has no text.
template <class F, int low, int high, int unset = low - 1>
inline constexpr OptionKind kWholeOrUnset = {
    ConfigOption::Type::whole,
    "N",
    nullptr,
    low,
    high,
    [](Config& config, const OptionText& value) { F::of(config) = parse_whole(value, low, high); },
    [](const Config& config) { return F::of(config) == unset ? "" : std::to_string(F::of(config)); },
    [](const Config& config, const char* field) { require_range(field, F::of(config), unset, high); }};

// Bits, of which 0 stands for none.
template <class F>
inline constexpr OptionKind kBits = {
    ConfigOption::Type::kilobits,
    "KBIT",
    nullptr,
    0,
    static_cast<double>(kMaxBits / 1000),
    [](Config& config, const OptionText& value) { F::of(config) = parse_kilobits(value, kMaxBits, "kbit"); },
    [](const Config& config) { return kilobits_text(F::of(config)); },
    [](const Config& config, const char* field) { require_range(field, F::of(config), 0, kMaxBits); }};

// Bits a second.
template <class F>
inline constexpr OptionKind kBitRate = {ConfigOption::Type::kilobits,
                                        "KBPS",
                                        nullptr,
                                        0,
                                        static_cast<double>(kMaxBits / 1000),
                                        [](Config& config, const OptionText& value) {
                                          F::of(config) = parse_kilobits(value, kMaxBits, "kbit a second");
                                        },
                                        kBits<F>.text,
                                        kBits<F>.check};

template <class F>
inline constexpr OptionKind kBytes = {
    ConfigOption::Type::bytes,
    "N",
    nullptr,
    0,
    static_cast<double>(kMaxFrameBytes),
    [](Config& config, const OptionText& value) { F::of(config) = parse_bytes(value, kMaxFrameBytes); },
    [](const Config& config) { return std::to_string(F::of(config)); },
    [](const Config& config, const char* field) { require_range(field, F::of(config), 0, kMaxFrameBytes); }};

// One of some names: an enumeration, a bool, or a code point from 0 to 255, which need not have a name. The
// member of Config may be a std::optional of one.
template <class F, const auto& names, ConfigOption::Type option_type = ConfigOption::Type::choice>
inline constexpr OptionKind kChoice = {option_type,
                                       kShown<names>.data(),
                                       kShown<names>.data(),
                                       0,
                                       0,
                                       [](Config& config, const OptionText& value) {
                                         for (const auto& named : names) {
                                           if (value.text == named.name)
                                             return static_cast<void>(F::of(config) = named.value);
                                         }
                                         value.reject(listed(names));
                                       },
                                       [](const Config& config) -> std::string {
                                         using Value = std::remove_cvref_t<decltype(names[0].value)>;
                                         const std::optional<Value> value = F::of(config);
                                         const char* const name = value ? find_name(names, *value) : nullptr;
                                         return name == nullptr ? "" : name;
                                       },
                                       [](const Config& config, const char* field) {
                                         using Value = std::remove_cvref_t<decltype(names[0].value)>;
                                         const std::optional<Value> value = F::of(config);
                                         if constexpr (std::is_enum_v<Value>) {
                                           if (value) name_of(*value);
                                         } else {
                                           require_range(field, *value, 0, 255);
                                         }
                                       }};

template <class F>
inline constexpr OptionKind kSwitch = kChoice<F, kSwitches, ConfigOption::Type::flag>;

// The change of an option that has a member of its own in ConfigChanges.
template <class F, auto changed>
constexpr OptionChange changes(ConfigOption::Change when) {
  return {when, [](const ConfigChanges& all) { return (all.*changed).has_value(); },
          [](const ConfigChanges& all, Config& config) { F::of(config) = *(all.*changed); },
          [](const Config& config, ConfigChanges& all) { all.*changed = F::of(config); }};
}

}  // namespace cu264::encoder
