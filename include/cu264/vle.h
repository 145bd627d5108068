// Variable-length coding of bytes: Huffman codes, encoders and decoders on the CPU and on a GPU, and a
// container for files and pipes.
//
// Errors are cu264::Error: invalid_argument for wrong arguments, bad_input for streams and containers that
// are damaged, device_unavailable if a function needs a GPU and there is none, or the build has no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cu264/backend_choice.h"
#include "cu264/vle_types.h"

namespace cu264::vle {

// ---- In host memory.
//
// `threads` is the number of threads that work, or 0 for as many as there are cores; it never changes a
// result. All functions may be called from any thread.

// Counts how often each byte value occurs.
Histogram histogram(std::span<const std::uint8_t> input, int threads = 1);

// Makes the best canonical code whose codes have at most `longest` bits, 1 to 32. The result is
// deterministic. A symbol that does not occur has no code; if only one symbol occurs, its code has one bit.
CodeTable make_code_table(const Histogram& histogram, int longest = kShortCode);

// The number of bits in the stream of an input with this histogram. Throws Error(invalid_argument) if a
// symbol has no code, and names it.
std::uint64_t stream_bits(const CodeTable& table, const Histogram& histogram);

// The number of bytes that so many bits take.
inline constexpr std::uint64_t stream_bytes(std::uint64_t bits) {
  return bits / 8 + (bits % 8 != 0);
}

// Encodes and returns the number of bits in the stream. The output must hold stream_bytes() of them and need
// not be zeroed; nothing beyond them is written. The chunk index is empty (not wanted) or holds
// chunk_count(input.size()) positions. Throws Error(invalid_argument) if the input holds a symbol without a
// code, which the message names, or if the output is too small, with the size that is needed.
std::uint64_t encode(const CodeTable& table, std::span<const std::uint8_t> input,
                     std::span<std::uint8_t> output, std::span<std::uint64_t> chunk_index = {},
                     int threads = 1);

// Decodes exactly output.size() symbols, in parallel if there is a chunk index. Throws Error(bad_input) if
// the stream does not hold them. Whatever its bytes are, nothing outside the given ranges is touched.
void decode(const CodeTable& table, std::span<const std::uint8_t> stream, std::uint64_t bits,
            std::span<std::uint8_t> output, std::span<const std::uint64_t> chunk_index = {}, int threads = 1);

// ---- In device memory: asynchronous on `stream` (a cudaStream_t), without allocation or synchronisation.
//
// Called with d_scratch null, the functions only set scratch_size to the bytes that they need for these
// sizes on the current device. Then they are called with memory of that size, 256-byte aligned, which is
// theirs until the work is done.

// Writes 256 counts. The input may have any alignment.
void device_histogram(void* d_scratch, std::size_t& scratch_size, const std::uint8_t* d_input,
                      std::size_t size, std::uint64_t* d_counts, void* stream);

struct DeviceEncode {
  const std::uint8_t* d_input = nullptr;   // any alignment; nothing beyond its last byte is read
  std::size_t size = 0;                    // bytes
  const CodeTable* d_table = nullptr;      // codes of at most 16 bits
  std::uint8_t* d_output = nullptr;        // 4-byte aligned; need not be zeroed
  std::size_t capacity = 0;                // bytes, a multiple of 4; nothing beyond it is written
  std::uint64_t* d_chunk_index = nullptr;  // chunk_count(size) positions; null: not wanted
  EncodeResult* d_result = nullptr;  // the output is good if nothing is missing and its bits fit the capacity
};
void device_encode(void* d_scratch, std::size_t& scratch_size, const DeviceEncode& call, void* stream);

struct DeviceDecode {
  const std::uint8_t* d_stream = nullptr;        // 4-byte aligned
  std::size_t stream_size = 0;                   // bytes that may be read, a multiple of 4
  const std::uint64_t* d_bits = nullptr;         // bits of the stream: &EncodeResult::bits, say
  const CodeTable* d_table = nullptr;            // codes of at most 16 bits
  const std::uint64_t* d_chunk_index = nullptr;  // null: there is none, and more scratch and time are needed
  std::uint8_t* d_output = nullptr;              // any alignment (16 is fastest)
  std::size_t size = 0;                          // symbols
  DecodeResult* d_result = nullptr;
};
void device_decode(void* d_scratch, std::size_t& scratch_size, const DeviceDecode& call, void* stream);

// ---- The container: self-contained segments with checksums, of any length, for files and pipes
// (docs/vle-format.md). All backends and thread counts write the same bytes.

struct StreamTotals {
  std::uint64_t original = 0;   // bytes
  std::uint64_t container = 0;  // bytes
};

struct StreamOptions {
  BackendChoice backend = BackendChoice::automatic;
  int device = 0;  // for the cuda backend
  int threads = 0;
  // Called from time to time with what is done so far, from one thread at a time. It may throw to stop.
  std::function<void(const StreamTotals&)> progress;
};

struct StreamReport {
  StreamTotals totals;
  std::string backend;  // "cuda" or "cpu"
  std::string reason;   // why this backend was chosen
};

// Fills the memory and returns the number of bytes, which is less than its size only at the end. Called from
// one thread at a time.
using Source = std::function<std::size_t(std::span<std::uint8_t>)>;
// Takes the bytes in order. Called from one thread at a time.
using Sink = std::function<void(std::span<const std::uint8_t>)>;

// These functions read, code and write in parallel, in memory that does not grow with the file. What a
// source, a sink or progress throws is passed on. expand() throws Error(bad_input) on anything that is not a
// complete container whose checksums match; what it passed to the sink before must then not be used.
StreamReport compress(const Source& source, const Sink& sink, const StreamOptions& options = {});
StreamReport expand(const Source& source, const Sink& sink, const StreamOptions& options = {});

// The same from memory to memory.
std::vector<std::uint8_t> compress(std::span<const std::uint8_t> input, const StreamOptions& options = {});
std::vector<std::uint8_t> expand(std::span<const std::uint8_t> container, const StreamOptions& options = {});

}  // namespace cu264::vle
