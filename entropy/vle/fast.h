// Variable-length encoding at the speed of memory, for codes of up to 16 bits: the encoder for production.
//
// Besides the stream it gives a chunk index, the bit at which every kChunkSymbols-th symbol begins: what
// decoding in parallel needs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "entropy/vle/device_encoder.h"

namespace cu264::vle {

// `most_shared`, here and below: bytes of shared memory that a thread block may take, at most what the device
// gives; tests run with it what GPUs of less shared memory run. With less than 48 KiB, which every GPU has,
// it does not work.
inline constexpr int kAllShared = 0x7fffffff;

// Scratch of fast_encode for an input of this size on the current device, in bytes.
std::size_t fast_scratch_bytes(std::size_t size, int most_shared = kAllShared);

// Encodes on the call's stream; no allocation, no synchronisation. d_chunk_index, where it is not null, takes
// chunk_count(size) bit positions, in device memory, 8-byte aligned: that of symbol 0 (zero), of symbol
// kChunkSymbols, and so on, also where the output did not hold the stream.
void fast_encode(const EncodeCall& call, std::uint64_t* d_chunk_index = nullptr,
                 int most_shared = kAllShared);

// The same as the other encoders look, without the index.
DeviceEncoder fast_encoder();

}  // namespace cu264::vle
