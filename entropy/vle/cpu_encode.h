// Encoding on the CPU, by one thread or by many: the same bytes.
#pragma once

#include <cstdint>
#include <span>

#include "cu264/vle.h"
#include "cu264/vle_types.h"

namespace cu264::vle {

// Both return the length of the stream in bits. The output takes its (bits + 7) / 8 bytes; nothing behind
// them is written, and nothing in it need be zero before. The index is empty (not wanted) or takes
// chunk_count(input.size()) positions.
//
// They throw Error(invalid_argument) where the input holds a symbol without a code, which is named, or the
// output is too small, with the size needed. The output then means nothing; the index is complete in the
// second case.
std::uint64_t encode_serial(const CodeTable& table, std::span<const std::uint8_t> input,
                            std::span<std::uint8_t> output, std::span<std::uint64_t> chunk_index = {});

// By all threads of the current oneTBB arena.
std::uint64_t encode_parallel(const CodeTable& table, std::span<const std::uint8_t> input,
                              std::span<std::uint8_t> output, std::span<std::uint64_t> chunk_index = {});

// Throws Error(invalid_argument) unless codes have at most 32 bits and fit their lengths.
void check_codes(const CodeTable& table);

}  // namespace cu264::vle
