#include "io/picture_sequence.h"

#include <glob.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/av.h"

namespace cu264::io {
namespace {

constexpr int kFirstNumbers = 5;  // libavformat's start_number_range

std::string empty_file(const std::string& name) {
  return "the picture " + name + " is empty";
}

bool exists(const std::string& name) {
  std::error_code unknown;
  return !name.empty() && std::filesystem::exists(name, unknown);
}

bool is_empty(const std::string& name) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(name, unknown) && std::filesystem::file_size(name, unknown) == 0;
}

// libavformat sorts them so too.
std::vector<std::string> files_of(const std::string& pattern) {
  std::vector<std::string> files;
  glob_t found{};
  if (glob(pattern.c_str(), GLOB_BRACE, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return files;
}

// The part of a path that has the number, with the text before and after the number.
struct NumberedName {
  std::string folder, before, after;
};

std::optional<NumberedName> split(const std::string& pattern) {
  std::size_t percent = pattern.find('%');
  while (percent != std::string::npos && pattern.compare(percent, 2, "%%") == 0)
    percent = pattern.find('%', percent + 2);
  const std::size_t letter = percent == std::string::npos ? percent : pattern.find('d', percent);
  if (letter == std::string::npos) return std::nullopt;
  const std::size_t slash = pattern.rfind('/', percent);
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t end = std::min(pattern.find('/', letter), pattern.size());
  return NumberedName{slash == std::string::npos ? "." : pattern.substr(0, begin),
                      pattern.substr(begin, percent - begin), pattern.substr(letter + 1, end - letter - 1)};
}

std::optional<std::int64_t> number_in(const std::string& name, const NumberedName& parts) {
  if (name.size() <= parts.before.size() + parts.after.size() || !name.starts_with(parts.before) ||
      !name.ends_with(parts.after)) {
    return std::nullopt;
  }
  const char* const begin = name.data() + parts.before.size();
  const char* const end = name.data() + name.size() - parts.after.size();
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(begin, end, number);
  return error == std::errc{} && stop == end && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

PictureSequence::PictureSequence(std::string pattern, bool globbed, std::optional<int> start_number)
    : pattern_(std::move(pattern)), globbed_(globbed) {
  if (globbed_) {
    files_ = files_of(pattern_);
  } else if (start_number) {
    first_ = *start_number;
  } else {
    while (first_ < kFirstNumbers - 1 && !exists(name(first_))) ++first_;
  }
}

std::string PictureSequence::name(std::int64_t number) const {
  char text[4096];
  return av_get_frame_filename(text, sizeof text, pattern_.c_str(), static_cast<int>(number)) < 0 ? "" : text;
}

// Finds the smallest number from `number` on that a file has.
std::optional<std::int64_t> PictureSequence::next_number_from(std::int64_t number) const {
  const auto parts = split(pattern_);
  if (!parts) return std::nullopt;
  std::optional<std::int64_t> next;
  std::error_code unknown;
  for (std::filesystem::directory_iterator entry(parts->folder, unknown), end; !unknown && entry != end;
       entry.increment(unknown)) {
    const auto own = number_in(entry->path().filename().string(), *parts);
    if (own && *own >= number && *own < next.value_or(INT64_MAX) && exists(name(*own))) next = own;
  }
  return next;
}

std::string PictureSequence::missing_after(std::int64_t read) const {
  if (globbed_) {
    if (read >= static_cast<std::int64_t>(files_.size())) return {};
    const std::string& file = files_[static_cast<std::size_t>(read)];
    return is_empty(file) ? empty_file(file) : "the picture " + file + " cannot be read";
  }
  const std::int64_t number = first_ + read;
  const std::string file = name(number);
  if (exists(file)) return is_empty(file) ? empty_file(file) : "the picture " + file + " cannot be read";
  const auto next = next_number_from(number + 1);
  return next ? "the picture " + file + " is missing, and " + name(*next) + " is there" : std::string();
}

}  // namespace cu264::io
