// The --stats file: one JSON object, written picture by picture so that long videos need no memory.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "io/output_file.h"

namespace cu264::io {

using Json = nlohmann::ordered_json;

class Statistics {
 public:
  explicit Statistics(const std::string& path) : file_(path) {}

  void begin(const Json& members);   // writes members of the object before "pictures"
  void picture(const Json& one);     // writes an element of "pictures"
  void finish(const Json& members);  // writes members after "pictures" and gives the file its name

 private:
  void write(const std::string& text) { file_.write(text.data(), text.size()); }

  OutputFile file_;
  bool first_picture_ = true;
};

}  // namespace cu264::io
