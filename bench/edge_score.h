// Measures how close an edge map is to another: mean squared error, and precision, recall and F with a
// tolerance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cu264::bench {

// A binary map: one byte per pixel, 0 or 1, in dense rows.
struct BinaryMap {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;
};

struct EdgeScore {
  double mse = 0;        // the fraction of pixels that differ
  double precision = 0;  // the fraction of edges with a true edge within the tolerance; 0 without edges
  double recall = 0;     // the fraction of true edges with a found edge within the tolerance; 0 without any
  double f = 0;          // the harmonic mean of precision and recall
};

// Sets every pixel within `tolerance` (Euclidean) of a set pixel.
inline BinaryMap dilated(const BinaryMap& map, int tolerance) {
  std::vector<std::pair<int, int>> disc;
  for (int dy = -tolerance; dy <= tolerance; ++dy) {
    for (int dx = -tolerance; dx <= tolerance; ++dx) {
      if (dx * dx + dy * dy <= tolerance * tolerance) disc.emplace_back(dx, dy);
    }
  }
  BinaryMap out{map.width, map.height, std::vector<std::uint8_t>(map.pixels.size())};
  for (int y = 0; y < map.height; ++y) {
    for (int x = 0; x < map.width; ++x) {
      if (!map.pixels[static_cast<std::size_t>(y) * map.width + x]) continue;
      for (const auto& [dx, dy] : disc) {
        const int to_x = x + dx, to_y = y + dy;
        if (to_x < 0 || to_y < 0 || to_x >= map.width || to_y >= map.height) continue;
        out.pixels[static_cast<std::size_t>(to_y) * map.width + to_x] = 1;
      }
    }
  }
  return out;
}

inline EdgeScore score(const BinaryMap& edges, const BinaryMap& truth, int tolerance) {
  const BinaryMap near_edges = dilated(edges, tolerance), near_truth = dilated(truth, tolerance);
  std::size_t differing = 0, found = 0, wanted = 0, right = 0, recalled = 0;
  for (std::size_t i = 0; i < edges.pixels.size(); ++i) {
    differing += edges.pixels[i] != truth.pixels[i];
    found += edges.pixels[i], wanted += truth.pixels[i];
    right += edges.pixels[i] & near_truth.pixels[i];
    recalled += truth.pixels[i] & near_edges.pixels[i];
  }
  const auto share = [](std::size_t part, std::size_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  EdgeScore result{share(differing, edges.pixels.size()), share(right, found), share(recalled, wanted), 0};
  // Two empty maps agree perfectly.
  if (found == 0 && wanted == 0) return {0, 1, 1, 1};
  const double sum = result.precision + result.recall;
  if (sum > 0) result.f = 2 * result.precision * result.recall / sum;
  return result;
}

}  // namespace cu264::bench
