// Prefix sums and stream compaction, in host memory and in device memory.
//
// Errors are cu264::Error: invalid_argument for wrong arguments, device_unavailable if a function needs a
// GPU and the build has no CUDA, device_failure if the runtime refuses a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cu264::scan {

// Exclusive: element i becomes the sum of all elements before it. Inclusive: the sum includes element i.
enum class Kind { exclusive, inclusive };

// ---- In host memory, from any thread. Sums wrap around if they exceed their type. The output has the
// input's size. It may be the input itself; otherwise the two must not overlap.

void prefix_sum(std::span<const std::uint32_t> input, std::span<std::uint32_t> output, Kind kind);
void prefix_sum(std::span<const std::uint32_t> input, std::span<std::uint64_t> output, Kind kind);

// Copies in order the elements whose flags are not zero, or the elements that are not zero themselves, and
// returns their number. The output must hold that many, and nothing beyond them is written; throws
// Error(invalid_argument) if it does not.
std::size_t select(std::span<const std::uint32_t> input, std::span<const std::uint8_t> flags,
                   std::span<std::uint32_t> output);
std::size_t select(std::span<const std::uint8_t> input, std::span<const std::uint8_t> flags,
                   std::span<std::uint8_t> output);
std::size_t select_nonzero(std::span<const std::uint32_t> input, std::span<std::uint32_t> output);
std::size_t select_nonzero(std::span<const std::uint8_t> input, std::span<std::uint8_t> output);

// ---- In device memory: asynchronous on `stream` (a cudaStream_t), without allocation or synchronisation.
//
// Called with d_scratch null, the functions only set scratch_size to the bytes that they need for this
// count. Then they are called with memory of that size, 256-byte aligned, with any contents, which is theirs
// until the work is done. Arrays need no more than the alignment of their elements. Any count up to 2^38
// works.

// The output may be the input itself if the types are equal. It is fastest if input and output have the same
// offset from a multiple of 16 bytes.
void device_scan(void* d_scratch, std::size_t& scratch_size, const std::uint32_t* d_input,
                 std::uint32_t* d_output, std::uint64_t count, Kind kind, void* stream);
void device_scan(void* d_scratch, std::size_t& scratch_size, const std::uint32_t* d_input,
                 std::uint64_t* d_output, std::uint64_t count, Kind kind, void* stream);

// Like select(). The output must hold `count` elements, although only those selected are written, and must
// not overlap the input. *d_selected becomes their number.
void device_select(void* d_scratch, std::size_t& scratch_size, const std::uint32_t* d_input,
                   const std::uint8_t* d_flags, std::uint32_t* d_output, std::uint64_t count,
                   std::uint64_t* d_selected, void* stream);
void device_select(void* d_scratch, std::size_t& scratch_size, const std::uint8_t* d_input,
                   const std::uint8_t* d_flags, std::uint8_t* d_output, std::uint64_t count,
                   std::uint64_t* d_selected, void* stream);
void device_select_nonzero(void* d_scratch, std::size_t& scratch_size, const std::uint32_t* d_input,
                           std::uint32_t* d_output, std::uint64_t count, std::uint64_t* d_selected,
                           void* stream);
void device_select_nonzero(void* d_scratch, std::size_t& scratch_size, const std::uint8_t* d_input,
                           std::uint8_t* d_output, std::uint64_t count, std::uint64_t* d_selected,
                           void* stream);

}  // namespace cu264::scan
