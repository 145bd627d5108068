#include "capi/c_config.h"

#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

namespace cu264::capi {
namespace {

[[noreturn]] void reject(const char* name, std::string_view value, const char* accepted) {
  throw Error(ErrorCode::invalid_argument, "bad " + std::string(name) + " \"" + std::string(value) + "\"",
              std::string("use ") + accepted);
}

bool parse_switch(const char* name, std::string_view value) {
  if (value == "on") return true;
  if (value == "off") return false;
  reject(name, value, "on or off");
}

// "N/D", or 0 for none.
Rational parse_time_base(const char* name, std::string_view value) {
  Rational base;
  const char* const end = value.data() + value.size();
  auto read = std::from_chars(value.data(), end, base.num);
  if (read.ec == std::errc{} && read.ptr != end && *read.ptr == '/')
    read = std::from_chars(read.ptr + 1, end, base.den);
  if (read.ec != std::errc{} || read.ptr != end || base.num < 0 || base.den <= 0)
    reject(name, value, "the seconds of a unit of pts, as 1/90000, or 0 for those of a picture");
  return base;
}

using Group = ConfigOption::Group;
using Setter = void (*)(Config& config, const char* name, std::string_view value);

struct Field {
  ConfigOption option;
  Setter set;
};

// Fields of Config that config_options() has no option for.
const Field kFields[] = {
    {{"time-base", "N/D", "seconds of a unit of pts (0: a picture)", Group::input},
     [](Config& config, const char* name, std::string_view value) {
       config.time_base = parse_time_base(name, value);
     }},
    {{"fixed-frame-rate", "on|off", "what the stream says of its frame rate (on)", Group::description, "on"},
     [](Config& config, const char* name, std::string_view value) {
       config.fixed_frame_rate = parse_switch(name, value);
     }},
    {{"reconstruction", "on|off", "packets have the decoded picture (off)", Group::output, "on"},
     [](Config& config, const char* name, std::string_view value) {
       config.reconstruction = parse_switch(name, value);
     }},
    {{"edge-maps", "on|off", "packets have the map of edges, of edge-guided (off)", Group::output, "on"},
     [](Config& config, const char* name, std::string_view value) {
       config.edge_maps = parse_switch(name, value);
     }},
    {{"device-output", "on|off", "slices stay in device memory (off)", Group::output, "on"},
     [](Config& config, const char* name, std::string_view value) {
       config.device_output = parse_switch(name, value);
     }},
};

int32_t group_of(Group group) {
  switch (group) {
    case Group::rate:
      return CU264_GROUP_RATE;
    case Group::coding:
      return CU264_GROUP_CODING;
    case Group::execution:
      return CU264_GROUP_EXECUTION;
    case Group::input:
      return CU264_GROUP_INPUT;
    case Group::output:
      return CU264_GROUP_OUTPUT;
    case Group::description:
      return CU264_GROUP_DESCRIPTION;
  }
  return CU264_GROUP_CODING;
}

// The options of Config::set, and of kFields those that it does not take.
class Options {
 public:
  Options() {
    for (const ConfigOption& option : config_options()) fields_.push_back({option, nullptr});
    for (const Field& field : kFields) {
      if (find(field.option.name) == nullptr) fields_.push_back(field);
    }
    for (const Field& field : fields_) {
      const ConfigOption& option = field.option;
      described_.push_back({sizeof(cu264_option), option.name, option.value,
                            option.meaning != nullptr ? option.meaning : option.about, option.implicit_value,
                            group_of(option.group), 0});
    }
  }

  // Without `set` it is one of Config::set.
  const Field& named(std::string_view name) const {
    if (const Field* const field = find(name)) return *field;
    std::string names;
    for (const Field& field : fields_) names += (names.empty() ? "" : ", ") + std::string(field.option.name);
    throw Error(ErrorCode::invalid_argument, "unknown option \"" + std::string(name) + "\"",
                "use one of " + names);
  }

  const std::vector<cu264_option>& described() const { return described_; }

 private:
  const Field* find(std::string_view name) const {
    for (const Field& field : fields_) {
      if (name == field.option.name) return &field;
    }
    return nullptr;
  }

  std::vector<Field> fields_;
  std::vector<cu264_option> described_;
};

const Options& options() {
  static const Options all;
  return all;
}

}  // namespace

void Log::tell(const EncoderInfo& info) const {
  if (callback == nullptr) return;
  for (const std::string& warning : info.warnings) callback(opaque, CU264_LOG_WARNING, warning.c_str());
  const std::string text = "backend " + info.backend + " (" + info.backend_reason + "), profile " +
                           info.profile + " with " + (info.cabac ? "CABAC" : "CAVLC") + " (" +
                           info.profile_reason + ")";
  callback(opaque, CU264_LOG_INFO, text.c_str());
}

std::string_view option_value(const char* name, const char* value) {
  const ConfigOption& option = options().named(text_at(name, "the option's name")).option;
  if (value == nullptr) value = option.implicit_value;
  if (value == nullptr) {
    throw Error(ErrorCode::invalid_argument, "the option \"" + std::string(option.name) + "\" needs a value",
                std::string("give ") + option.value);
  }
  return value;
}

void set_option(Config& config, const char* name, const char* value) {
  const std::string_view text = option_value(name, value);
  const Setter set = options().named(name).set;
  if (set != nullptr) return set(config, name, text);
  config.set(name, text);
}

}  // namespace cu264::capi

using cu264::capi::at;
using cu264::capi::guarded;

cu264_status cu264_config_create(cu264_config** config) {
  return guarded([&] {
    at(config, "config") = nullptr;
    *config = new cu264_config;
  });
}

cu264_status cu264_config_copy(const cu264_config* from, cu264_config** config) {
  return guarded([&] {
    at(config, "config") = nullptr;
    *config = new cu264_config(at(from, "from"));
  });
}

void cu264_config_destroy(cu264_config* config) {
  delete config;
}

cu264_status cu264_config_set(cu264_config* config, const char* name, const char* value) {
  return guarded([&] {
    // A copy, so that an option that sets several fields sets all of them or none.
    cu264::Config changed = at(config, "config").config;
    cu264::capi::set_option(changed, name, value);
    config->config = std::move(changed);
  });
}

cu264_status cu264_config_set_log(cu264_config* config, cu264_log_callback callback, void* opaque) {
  return guarded([&] { at(config, "config").log = {callback, opaque}; });
}

size_t cu264_option_count(void) {
  size_t count = 0;
  guarded([&] { count = cu264::capi::options().described().size(); });
  return count;
}

const cu264_option* cu264_option_at(size_t index) {
  const cu264_option* option = nullptr;
  guarded([&] {
    const auto& all = cu264::capi::options().described();
    if (index < all.size()) option = &all[index];
  });
  return option;
}

cu264_status cu264_memory_required(const cu264_config* config, uint64_t* device, uint64_t* pinned,
                                   int32_t* batch) {
  return guarded([&] {
    if (device != nullptr) *device = 0;
    if (pinned != nullptr) *pinned = 0;
    if (batch != nullptr) *batch = 0;
    const cu264::MemoryRequirement needed = cu264::memory_required(at(config, "config").config);
    if (device != nullptr) *device = needed.device;
    if (pinned != nullptr) *pinned = needed.pinned;
    if (batch != nullptr) *batch = needed.batch;
  });
}
