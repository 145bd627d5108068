#include "vision/cpu/edge_flood.h"

#include <algorithm>

#include "vision/thresholds.h"

namespace cu264::vision {

void EdgeFlood::run(const LevelView& levels, const Thresholds& thresholds, std::uint8_t* edges,
                    std::ptrdiff_t pitch) {
  for (int y = 0; y < levels.height; ++y) {
    const std::uint8_t* const row = levels.row(y);
    std::uint8_t* const out = edges + y * pitch;
    for (int x = 0; x < levels.width; ++x) out[x] = is_strong(row[x], thresholds) ? kEdge : 0;
  }
  for (int y = 0; y < levels.height; ++y) {
    const std::uint8_t* const row = levels.row(y);
    for (int x = 0; x < levels.width; ++x) {
      if (is_strong(row[x], thresholds)) open_.push_back({x, y});
      while (!open_.empty()) {
        const Place place = open_.back();
        open_.pop_back();
        const int left = std::max(place.x - 1, 0), right = std::min(place.x + 1, levels.width - 1);
        const int top = std::max(place.y - 1, 0), bottom = std::min(place.y + 1, levels.height - 1);
        for (int ny = top; ny <= bottom; ++ny) {
          for (int nx = left; nx <= right; ++nx) {
            std::uint8_t& edge = edges[ny * pitch + nx];
            if (edge != 0 || !is_weak(levels.row(ny)[nx], thresholds)) continue;
            edge = kEdge;
            open_.push_back({nx, ny});
          }
        }
      }
    }
  }
}

}  // namespace cu264::vision
