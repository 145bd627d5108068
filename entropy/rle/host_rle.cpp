// Run-length coding in host memory.
#include <algorithm>
#include <string>

#include "cu264/rle.h"
#include "cu264/status.h"

namespace cu264::rle {
namespace {

template <class T>
bool is_head(std::span<const T> input, std::size_t i) {
  return i % kCut == 0 || input[i] != input[i - 1];
}

template <class T>
std::size_t encode_runs(std::span<const T> input, std::span<T> symbols, std::span<std::uint32_t> lengths) {
  const std::size_t room = std::min(symbols.size(), lengths.size());
  std::size_t runs = 0;
  for (std::size_t begin = 0; begin < input.size(); ++runs) {
    std::size_t end = begin + 1;
    while (end < input.size() && !is_head(input, end)) ++end;
    if (runs < room) symbols[runs] = input[begin], lengths[runs] = static_cast<std::uint32_t>(end - begin);
    begin = end;
  }
  if (runs > room) {
    throw Error(ErrorCode::invalid_argument,
                "the outputs take " + std::to_string(room) + " runs, but there are " + std::to_string(runs));
  }
  return runs;
}

template <class T>
void decode_runs(std::span<const T> symbols, std::span<const std::uint32_t> lengths, std::span<T> output) {
  if (symbols.size() != lengths.size()) {
    throw Error(ErrorCode::invalid_argument, std::to_string(symbols.size()) + " symbols but " +
                                                 std::to_string(lengths.size()) + " lengths");
  }
  std::size_t total = 0;
  for (const std::uint32_t length : lengths) total += length;
  if (total != output.size()) {
    throw Error(ErrorCode::bad_input, "the runs hold " + std::to_string(total) + " symbols, not the " +
                                          std::to_string(output.size()) + " they should");
  }
  auto to = output.begin();
  for (std::size_t i = 0; i < symbols.size(); ++i) to = std::fill_n(to, lengths[i], symbols[i]);
}

}  // namespace

std::size_t encode(std::span<const std::uint8_t> input, std::span<std::uint8_t> symbols,
                   std::span<std::uint32_t> lengths) {
  return encode_runs(input, symbols, lengths);
}
std::size_t encode(std::span<const std::int32_t> input, std::span<std::int32_t> symbols,
                   std::span<std::uint32_t> lengths) {
  return encode_runs(input, symbols, lengths);
}
void decode(std::span<const std::uint8_t> symbols, std::span<const std::uint32_t> lengths,
            std::span<std::uint8_t> output) {
  decode_runs(symbols, lengths, output);
}
void decode(std::span<const std::int32_t> symbols, std::span<const std::uint32_t> lengths,
            std::span<std::int32_t> output) {
  decode_runs(symbols, lengths, output);
}

}  // namespace cu264::rle
