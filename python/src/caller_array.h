// An array that belongs to the caller: NumPy's, or what speaks DLPack or the CUDA array interface.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cu264::python {

namespace nb = nanobind;

enum class Number { uint8, half, bfloat16, single };

inline int bytes_of(Number number) {
  return number == Number::uint8 ? 1 : number == Number::single ? 4 : 2;
}

struct CallerArray {
  const std::uint8_t* data = nullptr;
  Number number = Number::uint8;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // in bytes
  bool on_device = false;
  int device = 0;
  void* stream = nullptr;  // what is enqueued there writes the array
  nb::object owner;        // keeps the memory

  std::string describe() const;  // for messages: "uint8 array of shape (121, 1080, 1920, 3)"
};

// Throws TypeError or ValueError for an object that is no such array, or has other numbers.
CallerArray import_array(nb::handle object);

// Returns what nanobind takes of an array in host memory: a new capsule of DLPack, or a memoryview.
nb::object export_of(nb::handle object);

// A number of an array as a float.
float to_float(const std::uint8_t* at, Number number);

}  // namespace cu264::python
