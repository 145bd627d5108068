// The table of options: every option by its name, there and back, and what is said of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cu264/encoder.h"
#include "encoder/options/option_changes.h"
#include "tests/support/error_of.h"

namespace {

using cu264::Config;
using cu264::config_options;
using cu264::ConfigChanges;
using cu264::ConfigOption;
using cu264::ErrorCode;
using cu264::test::error_of;
using Type = ConfigOption::Type;

bool is_number(Type type) {
  return type == Type::whole || type == Type::number || type == Type::kilobits || type == Type::bytes;
}

// Values that Config::text gives as they were set. An option of a new form needs some here.
std::vector<std::string> values_of(const ConfigOption& option) {
  static const std::map<std::string, std::vector<std::string>> others = {
      {"edge-thresholds", {"rows-0.01", "0.08,0.19"}},
      {"level", {"auto", "1b", "4.0", "6.2"}},
      {"device", {"0", "2,0"}},
      {"size", {"1x1", "1920x1080"}},
      {"fps", {"25", "30000/1001"}},
      {"sar", {"0", "16:11"}}};
  std::vector<std::string> values = option.choices;
  if (is_number(option.type)) {
    const auto low = static_cast<std::int64_t>(option.low), high = static_cast<std::int64_t>(option.high);
    // 0 threads are "auto".
    values = {option.name == std::string("threads") ? "auto" : std::to_string(low), std::to_string(high)};
  }
  if (option.type == Type::number) values.emplace_back("21.5");
  if (option.type == Type::kilobits) values.emplace_back("1234.567");
  if (const auto found = others.find(option.name); found != others.end()) values = found->second;
  return values;
}

TEST(OptionTable, ValuesComeBack) {
  for (const ConfigOption& option : config_options()) {
    const std::vector<std::string> values = values_of(option);
    EXPECT_GE(values.size(), 2u) << option.name << ": no values to test it with";
    for (const std::string& value : values) {
      Config config;
      config.set(option.name, value);
      EXPECT_EQ(config.text(option.name), value) << option.name;
    }
    EXPECT_EQ(Config().text(option.name), option.initial);
    if (option.initial.empty()) continue;
    Config config;
    config.set(option.name, values.back());
    config.set(option.name, option.initial);
    EXPECT_EQ(config.text(option.name), option.initial) << option.name;
  }
  error_of(ErrorCode::invalid_argument, [] { Config().text("no-such-option"); });
}

TEST(OptionTable, WhatHasNoNameHasNoText) {
  Config config;
  config.scaling_lists.luma4x4[3] = 99, config.edge_detector.sigma_tenths = 3;
  for (const char* const name : {"cqm", "edge-thresholds"}) EXPECT_EQ(config.text(name), "") << name;
  config.colour.primaries = 200;  // a code point without a name has its number
  EXPECT_EQ(config.text("colorprim"), "200");
  config.entropy = cu264::EntropyCoder::cavlcu;
  EXPECT_EQ(config.text("pipeline"), "");
}

TEST(OptionTable, ErrorsSayWhatIsAccepted) {
  for (const ConfigOption& option : config_options()) {
    const auto refuse = [&](const std::string& value) {
      return error_of(ErrorCode::invalid_argument, [&] { Config().set(option.name, value); });
    };
    if (is_number(option.type)) {
      const auto high = static_cast<std::int64_t>(option.high);
      for (const std::string& value : {std::to_string(high + 1), std::string("-1"), std::string("nan")}) {
        EXPECT_NE(refuse(value).find(std::to_string(high)), std::string::npos) << option.name << " " << value;
      }
    }
    for (const std::string& choice : option.choices)
      EXPECT_NE(refuse("no-such-value").find(choice), std::string::npos) << option.name << " " << choice;
  }
}

TEST(OptionTable, EveryOptionIsDescribedOnce) {
  std::set<std::string> names, keywords, fields;
  for (const ConfigOption& option : config_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_TRUE(!option.keyword || keywords.insert(option.keyword).second) << option.name;
    EXPECT_TRUE(!option.field || fields.insert(option.field).second) << option.name;
    const std::string value = option.value, meaning = option.meaning ? option.meaning : "(off)",
                      about = option.about ? option.about : "";
    ASSERT_FALSE(value.empty() || meaning.empty() || about.empty()) << option.name;
    EXPECT_EQ(about.back(), '.') << option.name;
    // A default that is not 0 stands in the help text.
    const bool told = option.initial.empty() || option.initial == "0" ||
                      meaning.find("(" + option.initial) != std::string::npos;
    EXPECT_TRUE(told) << option.name << ": " << meaning;
    // So do the names of a list.
    if (value == "NAME" && option.group != ConfigOption::Group::input) {
      for (const std::string& choice : option.choices)
        EXPECT_NE(meaning.find(choice), std::string::npos) << option.name << ": " << choice;
    }
    // Texts name keywords.
    for (std::size_t tick = about.find('`'); tick != std::string::npos; tick = about.find('`', tick + 1)) {
      const std::size_t end = about.find('`', tick + 1);
      ASSERT_NE(end, std::string::npos) << about;
      const std::string named = about.substr(tick + 1, end - tick - 1);
      const std::vector<ConfigOption> all = config_options();
      EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                              [&](const ConfigOption& one) { return one.keyword && named == one.keyword; }))
          << option.name << ": " << named;
      tick = end;
    }
  }
}

TEST(OptionTable, ChangesByName) {
  using Change = ConfigOption::Change;
  int changeable = 0;
  for (const ConfigOption& option : config_options()) {
    for (const std::string& value : values_of(option)) {
      ConfigChanges changes;
      if (option.change == Change::never) {
        EXPECT_NE(
            error_of(ErrorCode::invalid_argument, [&] { changes.set(option.name, value); }).find(option.name),
            std::string::npos);
        continue;
      }
      ++changeable;
      changes.set(option.name, value);
      EXPECT_EQ(cu264::encoder::with_changes(Config(), changes).text(option.name), value);
      EXPECT_EQ(cu264::encoder::changes_of_next_clip(changes),
                option.change == Change::next_clip ? option.name : "");
      // Nothing else changes.
      for (const ConfigOption& other : config_options()) {
        if (other.name == option.name) continue;
        EXPECT_EQ(cu264::encoder::with_changes(Config(), changes).text(other.name), other.initial)
            << other.name;
      }
    }
  }
  EXPECT_GT(changeable, 10);
}

TEST(OptionTable, CrfAndBitrateTakeEachOthersPlace) {
  Config config;
  config.crf = 23;
  ConfigChanges changes;
  changes.bitrate = 1000000;
  config = cu264::encoder::with_changes(config, changes);
  EXPECT_FALSE(config.crf);
  EXPECT_EQ(config.bitrate, 1000000);
  changes = {}, changes.crf = 20;
  config = cu264::encoder::with_changes(config, changes);
  EXPECT_EQ(config.crf, 20);
  EXPECT_EQ(config.bitrate, 0);
}

}  // namespace
