// Run-length coding of bytes and of 32-bit integers, in host memory and in device memory.
//
// A run is a symbol and the number of times that it occurs in a row. Lengths have 32 bits: a run is cut
// wherever a position is a multiple of kCut, so that inputs of any size have only one result.
//
// Errors are cu264::Error: invalid_argument for wrong arguments, bad_input for runs that do not add up to
// the size that they should, device_unavailable if a function needs a GPU and the build has no CUDA,
// device_failure if the runtime refuses a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cu264::rle {

inline constexpr std::uint64_t kCut = std::uint64_t{1} << 31;

// ---- In host memory, from any thread.

// Writes the runs and returns their number. Both outputs must hold that many, and nothing beyond them is
// written; throws Error(invalid_argument) if they do not. An empty input has no runs.
std::size_t encode(std::span<const std::uint8_t> input, std::span<std::uint8_t> symbols,
                   std::span<std::uint32_t> lengths);
std::size_t encode(std::span<const std::int32_t> input, std::span<std::int32_t> symbols,
                   std::span<std::uint32_t> lengths);

// Throws Error(bad_input) if the lengths do not add up to the size of the output. A length may be 0.
void decode(std::span<const std::uint8_t> symbols, std::span<const std::uint32_t> lengths,
            std::span<std::uint8_t> output);
void decode(std::span<const std::int32_t> symbols, std::span<const std::uint32_t> lengths,
            std::span<std::int32_t> output);

// ---- In device memory: asynchronous on `stream` (a cudaStream_t), without allocation or synchronisation.
//
// Called with d_scratch null, the functions only set scratch_size to the bytes that they need for these
// sizes. Then they are called with memory of that size, 256-byte aligned, with any contents, which is theirs
// until the work is done. Arrays need no more than the alignment of their elements. Any size up to 2^38
// works.

// Writes the runs; *d_runs becomes their number. The outputs must hold one element for each symbol of the
// input, the worst case, although only those of the runs are written. They must not overlap the input.
void device_encode(void* d_scratch, std::size_t& scratch_size, const std::uint8_t* d_input,
                   std::uint64_t size, std::uint8_t* d_symbols, std::uint32_t* d_lengths,
                   std::uint64_t* d_runs, void* stream);
void device_encode(void* d_scratch, std::size_t& scratch_size, const std::int32_t* d_input,
                   std::uint64_t size, std::int32_t* d_symbols, std::uint32_t* d_lengths,
                   std::uint64_t* d_runs, void* stream);

// Writes the symbols of the runs, at most `size`. *d_total becomes the sum of the lengths (modulo 2^64); the
// output is complete if that is `size`. A length may be 0.
void device_decode(void* d_scratch, std::size_t& scratch_size, const std::uint8_t* d_symbols,
                   const std::uint32_t* d_lengths, std::uint64_t runs, std::uint8_t* d_output,
                   std::uint64_t size, std::uint64_t* d_total, void* stream);
void device_decode(void* d_scratch, std::size_t& scratch_size, const std::int32_t* d_symbols,
                   const std::uint32_t* d_lengths, std::uint64_t runs, std::int32_t* d_output,
                   std::uint64_t size, std::uint64_t* d_total, void* stream);

}  // namespace cu264::rle
