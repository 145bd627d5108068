#include "app/rate_report.h"

#include <cmath>
#include <cstdio>

namespace cu264::app {
namespace {

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

std::string kilobits(std::int64_t bits) {
  return number(static_cast<double>(bits) / 1000);
}

io::Json json_of(const ConfigOption& option, const std::string& text) {
  switch (option.type) {
    case ConfigOption::Type::whole:
    case ConfigOption::Type::bytes:
      return std::stoll(text);
    case ConfigOption::Type::kilobits:
      return std::llround(1000 * std::stod(text));
    case ConfigOption::Type::number:
      return std::stod(text);
    case ConfigOption::Type::flag:
      return text == option.choices.front();
    default:
      return text.empty() ? "custom" : text;
  }
}

}  // namespace

std::string rate_text(const Config& config) {
  std::string text = config.bitrate > 0 ? kilobits(config.bitrate) + " kb/s"
                     : config.crf       ? "crf " + number(*config.crf)
                                        : "qp " + std::to_string(config.qp);
  for (const ConfigOption& option : config_options()) {
    const std::string_view name = option.name;
    const bool said = name == "qp" || name == "crf" || name == "bitrate";
    if (option.group != ConfigOption::Group::rate || option.meaning == nullptr || said) continue;
    const std::string value = config.text(name);
    if (value == option.initial) continue;
    text += ", " + std::string(name);
    if (option.type != ConfigOption::Type::flag) text += " " + value;
  }
  return text;
}

void add_options(const Config& config, io::Json& settings) {
  using Group = ConfigOption::Group;
  for (const ConfigOption& option : config_options()) {
    const bool decides = option.group == Group::rate || option.group == Group::coding;
    if (!decides || option.field == nullptr || settings.contains(option.field)) continue;
    const std::string text = config.text(option.name);
    if (text != option.initial) settings[option.field] = json_of(option, text);
  }
}

}  // namespace cu264::app
