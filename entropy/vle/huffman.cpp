#include "entropy/vle/huffman.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cu264/status.h"

namespace cu264::vle {
namespace {

// A package can weigh as much as 2^31 counts, which 64 bits do not hold.
__extension__ using Weight = unsigned __int128;

struct Leaf {
  Weight weight;
  int symbol;
};

// Returns the symbols that occur, the rarest first.
std::vector<Leaf> sorted_leaves(const Histogram& histogram) {
  std::vector<Leaf> leaves;
  for (int symbol = kSymbols - 1; symbol >= 0; --symbol) {
    if (histogram[symbol] != 0) leaves.push_back({histogram[symbol], symbol});
  }
  std::stable_sort(leaves.begin(), leaves.end(),
                   [](const Leaf& a, const Leaf& b) { return a.weight < b.weight; });
  return leaves;
}

// One list of the algorithm: the leaves, and the pairs of the list before, sorted by weight. All that is
// needed of an item later is whether it is a leaf.
struct Level {
  std::vector<Weight> weights;
  std::vector<bool> is_leaf;
};

Level merge(const std::vector<Leaf>& leaves, const Level& before) {
  Level level;
  std::size_t leaf = 0, pair = 0;
  const std::size_t pairs = before.weights.size() / 2;
  while (leaf < leaves.size() || pair < pairs) {
    const Weight package = pair < pairs ? before.weights[2 * pair] + before.weights[2 * pair + 1] : Weight{0};
    const bool take_leaf = leaf < leaves.size() && (pair == pairs || leaves[leaf].weight <= package);
    level.weights.push_back(take_leaf ? leaves[leaf].weight : package);
    level.is_leaf.push_back(take_leaf);
    ++(take_leaf ? leaf : pair);
  }
  return level;
}

void check_longest(int longest, std::size_t used) {
  if (longest < 1 || longest > kLongCode) {
    throw Error(ErrorCode::invalid_argument, "codes of at most " + std::to_string(longest) + " bits",
                "the limit is 1 to 32");
  }
  if (longest < 8 && used > std::size_t{1} << longest) {
    throw Error(
        ErrorCode::invalid_argument,
        std::to_string(used) + " symbols cannot have codes of at most " + std::to_string(longest) + " bits",
        "a limit of 8 is always enough");
  }
}

}  // namespace

CodeLengths code_lengths(const Histogram& histogram, int longest) {
  const std::vector<Leaf> leaves = sorted_leaves(histogram);
  check_longest(longest, leaves.size());
  CodeLengths lengths{};
  if (leaves.size() == 1) lengths[leaves[0].symbol] = 1;
  if (leaves.size() < 2) return lengths;
  std::vector<Level> levels(1, merge(leaves, {}));
  while (levels.size() < static_cast<std::size_t>(longest)) levels.push_back(merge(leaves, levels.back()));
  // The 2n - 2 lightest items of the last list are taken, and for every package the two items of which it
  // consists. These are the lightest items of the list before. The length of a code is the number of times
  // that its leaf is taken.
  std::size_t taken = 2 * leaves.size() - 2;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    const auto taken_leaves =
        std::count(level->is_leaf.begin(), level->is_leaf.begin() + static_cast<std::ptrdiff_t>(taken), true);
    for (std::ptrdiff_t i = 0; i < taken_leaves; ++i) ++lengths[leaves[i].symbol];
    taken = 2 * (taken - static_cast<std::size_t>(taken_leaves));
  }
  return lengths;
}

bool is_complete_code(const CodeLengths& lengths, int longest) {
  std::uint64_t kraft = 0;  // in units of 2^-32
  int used = 0;
  for (const std::uint8_t length : lengths) {
    if (length > longest || length > kLongCode) return false;
    if (length == 0) continue;
    kraft += std::uint64_t{1} << (kLongCode - length);
    ++used;
  }
  const std::uint64_t whole = std::uint64_t{1} << kLongCode;
  return used == 0 || kraft == whole || (used == 1 && kraft == whole / 2);
}

CodeTable assign_codes(const CodeLengths& lengths) {
  if (!is_complete_code(lengths, kLongCode)) {
    throw Error(ErrorCode::invalid_argument, "the code lengths do not make a complete prefix code",
                "take them from code_lengths");
  }
  CodeTable table;
  table.length = lengths;
  std::uint64_t next = 0;
  for (int length = 1; length <= kLongCode; ++length) {
    next <<= 1;
    for (int symbol = 0; symbol < kSymbols; ++symbol) {
      if (lengths[symbol] == length) table.code[symbol] = static_cast<std::uint32_t>(next++);
    }
  }
  return table;
}

CodeTable make_code_table(const Histogram& histogram, int longest) {
  return assign_codes(code_lengths(histogram, longest));
}

}  // namespace cu264::vle
