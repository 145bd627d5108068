#include "capi/c_settings.h"

#include <charconv>
#include <string>
#include <string_view>

#include "capi/boundary.h"
#include "capi/c_config.h"

namespace cu264::capi {
namespace {

struct GroupSetting {
  const char* name;
  void (*copy)(const Config& from, StreamGroupConfig& to);  // null: a number that Config does not have
  void (*set)(StreamGroupConfig& config, int value);
  int least, most;
};

constexpr int kMaxWait = 1'000'000;  // microseconds
constexpr GroupSetting kGroupSettings[] = {
    {"backend", [](const Config& from, StreamGroupConfig& to) { to.backend = from.backend; }, nullptr, 0, 0},
    {"device", [](const Config& from, StreamGroupConfig& to) { to.devices = from.devices; }, nullptr, 0, 0},
    {"threads", [](const Config& from, StreamGroupConfig& to) { to.threads = from.threads; }, nullptr, 0, 0},
    {"batch", [](const Config& from, StreamGroupConfig& to) { to.batch = from.batch; }, nullptr, 0, 0},
    {"batches-in-flight", nullptr,
     [](StreamGroupConfig& config, int value) { config.batches_in_flight = value; }, 1, 8},
    {"longest-wait", nullptr,
     [](StreamGroupConfig& config, int value) { config.longest_wait = std::chrono::microseconds(value); }, 0,
     kMaxWait},
    {"queue", nullptr, [](StreamGroupConfig& config, int value) { config.queue = value; }, 1, 1024},
};

const GroupSetting& group_setting(const char* name) {
  const std::string_view wanted = text_at(name, "the setting's name");
  std::string known;
  for (const GroupSetting& setting : kGroupSettings) {
    if (wanted == setting.name) return setting;
    known += (known.empty() ? "" : ", ") + std::string(setting.name);
  }
  throw Error(ErrorCode::invalid_argument, "\"" + std::string(wanted) + "\" is no setting of a group",
              "use one of " + known);
}

int parse_number(const GroupSetting& setting, const char* value) {
  const std::string_view text = text_at(value, setting.name);
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || number < setting.least ||
      number > setting.most) {
    throw Error(
        ErrorCode::invalid_argument, "bad " + std::string(setting.name) + " \"" + std::string(text) + "\"",
        "use a whole number from " + std::to_string(setting.least) + " to " + std::to_string(setting.most));
  }
  return number;
}

}  // namespace

std::span<const cu264_setting> settings_at(const cu264_setting* settings, std::size_t count) {
  if (count > 0) at(settings, "settings");
  return {settings, count};
}

ConfigChanges changes_of(std::span<const cu264_setting> settings) {
  ConfigChanges changes;
  for (const cu264_setting& setting : settings) {
    const std::string_view value = option_value(setting.name, setting.value);
    changes.set(setting.name, value);
  }
  return changes;
}

StreamGroupConfig group_config_of(std::span<const cu264_setting> settings) {
  StreamGroupConfig config;
  for (const cu264_setting& setting : settings) {
    const GroupSetting& known = group_setting(setting.name);
    if (known.set != nullptr) {
      known.set(config, parse_number(known, setting.value));
      continue;
    }
    Config parsed;
    set_option(parsed, setting.name, setting.value);
    known.copy(parsed, config);
  }
  return config;
}

}  // namespace cu264::capi
