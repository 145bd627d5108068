#include "entropy/vle/cpu_decode.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string>

#include <tbb/parallel_for.h>

#include "cu264/status.h"
#include "entropy/vle/cpu_encode.h"

namespace cu264::vle {
namespace {

using Bytes = std::span<const std::uint8_t>;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::bad_input, "the coded stream is damaged: " + what);
}

// Loads the bits from `position` on, the first one highest. At least 57 of them are valid.
std::uint64_t load_window(const std::uint8_t* stream, std::uint64_t position) {
  std::uint64_t window;
  std::memcpy(&window, stream + position / 8, sizeof window);
  if constexpr (std::endian::native == std::endian::little) window = __builtin_bswap64(window);
  return window << position % 8;
}

// The same at any position, with zeros beyond the end of the stream.
std::uint64_t load_window_near_end(Bytes stream, std::uint64_t position) {
  std::uint8_t bytes[8] = {};
  const std::uint64_t first = position / 8;
  if (first < stream.size()) {
    std::memcpy(bytes, stream.data() + first, std::min<std::uint64_t>(8, stream.size() - first));
  }
  return load_window(bytes, position % 8);
}

}  // namespace

void check_stream(Bytes stream, std::uint64_t bits, std::size_t symbols) {
  if (stream_bytes(bits) > stream.size()) refuse("it is too short");
  if (bits % 8 != 0 && (stream[bits / 8] << bits % 8 & 0xff) != 0) refuse("its padding is not zero");
  if ((bits == 0) != (symbols == 0)) refuse("it has bits without symbols, or symbols without bits");
}

Decoder::Decoder(const CodeTable& table) {
  check_codes(table);
  for (int s = 0; s < kSymbols; ++s) {
    const std::uint8_t length = table.length[s];
    if (length == 0) continue;
    codes_[code_count_++] = {table.code[s] << (kLongCode - length), length, static_cast<std::uint8_t>(s)};
  }
  std::sort(codes_.begin(), codes_.begin() + code_count_,
            [](const LeftAligned& a, const LeftAligned& b) { return a.code < b.code; });
  for (int i = 1; i < code_count_; ++i) {
    const LeftAligned& before = codes_[i - 1];
    if (codes_[i].code - before.code < std::uint64_t{1} << (kLongCode - before.length)) {
      throw Error(ErrorCode::invalid_argument,
                  "one of the codes of symbols " + std::to_string(before.symbol) + " and " +
                      std::to_string(codes_[i].symbol) + " is the beginning of the other",
                  "take a table from make_code_table");
    }
  }
  fill_entries();
}

// Returns the code that the window of 32 bits begins with, or null.
const Decoder::LeftAligned* Decoder::find(std::uint32_t window) const {
  const auto begin = codes_.begin(), end = begin + code_count_;
  const auto next = std::upper_bound(begin, end, window,
                                     [](std::uint32_t w, const LeftAligned& code) { return w < code.code; });
  if (next == begin) return nullptr;
  const LeftAligned& code = *(next - 1);
  return (window ^ code.code) >> (kLongCode - code.length) == 0 ? &code : nullptr;
}

void Decoder::fill_entries() {
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    while (entry.count < 2 && entry.bits < kTableBits) {
      // Bits after those of the table are unknown, so codes that need them must not be entered.
      const LeftAligned* const code = find(i << (kLongCode - kTableBits) << entry.bits);
      if (code == nullptr || entry.bits + code->length > kTableBits) break;
      entry.symbols[entry.count++] = code->symbol;
      entry.bits = static_cast<std::uint8_t>(entry.bits + code->length);
    }
  }
}

bool Decoder::decode_range(Bytes stream, std::uint64_t begin, std::uint64_t end,
                           std::span<std::uint8_t> output) const {
  constexpr std::size_t kMaxSymbols = 2 * kLookups;  // the most symbols that a window gives
  std::uint64_t position = begin;
  std::uint8_t* to = output.data();
  std::uint8_t* const last = to + output.size();
  while (to != last) {
    while (static_cast<std::size_t>(last - to) >= kMaxSymbols && position / 8 + 8 <= stream.size()) {
      std::uint64_t window = load_window(stream.data(), position);
      const std::uint8_t* const before = to;
      for (int k = 0; k < kLookups; ++k) {
        const Entry entry = entries_[window >> (64 - kTableBits)];
        std::memcpy(to, entry.symbols, 2);
        to += entry.count;
        window <<= entry.bits, position += entry.bits;
      }
      if (to == before) break;
    }
    if (to == last) break;
    const auto window = static_cast<std::uint32_t>(load_window_near_end(stream, position) >> 32);
    const LeftAligned* const code = find(window);
    if (code == nullptr) return false;
    *to++ = code->symbol, position += code->length;
  }
  return position == end;
}

void Decoder::decode_serial(Bytes stream, std::uint64_t bits, std::span<std::uint8_t> output) const {
  check_stream(stream, bits, output.size());
  if (!decode_range(stream, 0, bits, output)) refuse("its codes do not end where they should");
}

void Decoder::decode_parallel(Bytes stream, std::uint64_t bits, std::span<const std::uint64_t> chunk_index,
                              std::span<std::uint8_t> output) const {
  check_stream(stream, bits, output.size());
  const std::size_t chunks = chunk_count(output.size());
  if (chunk_index.size() != chunks) {
    throw Error(ErrorCode::invalid_argument,
                "a chunk index of " + std::to_string(chunk_index.size()) + " entries",
                "it needs " + std::to_string(chunks));
  }
  if (chunks == 0) return;
  if (chunk_index[0] != 0) refuse("its chunks do not begin at its first bit");
  std::atomic<bool> good{true};
  tbb::parallel_for(std::size_t{0}, chunks, [&](std::size_t chunk) {
    const std::uint64_t begin = chunk_index[chunk];
    const std::uint64_t end = chunk + 1 < chunks ? chunk_index[chunk + 1] : bits;
    const std::size_t first = chunk * kChunkSymbols;
    const std::span<std::uint8_t> symbols =
        output.subspan(first, std::min<std::size_t>(kChunkSymbols, output.size() - first));
    const bool in_order = begin <= end && end <= bits;
    if (!in_order || !decode_range(stream, begin, end, symbols)) good.store(false, std::memory_order_relaxed);
  });
  if (!good) refuse("its codes do not end where the chunk index says");
}

}  // namespace cu264::vle
