// One measurement as a line of JSON on standard output.
#pragma once

#include <cstdio>
#include <string>

namespace cu264::bench {

class JsonRow {
 public:
  explicit JsonRow(const std::string& experiment) { text("experiment", experiment); }

  JsonRow& text(const char* name, const std::string& value) {
    std::string quoted = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
    return add(name, quoted + "\"");
  }
  JsonRow& number(const char* name, double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", value);
    return add(name, digits);
  }
  void print() const {
    std::printf("{%s}\n", fields_.c_str());
    std::fflush(stdout);
  }

 private:
  JsonRow& add(const char* name, const std::string& value) {
    fields_ += (fields_.empty() ? "\"" : ",\"") + std::string(name) + "\":" + value;
    return *this;
  }

  std::string fields_;
};

}  // namespace cu264::bench
