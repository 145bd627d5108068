// The interface of every encoder on the GPU, so that tests and benchmarks can run all of them alike.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cu264/vle_types.h"

namespace cu264::vle {

struct EncodeCall {
  const std::uint8_t* d_input;  // any alignment; nothing beyond its last byte is read
  std::size_t size;             // bytes, 0 included
  const CodeTable* d_table;
  std::uint8_t* d_output;  // 4-byte aligned; need not be zeroed
  std::size_t capacity;    // bytes, a multiple of 4; nothing beyond it is written
  EncodeResult* d_result;
  void* d_scratch;           // 256-byte aligned
  std::size_t scratch_size;  // at least scratch_bytes(size)
  void* stream;              // cudaStream_t
};

struct DeviceEncoder {
  const char* name;
  int longest_code;                                // of the tables it takes
  std::size_t (*scratch_bytes)(std::size_t size);  // for an input of this size, on the current device
  void (*launch)(const EncodeCall& call);          // asynchronous; throws Error if a launch is refused
};

}  // namespace cu264::vle
