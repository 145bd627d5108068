// The parts of the module cu264._core, and what they share.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "released_gil.h"

namespace cu264::python {

void bind_group(nanobind::module_& m);
void bind_edges(nanobind::module_& m);
void bind_protection(nanobind::module_& m);
void bind_options(nanobind::module_& m);
void bind_vle(nanobind::module_& m);

// Returns a message of the library with this package's names of options.
std::string in_our_words(std::string text);

inline nanobind::bytes bytes_of(std::span<const std::uint8_t> from) {
  return nanobind::bytes(from.data(), from.size());
}

// Valid as long as the object is.
inline std::span<const std::uint8_t> span_of(const nanobind::bytes& from) {
  return {static_cast<const std::uint8_t*>(from.data()), from.size()};
}

inline std::vector<std::uint8_t> vector_of(const nanobind::bytes& from) {
  const std::span<const std::uint8_t> bytes = span_of(from);
  return {bytes.begin(), bytes.end()};
}

}  // namespace cu264::python
