// cavlc_parse_block on arbitrary bits: it stays within its memory, and what it accepts is coded again to the
// same bits, because CAVLC has only one code for a block.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/bits.h"
#include "core/block.h"
#include "core/cavlc_block.h"
#include "core/cavlc_parse.h"

namespace {

using namespace cu264::core;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Shape {
  int max_num_coeff;
  int nC;
};

Shape shape_of(std::uint8_t selector) {
  if (selector % 4 == 3) return {4, kChromaDcNc};
  return {selector % 4 == 2 ? 15 : 16, selector / 4 % 17};
}

void check_block(BitReader& reader, const std::uint8_t* bytes, const Shape& shape, bool& more) {
  const std::uint64_t begin = reader.bit_position();
  // There are canaries after the block's levels.
  std::int16_t levels[kLevelsPerBlock + 2];
  for (std::int16_t& level : levels) level = 0x5a5a;
  const int total_coeff = cavlc_parse_block(reader, levels, shape.max_num_coeff, shape.nC);
  for (int k = shape.max_num_coeff; k < kLevelsPerBlock + 2; ++k) require(levels[k] == 0x5a5a);
  more = total_coeff != kCavlcParseError;
  if (!more) return;
  require(!reader.failed());
  for (int k = shape.max_num_coeff; k < kLevelsPerBlock; ++k) levels[k] = 0;

  const CavlcSymbols symbols = cavlc_symbols(levels, shape.max_num_coeff);
  require(symbols.total_coeff == total_coeff);
  std::uint8_t written[128] = {};
  BitWriter writer(written, sizeof written);
  put_block(writer, levels, symbols, shape.max_num_coeff, shape.nC);
  const std::uint64_t bits = reader.bit_position() - begin;
  require(writer.bit_position() == bits);
  require(static_cast<std::uint64_t>(cavlc_block_bits(levels, shape.max_num_coeff, shape.nC)) == bits);
  writer.align_with_zeros();
  require(!writer.overflowed());
  for (std::uint64_t i = 0; i < bits; ++i) {
    const std::uint64_t at = begin + i;
    require((bytes[at / 8] >> (7 - at % 8) & 1) == (written[i / 8] >> (7 - i % 8) & 1));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  // The copy is exactly as large as the reader is told, so that the sanitizer reports a read beyond it.
  const std::vector<std::uint8_t> bytes(data + 1, data + size);
  BitReader reader(bytes.data(), bytes.size());
  const Shape shape = shape_of(data[0]);
  for (bool more = true; more && reader.bits_left() > 0;) check_block(reader, bytes.data(), shape, more);
  return 0;
}
