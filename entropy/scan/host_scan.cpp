// Prefix sums and compaction in host memory: the reference for the device's functions, and the only
// implementation where there is no device.
#include <string>

#include "cu264/scan.h"
#include "cu264/status.h"

namespace cu264::scan {
namespace {

void check_sizes(std::size_t one, std::size_t other, const char* what) {
  if (one != other) {
    throw Error(ErrorCode::invalid_argument, std::string(what) + " has " + std::to_string(other) +
                                                 " elements, the input " + std::to_string(one));
  }
}

template <class Sum>
void sum_up(std::span<const std::uint32_t> input, std::span<Sum> output, Kind kind) {
  check_sizes(input.size(), output.size(), "the output");
  Sum sum = 0;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const Sum next = sum + input[i];
    output[i] = kind == Kind::inclusive ? next : sum;
    sum = next;
  }
}

template <class T, class IsSelected>
std::size_t select_if(std::span<const T> input, std::span<T> output, const IsSelected& is_selected) {
  std::size_t selected = 0;
  for (std::size_t i = 0; i < input.size(); ++i) selected += is_selected(i);
  if (selected > output.size()) {
    throw Error(ErrorCode::invalid_argument, "the output takes " + std::to_string(output.size()) +
                                                 " elements, but " + std::to_string(selected) +
                                                 " are selected");
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < input.size(); ++i)
    if (is_selected(i)) output[next++] = input[i];
  return selected;
}

template <class T>
std::size_t select_flagged(std::span<const T> input, std::span<const std::uint8_t> flags,
                           std::span<T> output) {
  check_sizes(input.size(), flags.size(), "the array of flags");
  return select_if(input, output, [flags](std::size_t i) { return flags[i] != 0; });
}

}  // namespace

void prefix_sum(std::span<const std::uint32_t> input, std::span<std::uint32_t> output, Kind kind) {
  sum_up(input, output, kind);
}
void prefix_sum(std::span<const std::uint32_t> input, std::span<std::uint64_t> output, Kind kind) {
  sum_up(input, output, kind);
}

std::size_t select(std::span<const std::uint32_t> input, std::span<const std::uint8_t> flags,
                   std::span<std::uint32_t> output) {
  return select_flagged(input, flags, output);
}
std::size_t select(std::span<const std::uint8_t> input, std::span<const std::uint8_t> flags,
                   std::span<std::uint8_t> output) {
  return select_flagged(input, flags, output);
}
std::size_t select_nonzero(std::span<const std::uint32_t> input, std::span<std::uint32_t> output) {
  return select_if(input, output, [input](std::size_t i) { return input[i] != 0; });
}
std::size_t select_nonzero(std::span<const std::uint8_t> input, std::span<std::uint8_t> output) {
  return select_if(input, output, [input](std::size_t i) { return input[i] != 0; });
}

}  // namespace cu264::scan
