// The functions of cu264/vle.h on host memory: serial, or in a oneTBB arena of the requested size.
#include <tbb/task_arena.h>

#include "cu264/vle.h"
#include "entropy/vle/cpu_decode.h"
#include "entropy/vle/cpu_encode.h"
#include "entropy/vle/cpu_histogram.h"
#include "entropy/vle/thread_count.h"

namespace cu264::vle {
namespace {

// Calls serial() if one thread is usable, otherwise parallel() in an arena.
template <typename Serial, typename Parallel>
auto by_threads(int threads, const Serial& serial, const Parallel& parallel) {
  const int usable = usable_threads(threads);
  if (usable == 1) return serial();
  tbb::task_arena arena(usable);
  return arena.execute(parallel);
}

}  // namespace

Histogram histogram(std::span<const std::uint8_t> input, int threads) {
  return by_threads(
      threads, [&] { return count_serial(input); }, [&] { return count_parallel(input); });
}

std::uint64_t encode(const CodeTable& table, std::span<const std::uint8_t> input,
                     std::span<std::uint8_t> output, std::span<std::uint64_t> chunk_index, int threads) {
  return by_threads(
      threads, [&] { return encode_serial(table, input, output, chunk_index); },
      [&] { return encode_parallel(table, input, output, chunk_index); });
}

void decode(const CodeTable& table, std::span<const std::uint8_t> stream, std::uint64_t bits,
            std::span<std::uint8_t> output, std::span<const std::uint64_t> chunk_index, int threads) {
  const Decoder decoder(table);
  const auto serial = [&] { decoder.decode_serial(stream, bits, output); };
  if (chunk_index.empty()) return serial();
  by_threads(threads, serial, [&] { decoder.decode_parallel(stream, bits, chunk_index, output); });
}

}  // namespace cu264::vle
