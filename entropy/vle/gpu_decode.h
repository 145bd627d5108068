// Decoding on the GPU, with a chunk index or without, for codes of up to 16 bits.
//
// With the index (entropy/vle/fast.h) each thread decodes a chunk. Without it the index is computed first:
// each stretch of the stream has a map from the 16 bits at which its first code may begin to the bit at
// which the first code of the next stretch then begins, and these maps are scanned.
//
// Whatever the stream, the table and the index hold, nothing outside the given ranges is read or written,
// and what cannot be the code of `size` symbols is reported.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cu264/vle_types.h"

namespace cu264::vle {

struct DecodeCall {
  const std::uint8_t* d_stream;        // 4-byte aligned
  std::size_t stream_size;             // bytes that may be read, a multiple of 4
  const std::uint64_t* d_bits;         // bits of the stream, like EncodeResult::bits; in device memory
  const CodeTable* d_table;            // codes of 1 to 16 bits, none the beginning of another
  const std::uint64_t* d_chunk_index;  // chunk_count(size) positions; null: there is none
  std::uint8_t* d_output;              // any alignment (16 is fastest)
  std::size_t size;                    // symbols
  DecodeResult* d_result;
  void* d_scratch;           // 256-byte aligned
  std::size_t scratch_size;  // at least what decode_scratch_bytes returns for these sizes
  void* stream;              // cudaStream_t
};

// Bytes of scratch: without an index about a quarter of stream_size, and a byte for every 128 symbols.
std::size_t decode_scratch_bytes(std::size_t stream_size, std::size_t size, bool with_index);

// Asynchronous, without allocation or synchronisation. Throws Error if a launch is refused.
void decode(const DecodeCall& call);

}  // namespace cu264::vle
