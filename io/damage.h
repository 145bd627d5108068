// Damaged and cut-off places of an input: refused, or counted if the user wants what can be read.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace cu264::io {

class Damage {
 public:
  // `file` is the input's name for messages.
  Damage(std::string file, bool allowed) : file_(std::move(file)), allowed_(allowed) {}

  bool allowed() const { return allowed_; }

  // Throws Error(bad_input) unless damage is allowed. `picture` is the number of the next picture.
  void report(const std::string& what, std::int64_t picture);

  const std::string& first() const { return first_; }  // empty if there was none
  std::string note() const;                            // a line for the user; empty if there was none

 private:
  std::string file_;
  bool allowed_;
  std::int64_t count_ = 0;
  std::string first_;
};

}  // namespace cu264::io
