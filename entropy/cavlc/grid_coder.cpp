// The functions of cu264/cavlc.h on host memory.
#include <algorithm>
#include <string>
#include <vector>

#include "core/bits.h"
#include "core/cavlc_block.h"
#include "core/cavlc_parse.h"
#include "core/quant.h"
#include "cu264/cavlc.h"
#include "cu264/status.h"
#include "entropy/cavlc/grid_checks.h"

namespace cu264::cavlc {
namespace {

static_assert(kMaxLevel == core::kMaxLevel && kBlockLevels == core::kLevelsPerBlock);

void check_size(const char* what, std::uint64_t size, std::uint64_t needed) {
  if (size == needed) return;
  throw Error(ErrorCode::invalid_argument, std::string(what) + " has " + std::to_string(size) +
                                               " elements, but the grids need " + std::to_string(needed));
}

void check_sizes(const Grids& grids, std::uint64_t levels, std::uint64_t nC, std::uint64_t index) {
  check_grids(grids);
  check_size("levels", levels, grids.blocks() * kBlockLevels);
  check_size("index", index, grids.count + 1);
  if (nC != 0) check_size("nC", nC, grids.blocks());
}

// TotalCoeff of the blocks around the next one of a grid, for nC (9.2.1).
class Neighbours {
 public:
  explicit Neighbours(int width) : row_(static_cast<std::size_t>(width)) {}

  int nC(int x, int y) const {
    const auto at = static_cast<std::size_t>(x);
    return core::nc_from_neighbours(x > 0 ? row_[at - 1] : -1, y > 0 ? row_[at] : -1);
  }
  void set(int x, int total_coeff) {
    row_[static_cast<std::size_t>(x)] = static_cast<std::uint8_t>(total_coeff);
  }

 private:
  std::vector<std::uint8_t> row_;  // of each column, the block above or, to the left of x, beside
};

// Calls code(block, nC), which returns TotalCoeff, for each block of grid g.
template <class Code>
void for_each_block(const Grids& grids, std::uint64_t g, std::span<const std::uint8_t> nC,
                    Neighbours& neighbours, Code code) {
  std::size_t block = g * static_cast<std::uint64_t>(grids.width) * static_cast<std::uint64_t>(grids.height);
  for (int y = 0; y < grids.height; ++y) {
    for (int x = 0; x < grids.width; ++x, ++block) {
      neighbours.set(x, code(block, nC.empty() ? neighbours.nC(x, y) : nC[block]));
    }
  }
}

void check_block(std::size_t block, const std::int16_t* levels, int count, int nC) {
  const auto [low, high] = std::minmax_element(levels, levels + kBlockLevels);
  if (*low < -kMaxLevel || *high > kMaxLevel) {
    throw Error(ErrorCode::invalid_argument,
                "block " + std::to_string(block) + " has a level of " +
                    std::to_string(*high > kMaxLevel ? *high : *low),
                "levels are from -" + std::to_string(kMaxLevel) + " to " + std::to_string(kMaxLevel));
  }
  if (count == 15 && levels[15] != 0) {
    throw Error(ErrorCode::invalid_argument,
                "block " + std::to_string(block) + " has 16 levels, but the grids' blocks have 15");
  }
  if (nC > 16) {
    throw Error(ErrorCode::invalid_argument,
                "nC of block " + std::to_string(block) + " is " + std::to_string(nC), "nC is from 0 to 16");
  }
}

}  // namespace

std::uint64_t encode(const Grids& grids, std::span<const std::int16_t> levels,
                     std::span<const std::uint8_t> nC, std::span<std::uint8_t> stream,
                     std::span<std::uint64_t> index) {
  check_sizes(grids, levels.size(), nC.size(), index.size());
  core::BitWriter writer(stream.data(), stream.size());
  Neighbours neighbours(grids.width);
  for (std::uint64_t g = 0; g < grids.count; ++g) {
    index[g] = writer.bit_position();
    for_each_block(grids, g, nC, neighbours, [&](std::size_t block, int block_nC) {
      const std::int16_t* const own = levels.data() + block * kBlockLevels;
      check_block(block, own, grids.levels, block_nC);
      const core::CavlcSymbols symbols = core::cavlc_symbols(own, grids.levels);
      core::put_block(writer, own, symbols, grids.levels, block_nC);
      return symbols.total_coeff;
    });
    if (writer.overflowed()) break;
  }
  const std::uint64_t bits = writer.bit_position();
  writer.align_with_zeros();
  if (writer.overflowed()) {
    throw Error(ErrorCode::bad_output, "the codes do not fit " + std::to_string(stream.size()) + " bytes",
                "max_stream_bytes() tells how many are always enough");
  }
  return index[grids.count] = bits;
}

void decode(const Grids& grids, std::span<const std::uint8_t> stream, std::span<const std::uint64_t> index,
            std::span<const std::uint8_t> nC, std::span<std::int16_t> levels) {
  check_sizes(grids, levels.size(), nC.size(), index.size());
  Neighbours neighbours(grids.width);
  for (std::uint64_t g = 0; g < grids.count; ++g) {
    const auto refuse = [g](const std::string& cause) {
      throw Error(ErrorCode::bad_input, "grid " + std::to_string(g) + " " + cause,
                  "the stream, its index or nC are not those of the encoder");
    };
    if (index[g] > index[g + 1] || index[g + 1] > 8 * static_cast<std::uint64_t>(stream.size()))
      refuse("lies outside the stream");
    const std::size_t byte = index[g] / 8;
    core::BitReader reader(stream.data() + byte, stream.size() - byte);
    reader.skip(static_cast<int>(index[g] % 8));
    for_each_block(grids, g, nC, neighbours, [&](std::size_t block, int block_nC) {
      std::int16_t* const own = levels.data() + block * kBlockLevels;
      own[kBlockLevels - 1] = 0;
      const int total_coeff = core::cavlc_parse_block(reader, own, grids.levels, block_nC);
      if (total_coeff < 0) refuse("is no valid code in block " + std::to_string(block));
      return total_coeff;
    });
    if (8 * static_cast<std::uint64_t>(byte) + reader.bit_position() != index[g + 1])
      refuse("does not end where the next one begins");
  }
}

}  // namespace cu264::cavlc
