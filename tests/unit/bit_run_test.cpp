// Runs of bits that contain byte alignment: composed in any grouping, they move a position as they do one by
// one.
#include "core/bit_run.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace cu264 {
namespace {

using core::BitRun;

// The macroblock as it is written: its bits and, if it is I_PCM, zeros up to a byte boundary and whole bytes.
struct Piece {
  int bits;
  bool pcm;
  int bytes;
};

std::uint64_t write(std::uint64_t position, const Piece& piece) {
  position += static_cast<std::uint64_t>(piece.bits);
  if (!piece.pcm) return position;
  while (position % 8 != 0) ++position;
  return position + 8 * static_cast<std::uint64_t>(piece.bytes);
}

BitRun run_of(const Piece& piece) {
  BitRun run;
  run.before = static_cast<std::uint64_t>(piece.bits);
  run.aligned = piece.pcm;
  if (piece.pcm) run.after = 8 * static_cast<std::uint64_t>(piece.bytes);
  return run;
}

BitRun random_grouping(const std::vector<Piece>& pieces, std::size_t first, std::size_t end,
                       std::mt19937& random) {
  if (first == end) return {};
  if (end - first == 1) return run_of(pieces[first]);
  const std::size_t middle = first + random() % (end - first + 1);
  if (middle == first || middle == end) {  // one side is the identity
    const BitRun rest = random_grouping(pieces, first + 1, end, random);
    return core::followed_by(core::followed_by({}, run_of(pieces[first])), core::followed_by(rest, {}));
  }
  return core::followed_by(random_grouping(pieces, first, middle, random),
                           random_grouping(pieces, middle, end, random));
}

TEST(BitRun, AnyGroupingMovesAnyPositionAlike) {
  std::mt19937 random(264);
  for (int round = 0; round < 3000; ++round) {
    const int pcm_percent = static_cast<int>(random() % 101);
    std::vector<Piece> pieces(random() % 12);
    for (Piece& piece : pieces) {
      piece.bits = static_cast<int>(random() % 40);
      piece.pcm = static_cast<int>(random() % 100) < pcm_percent;
      piece.bytes = static_cast<int>(random() % 5);
    }
    const BitRun whole = random_grouping(pieces, 0, pieces.size(), random);
    for (std::uint64_t start = 0; start < 9; ++start) {
      const std::uint64_t from = start + (round % 2 == 0 ? 0 : std::uint64_t{1} << 40);
      std::uint64_t position = from;
      for (const Piece& piece : pieces) position = write(position, piece);
      ASSERT_EQ(core::position_after(whole, from), position) << "round " << round << " start " << start;
    }
  }
}

}  // namespace
}  // namespace cu264
