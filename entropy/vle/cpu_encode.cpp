// Every chunk is measured and then written. One thread writes it while it is in the cache; several threads
// make two passes, with a scan of the chunks' lengths between them.
#include "entropy/vle/cpu_encode.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "cu264/status.h"
#include "entropy/vle/run_writer.h"

namespace cu264::vle {
namespace {

using Bytes = std::span<const std::uint8_t>;

std::string name_of(int symbol) {
  std::string name = "symbol " + std::to_string(symbol);
  if (std::isprint(symbol)) name = name + " ('" + static_cast<char>(symbol) + "')";
  return name;
}

[[noreturn]] void refuse_missing(int symbol) {
  throw Error(ErrorCode::invalid_argument, name_of(symbol) + " of the input has no code in the table",
              "make the table from a histogram of the same input");
}

// The lengths of all codes. The length of a symbol without a code is so large that it shows in every sum.
class Measure {
 public:
  explicit Measure(const CodeTable& table) {
    for (int s = 0; s < kSymbols; ++s) lengths_[s] = table.length[s] != 0 ? table.length[s] : kMissing;
  }

  // Returns the length of at most kChunkSymbols symbols.
  std::uint32_t operator()(Bytes symbols) const {
    std::uint32_t even = 0, odd = 0;
    std::size_t i = 0;
    for (; i + 2 <= symbols.size(); i += 2) even += lengths_[symbols[i]], odd += lengths_[symbols[i + 1]];
    if (i < symbols.size()) even += lengths_[symbols[i]];
    if (even + odd >= kMissing) refuse(symbols);
    return even + odd;
  }

 private:
  static constexpr std::uint32_t kMissing = 1u << 16;
  static_assert(kMissing > kLongCode * kChunkSymbols);
  static_assert(std::uint64_t{kMissing} * kChunkSymbols <= std::numeric_limits<std::uint32_t>::max());

  [[noreturn]] void refuse(Bytes symbols) const {
    for (const std::uint8_t symbol : symbols) {
      if (lengths_[symbol] == kMissing) refuse_missing(symbol);
    }
    throw Error(ErrorCode::encode_failure, "a chunk's length is wrong");
  }

  std::array<std::uint32_t, kSymbols> lengths_{};
};

void check_arguments(const CodeTable& table, Bytes input, std::span<const std::uint64_t> chunk_index) {
  check_codes(table);
  if (!chunk_index.empty() && chunk_index.size() != chunk_count(input.size())) {
    throw Error(ErrorCode::invalid_argument,
                "a chunk index of " + std::to_string(chunk_index.size()) + " entries",
                "it needs " + std::to_string(chunk_count(input.size())) + ", or none");
  }
}

[[noreturn]] void refuse_capacity(std::uint64_t bits, std::size_t capacity) {
  throw Error(ErrorCode::invalid_argument,
              "the output of " + std::to_string(capacity) + " bytes is too small for the stream",
              "it needs " + std::to_string(stream_bytes(bits)) + " bytes");
}

Bytes chunk_of(Bytes input, std::size_t chunk) {
  const std::size_t first = chunk * kChunkSymbols;
  return input.subspan(first, std::min<std::size_t>(kChunkSymbols, input.size() - first));
}

}  // namespace

void check_codes(const CodeTable& table) {
  for (int s = 0; s < kSymbols; ++s) {
    const int length = table.length[s];
    if (length > kLongCode || (length < kLongCode && table.code[s] >> length != 0)) {
      throw Error(ErrorCode::invalid_argument, "the code of " + name_of(s) + " does not fit its length",
                  "codes have at most 32 bits and are right-aligned");
    }
  }
}

std::uint64_t stream_bits(const CodeTable& table, const Histogram& histogram) {
  std::uint64_t bits = 0;
  for (int s = 0; s < kSymbols; ++s) {
    if (histogram[s] == 0) continue;
    if (table.length[s] == 0) refuse_missing(s);
    std::uint64_t part;
    if (__builtin_mul_overflow(histogram[s], std::uint64_t{table.length[s]}, &part) ||
        __builtin_add_overflow(bits, part, &bits)) {
      throw Error(ErrorCode::invalid_argument, "the stream would have more than 2^64 bits",
                  "encode the input in parts");
    }
  }
  return bits;
}

std::uint64_t encode_serial(const CodeTable& table, Bytes input, std::span<std::uint8_t> output,
                            std::span<std::uint64_t> chunk_index) {
  check_arguments(table, input, chunk_index);
  const Measure measure(table);
  RunWriter writer(table, output.data(), 0);
  std::uint64_t bits = 0;
  bool fits = true;
  for (std::size_t chunk = 0; chunk < chunk_count(input.size()); ++chunk) {
    const Bytes symbols = chunk_of(input, chunk);
    if (!chunk_index.empty()) chunk_index[chunk] = bits;
    bits += measure(symbols);
    fits = fits && stream_bytes(bits) <= output.size();
    if (fits) writer.write(symbols);
  }
  if (!fits) refuse_capacity(bits, output.size());
  writer.finish();
  return bits;
}

std::uint64_t encode_parallel(const CodeTable& table, Bytes input, std::span<std::uint8_t> output,
                              std::span<std::uint64_t> chunk_index) {
  check_arguments(table, input, chunk_index);
  const std::size_t chunks = chunk_count(input.size());
  std::vector<std::uint64_t> own_index(chunk_index.empty() ? chunks : 0);
  const std::span<std::uint64_t> starts = chunk_index.empty() ? std::span(own_index) : chunk_index;

  // A run is the part of the input that one task takes.
  constexpr std::size_t kRunChunks = 128;
  const std::size_t runs = (chunks + kRunChunks - 1) / kRunChunks;
  const auto for_all_runs = [&](const auto& work) {
    tbb::parallel_for(std::size_t{0}, runs, [&](std::size_t run) {
      work(run, run * kRunChunks, std::min(chunks, (run + 1) * kRunChunks));
    });
  };
  const Measure measure(table);
  for_all_runs([&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t chunk = first; chunk < last; ++chunk) starts[chunk] = measure(chunk_of(input, chunk));
  });
  std::uint64_t bits = 0;
  for (std::uint64_t& start : starts) {
    const std::uint64_t length = start;
    start = bits, bits += length;
  }
  if (stream_bytes(bits) > output.size()) refuse_capacity(bits, output.size());

  std::vector<std::uint8_t> heads(runs);
  for_all_runs([&](std::size_t run, std::size_t first, std::size_t last) {
    RunWriter writer(table, output.data(), starts[first]);
    for (std::size_t chunk = first; chunk < last; ++chunk) writer.write(chunk_of(input, chunk));
    heads[run] = writer.finish();
  });
  for (std::size_t run = 0; run < runs; ++run) {
    if (heads[run] != 0) output[starts[run * kRunChunks] / 8] |= heads[run];
  }
  return bits;
}

}  // namespace cu264::vle
