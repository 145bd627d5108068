// Parsers of option values that the library's Config does not parse.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace cu264::app {

// They throw Error(invalid_argument), which names the option and the values that it takes.
std::int64_t parse_count(const std::string& option, const std::string& value);     // 1, 2, ...
std::uint32_t parse_density(const std::string& option, const std::string& value);  // 1 to 65536
int parse_from_zero(const std::string& option, const std::string& value);          // 0, 1, ...
double parse_time(const std::string& option, const std::string& value);  // seconds: 90.5, 1:30.5, 0:01:30.5
std::pair<int, int> parse_size(const std::string& option, const std::string& value,
                               int max_side);                              // WxH
bool parse_auto_off(const std::string& option, const std::string& value);  // true: auto
bool parse_on_off(const std::string& option, const std::string& value);
std::string parse_pixel_format(const std::string& option, const std::string& value);

// Says by the extension whether the file has bare samples, which nothing in the file describes.
bool looks_like_raw_video(const std::string& path);
// Says by the extension whether the file has a format that describes itself.
bool looks_like_described_video(const std::string& path);

}  // namespace cu264::app
