// Codes bytes with Huffman codes and decodes them, without and with the container: code_bytes FILE
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "cu264/vle.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: code_bytes FILE\n");
    return 1;
  }
  try {
    namespace vle = cu264::vle;
    std::ifstream file(argv[1], std::ios::binary);
    if (!file) throw std::runtime_error(std::string(argv[1]) + " cannot be read");
    const std::vector<std::uint8_t> input(std::istreambuf_iterator<char>(file), {});

    // Without the container, the caller owns every buffer.
    const vle::Histogram histogram = vle::histogram(input);
    const vle::CodeTable table = vle::make_code_table(histogram);
    std::vector<std::uint8_t> stream(vle::stream_bytes(vle::stream_bits(table, histogram)));
    std::vector<std::uint64_t> chunk_index(vle::chunk_count(input.size()));
    const std::uint64_t bits = vle::encode(table, input, stream, chunk_index, 0);
    std::vector<std::uint8_t> decoded(input.size());
    vle::decode(table, stream, bits, decoded, chunk_index, 0);

    // The container adds tables and checksums, and uses the best backend that is available.
    const std::vector<std::uint8_t> container = vle::compress(input);
    const bool same = decoded == input && vle::expand(container) == input;

    std::printf("%zu bytes: a stream of %zu, a container of %zu, %s\n", input.size(), stream.size(),
                container.size(), same ? "and the same again" : "NOT the same again");
    return same ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "code_bytes: %s\n", error.what());
    return 1;
  }
}
