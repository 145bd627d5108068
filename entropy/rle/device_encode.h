// Run-length coding on the GPU, in one pass.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cu264::rle {

template <class T>
struct EncodeArrays {
  const T* d_input;
  std::uint64_t size;
  T* d_symbols;
  std::uint32_t* d_lengths;
  std::uint64_t* d_runs;
};

std::size_t encode_scratch_bytes(std::uint64_t size);
void launch_encode(const EncodeArrays<std::uint8_t>& arrays, void* d_scratch, void* stream);
void launch_encode(const EncodeArrays<std::int32_t>& arrays, void* d_scratch, void* stream);

template <class T>
struct DecodeArrays {
  const T* d_symbols;
  const std::uint32_t* d_lengths;
  std::uint64_t runs;
  T* d_output;
  std::uint64_t size;
  std::uint64_t* d_total;
};

std::size_t decode_scratch_bytes(std::uint64_t runs);
void launch_decode(const DecodeArrays<std::uint8_t>& arrays, void* d_scratch, void* stream);
void launch_decode(const DecodeArrays<std::int32_t>& arrays, void* d_scratch, void* stream);

}  // namespace cu264::rle
