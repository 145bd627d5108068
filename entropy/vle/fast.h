// The production encoder: variable-length encoding at the speed of memory, for codes of up to 16 bits.
//
// Besides the stream it gives a chunk index, the bit at which every kChunkSymbols-th symbol begins. Parallel
// decoding needs it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "entropy/vle/device_encoder.h"

namespace cu264::vle {

// `most_shared`, here and below, limits the bytes of shared memory that a thread block may take. Tests use
// it to run what GPUs with less shared memory run. It must be at least 48 KiB, which every GPU has.
inline constexpr int kAllShared = 0x7fffffff;

// Bytes of scratch that fast_encode needs for an input of this size on the current device.
std::size_t fast_scratch_bytes(std::size_t size, int most_shared = kAllShared);

// Encodes on the call's stream, without allocation or synchronisation. d_chunk_index, if not null, receives
// chunk_count(size) bit positions in device memory, 8-byte aligned: those of symbol 0 (zero), of symbol
// kChunkSymbols, and so on, even if the output is too small for the stream.
void fast_encode(const EncodeCall& call, std::uint64_t* d_chunk_index = nullptr,
                 int most_shared = kAllShared);

// The same encoder, without the index, behind the interface of all encoders.
DeviceEncoder fast_encoder();

}  // namespace cu264::vle
