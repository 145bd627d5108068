// The files of a sequence of pictures. libavformat takes the first one that is missing or empty for the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cu264::io {

class PictureSequence {
 public:
  // `pattern` has a number like %04d, or * and ? if it is `globbed`. `start_number` is that of the first
  // picture; if not set, the first of 0 to 4 that is there.
  PictureSequence(std::string pattern, bool globbed, std::optional<int> start_number);

  // Returns in words what is missing after the first `read` pictures; empty if there are no more.
  std::string missing_after(std::int64_t read) const;

 private:
  std::string name(std::int64_t number) const;  // empty if the pattern makes none
  std::optional<std::int64_t> next_number_from(std::int64_t number) const;

  std::string pattern_;
  bool globbed_;
  std::vector<std::string> files_;  // of a pattern with * and ?, in order
  std::int64_t first_ = 0;          // number
};

}  // namespace cu264::io
