#include "app/rate_report.h"

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

}  // namespace

bool controls_rate(const Config& config) {
  return config.crf || limits_pictures(config);
}

bool limits_pictures(const Config& config) {
  return config.bitrate > 0 || config.max_bitrate > 0 || config.max_frame_bytes > 0 || config.frame_bytes > 0;
}

std::string rate_text(const Config& config) {
  std::string text = config.bitrate > 0 ? kilobits(config.bitrate) + " kb/s"
                     : config.crf       ? "crf " + number(*config.crf)
                                        : "qp " + std::to_string(config.qp);
  if (config.max_bitrate > 0) text += ", at most " + kilobits(config.max_bitrate) + " kb/s";
  if (config.buffer_bits > 0) text += ", buffer of " + kilobits(config.buffer_bits) + " kb";
  if (config.cbr) text += ", cbr";
  if (config.max_frame_bytes > 0)
    text += ", at most " + std::to_string(config.max_frame_bytes) + " bytes a picture";
  if (config.frame_bytes > 0) text += ", " + std::to_string(config.frame_bytes) + " bytes a picture";
  return text;
}

void add_rate(const Config& config, io::Json& settings) {
  if (config.crf) settings["crf"] = *config.crf;
  if (config.bitrate > 0) settings["bitrate"] = config.bitrate;
  if (config.max_bitrate > 0) settings["max_bitrate"] = config.max_bitrate;
  if (config.buffer_bits > 0) settings["buffer_bits"] = config.buffer_bits;
  if (config.cbr) settings["cbr"] = true;
  if (config.max_frame_bytes > 0) settings["max_frame_bytes"] = config.max_frame_bytes;
  if (config.frame_bytes > 0) settings["frame_bytes"] = config.frame_bytes;
  if (config.on_overflow == OnOverflow::drop) settings["on_overflow"] = "drop";
}

}  // namespace cu264::app
