// Prefix sums and stream compaction, in host memory and in device memory.
//
// Errors are cu264::Error: invalid_argument for what a caller passes wrongly, device_unavailable where a
// function needs a GPU and the build has no CUDA, device_failure where the runtime refuses a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cu264::scan {

// Exclusive: element i becomes the sum of all before it; inclusive: that and its own.
enum class Kind { exclusive, inclusive };

// ---- In host memory, from any thread. Sums wrap where they exceed their type. The output has the input's
// ---- size and may be the input itself; else the two do not overlap.

void prefix_sum(std::span<const std::uint32_t> input, std::span<std::uint32_t> output, Kind kind);
void prefix_sum(std::span<const std::uint32_t> input, std::span<std::uint64_t> output, Kind kind);

// Copies, in order, the elements whose flag is not zero, or that are not zero themselves; returns how many.
// The output takes that many, and nothing behind them is written; Error(invalid_argument) where it cannot.
std::size_t select(std::span<const std::uint32_t> input, std::span<const std::uint8_t> flags,
                   std::span<std::uint32_t> output);
std::size_t select(std::span<const std::uint8_t> input, std::span<const std::uint8_t> flags,
                   std::span<std::uint8_t> output);
std::size_t select_nonzero(std::span<const std::uint32_t> input, std::span<std::uint32_t> output);
std::size_t select_nonzero(std::span<const std::uint8_t> input, std::span<std::uint8_t> output);

// ---- In device memory: asynchronous on `stream` (a cudaStream_t), without allocation or synchronisation.
// ---- Called with d_scratch null they only set scratch_size to the bytes they need for this count; then with
// ---- memory of that size, 256-byte aligned, whatever it holds, which is theirs until the work is done.
// ---- Arrays need the alignment of their elements only. Any count up to 2^38.

// The output may be the input itself where the types are equal. Fastest where input and output lie equally
// within 16 bytes.
void device_scan(void* d_scratch, std::size_t& scratch_size, const std::uint32_t* d_input,
                 std::uint32_t* d_output, std::uint64_t count, Kind kind, void* stream);
void device_scan(void* d_scratch, std::size_t& scratch_size, const std::uint32_t* d_input,
                 std::uint64_t* d_output, std::uint64_t count, Kind kind, void* stream);

// Like select(). The output takes `count` elements, of which those selected are written, and must not overlap
// the input; *d_selected becomes their number.
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
