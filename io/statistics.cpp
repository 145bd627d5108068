#include "io/statistics.h"

namespace cu264::io {
namespace {

// File names need not be UTF-8, but JSON must be.
std::string text_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string members_of(const Json& object) {
  std::string text;
  for (const auto& [name, value] : object.items()) {
    if (!text.empty()) text += ",\n";
    text += "  " + text_of(name) + ": " + text_of(value);
  }
  return text;
}

}  // namespace

void Statistics::begin(const Json& members) {
  write("{\n" + members_of(members) + ",\n  \"pictures\": [");
}

void Statistics::picture(const Json& one) {
  write((first_picture_ ? "\n    " : ",\n    ") + text_of(one));
  first_picture_ = false;
}

void Statistics::finish(const Json& members) {
  write("\n  ],\n" + members_of(members) + "\n}\n");
  file_.commit();
}

}  // namespace cu264::io
