#include "io/output_container.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "io/av.h"

namespace cu264::io {
namespace {

struct ContainerFormat {
  const char* name;
  Container container;
  const char* muxer;
  const char* demuxer;
};

constexpr std::array<ContainerFormat, 6> kFormats{{{"h264", Container::h264, "h264", "h264"},
                                                   {"264", Container::h264, "h264", "h264"},
                                                   {"mp4", Container::mp4, "mp4", "mov"},
                                                   {"mov", Container::mov, "mov", "mov"},
                                                   {"mkv", Container::mkv, "matroska", "matroska"},
                                                   {"ts", Container::ts, "mpegts", "mpegts"}}};

const ContainerFormat* find_format(const std::string& name) {
  const auto format = std::find_if(kFormats.begin(), kFormats.end(),
                                   [&](const ContainerFormat& f) { return name == f.name; });
  return format == kFormats.end() ? nullptr : &*format;
}

const ContainerFormat& format_of(Container container) {
  return *std::find_if(kFormats.begin(), kFormats.end(),
                       [&](const ContainerFormat& f) { return f.container == container; });
}

}  // namespace

Container container_by_name(const std::string& name) {
  if (const ContainerFormat* format = find_format(name)) return format->container;
  throw Error(ErrorCode::invalid_argument, "unknown format '" + name + "'", "one of h264, mp4, mov, mkv, ts");
}

Container container_by_extension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const ContainerFormat* format = extension.empty() ? nullptr : find_format(extension.substr(1));
  if (format) return format->container;
  throw Error(ErrorCode::invalid_argument, path + ": the extension names no format",
              "name it .264 .h264 .mp4 .mov .mkv or .ts, or give --format");
}

const char* muxer_name(Container container) {
  return format_of(container).muxer;
}
const char* demuxer_name(Container container) {
  return format_of(container).demuxer;
}
bool is_mp4_family(Container container) {
  return container == Container::mp4 || container == Container::mov;
}
bool separate_headers(Container container) {
  return is_mp4_family(container) || container == Container::mkv;
}

const char* name_of(Container container) {
  return format_of(container).name;
}

}  // namespace cu264::io
