#include "bench/cavlc_grids_bench.h"

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include "bench/device_timing.cuh"
#include "core/block.h"
#include "cu264/cavlc.h"
#include "support/device_array.cuh"

namespace cu264::bench {
namespace {

using cavlc::Grids;
using test::DeviceArray;

constexpr int kRuns = 7;

// The picture's luma blocks, cut into grids of this shape.
std::vector<std::int16_t> luma_levels(const encoder::CpuPicture& picture, int width, int height) {
  const int blocks_wide = 4 * picture.mb_width, blocks_high = 4 * picture.mb_height;
  std::vector<std::int16_t> levels;
  levels.reserve(static_cast<std::size_t>(blocks_wide) * blocks_high * cavlc::kBlockLevels);
  for (int grid_y = 0; grid_y < blocks_high; grid_y += height) {
    for (int grid_x = 0; grid_x < blocks_wide; grid_x += width) {
      for (int i = 0; i < width * height; ++i) {
        const int x = grid_x + i % width, y = grid_y + i / width;
        const std::size_t mb = static_cast<std::size_t>(y / 4) * picture.mb_width + x / 4;
        const int slot = core::kSlotLuma + core::luma_block_index(x % 4, y % 4);
        const bool written = ((picture.macroblocks[mb].nonzero_blocks >> slot) & 1) != 0;
        const std::int16_t* const from =
            picture.levels.data() + (mb * core::kBlocksPerMacroblock + slot) * core::kLevelsPerBlock;
        for (int k = 0; k < cavlc::kBlockLevels; ++k) levels.push_back(written ? from[k] : std::int16_t{0});
      }
    }
  }
  return levels;
}

double microseconds_of(const std::function<void()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

// Decodes if the grid is a whole picture; other shapes take as long.
void measure_host(const std::vector<std::vector<std::int16_t>>& clip, const Grids& grids, GridRates& rates) {
  std::vector<std::uint8_t> stream(cavlc::max_stream_bytes(grids));
  std::vector<std::uint64_t> index(grids.count + 1);
  for (const std::vector<std::int16_t>& levels : clip) {
    std::vector<std::int16_t> decoded(levels.size());
    std::uint64_t bits = 0;
    rates.host_encode += microseconds_of([&] { bits = cavlc::encode(grids, levels, {}, stream, index); });
    rates.bytes += static_cast<double>(bits) / 8;
    if (grids.count > 1) continue;
    rates.host_decode += microseconds_of([&] { cavlc::decode(grids, stream, index, {}, decoded); });
    if (decoded != levels) throw std::runtime_error("the host decodes other levels");
  }
  for (double* const sum : {&rates.host_encode, &rates.host_decode, &rates.bytes})
    *sum /= static_cast<double>(clip.size());
}

void measure_device(const std::vector<std::int16_t>& levels, const Grids& grids, int pictures,
                    GridRates& rates) {
  const DeviceArray<std::int16_t> d_levels(levels);
  const std::uint64_t capacity = (cavlc::max_stream_bytes(grids) + 3) / 4 * 4;
  const DeviceArray<std::uint8_t> d_stream(capacity);
  const DeviceArray<std::uint64_t> d_index(grids.count + 1);
  const DeviceArray<cavlc::DeviceResult> d_result(1);
  const auto check = [&](const char* what) {
    if (d_result.download()[0].failure != 0) throw std::runtime_error(std::string(what) + " failed");
  };
  {
    const cavlc::DeviceEncode call{grids,    d_levels.data(), nullptr,        d_stream.data(),
                                   capacity, d_index.data(),  d_result.data()};
    std::size_t size = 0;
    cavlc::device_encode(nullptr, size, call, nullptr);
    const DeviceArray<std::uint8_t> scratch(size);
    rates.device_encode = 1e3 / pictures * median_milliseconds(kRuns, [&] {
                            cavlc::device_encode(scratch.data(), size, call, nullptr);
                          });
    check("device_encode");
  }
  if (grids.count == static_cast<std::uint64_t>(pictures)) return;  // too few threads would decode
  const DeviceArray<std::int16_t> d_decoded(levels.size());
  const cavlc::DeviceDecode call{grids,   d_stream.data(),  capacity,       d_index.data(),
                                 nullptr, d_decoded.data(), d_result.data()};
  std::size_t size = 0;
  cavlc::device_decode(nullptr, size, call, nullptr);
  const DeviceArray<std::uint8_t> scratch(size);
  rates.device_decode = 1e3 / pictures * median_milliseconds(kRuns, [&] {
                          cavlc::device_decode(scratch.data(), size, call, nullptr);
                        });
  check("device_decode");
  if (d_decoded.download() != levels) throw std::runtime_error("the device decodes other levels");
}

}  // namespace

std::vector<GridRates> grid_rates(const std::vector<encoder::CpuPicture>& clip, int pictures) {
  const int width = 4 * clip[0].mb_width, height = 4 * clip[0].mb_height;
  std::vector<GridRates> all = {{width, height}, {width, 4}};
  if (width % 16 == 0) all.push_back({16, 4});
  for (GridRates& rates : all) {
    const auto grids_of = [&](int count) {
      return Grids{rates.width, rates.height,
                   static_cast<std::uint64_t>(width / rates.width) * (height / rates.height) * count};
    };
    std::vector<std::vector<std::int16_t>> levels;
    for (const encoder::CpuPicture& picture : clip)
      levels.push_back(luma_levels(picture, rates.width, rates.height));
    measure_host(levels, grids_of(1), rates);
    std::vector<std::int16_t> batch;
    for (int i = 0; i < pictures; ++i) {
      const std::vector<std::int16_t>& one = levels[static_cast<std::size_t>(i) % levels.size()];
      batch.insert(batch.end(), one.begin(), one.end());
    }
    measure_device(batch, grids_of(pictures), pictures, rates);
  }
  return all;
}

}  // namespace cu264::bench
