// Encoding on the CPU, by one thread or by many, with the same result.
#pragma once

#include <cstdint>
#include <span>

#include "cu264/vle.h"
#include "cu264/vle_types.h"

namespace cu264::vle {

// Both return the length of the stream in bits. The output must hold (bits + 7) / 8 bytes; nothing beyond
// them is written, and the output need not be zeroed first. The index is empty (not wanted) or holds
// chunk_count(input.size()) positions.
//
// They throw Error(invalid_argument) if the input holds a symbol without a code, which the message names, or
// if the output is too small, with the size that is needed. The output is then undefined; in the second case
// the index is complete.
std::uint64_t encode_serial(const CodeTable& table, std::span<const std::uint8_t> input,
                            std::span<std::uint8_t> output, std::span<std::uint64_t> chunk_index = {});

// The same with all threads of the current oneTBB arena.
std::uint64_t encode_parallel(const CodeTable& table, std::span<const std::uint8_t> input,
                              std::span<std::uint8_t> output, std::span<std::uint64_t> chunk_index = {});

// Throws Error(invalid_argument) unless codes have at most 32 bits and fit their lengths.
void check_codes(const CodeTable& table);

}  // namespace cu264::vle
