// RDOQ by CABAC's bits on a warp chooses the levels that core/rdoq.h chooses, and knows their bits: for
// levels that pictures hardly have, too.
#define CU264_COUNTS_CABAC
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "common/cuda/error_check.h"
#include "core/cabac_rate.h"
#include "core/hd.h"
#include "core/level_masks.h"
#include "core/rdoq.h"
#include "encoder/cuda/search/warp_cabac.cuh"
#include "encoder/cuda/search/warp_cabac_rdoq.cuh"
#include "support/device_array.cuh"
#include "tests/parity/device_test.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

namespace device = encoder::cuda;
using test::DeviceArray;

struct Block {
  std::int32_t scaled[64] = {};
  std::uint64_t negative = 0;
  int context = 0;
  bool active = true;
};
// Blocks of a call have these in common.
struct Shape {
  int category = 0;  // core::kCost8x8 for an 8x8 block
  int shift = 0;
  int qp = 0;
};
struct Chosen {
  std::int16_t levels[64] = {};
  int bits = 0;
};

// Blocks 2 * blockIdx.x and the next on the halves of a warp.
__global__ void choose_small(const Block* d_blocks, Shape shape, Chosen* d_chosen) {
  const device::LaneIndices lane(static_cast<int>(threadIdx.x & 31));
  const Block& block = d_blocks[2 * blockIdx.x + lane.half];
  Chosen& chosen = d_chosen[2 * blockIdx.x + lane.half];
  device::RdoqVariants variants;
  const device::WarpRate rate(core::CabacRate{true, &device::d_cabac_costs.at[shape.qp]});
  const device::RdoqLevel own = device::choose_level_by_rdoq(
      variants, rate, lane, block.scaled[lane.position], (block.negative >> lane.position & 1) != 0,
      static_cast<core::BlockCategory>(shape.category), shape.shift, block.context, block.active);
  chosen.levels[lane.position] = static_cast<std::int16_t>(own.level);
  const int bits = device::half_sum(lane, own.share);
  if (lane.position == 0) chosen.bits = bits;
}

__global__ void choose_large(const Block* d_blocks, Shape shape, Chosen* d_chosen) {
  const int lane = static_cast<int>(threadIdx.x);
  const Block& block = d_blocks[blockIdx.x];
  Chosen& chosen = d_chosen[blockIdx.x];
  device::CabacRdoq<32, 2> search(device::d_cabac_costs.at[shape.qp], core::kCost8x8, lane, 0);
  for (int i = 0; i < 2; ++i) search.set(i, block.scaled[2 * lane + i], shape.shift);
  const int bits = search.optimise();
  for (int i = 0; i < 2; ++i) {
    const bool negative = (block.negative >> (2 * lane + i) & 1) != 0;
    chosen.levels[2 * lane + i] = static_cast<std::int16_t>(negative ? -search.level[i] : search.level[i]);
  }
  if (lane == 0) chosen.bits = bits;
}

struct LevelAt {
  const std::int16_t* levels;
  CU264_HD_MEMBER int operator()(int k) const { return levels[k]; }
};

Chosen on_host(const Block& block, const Shape& shape) {
  static const core::CabacCostTable table = core::make_cabac_cost_table();
  const core::CabacRate rate{true, &table.at[shape.qp]};
  Chosen chosen;
  if (shape.category == core::kCost8x8) {
    core::rdoq_block8x8(rate, block.scaled, block.negative, shape.shift, chosen.levels);
    core::LevelMasks8x8 masks;
    for (int k = 0; k < 64; ++k) masks = core::with_level(masks, k, chosen.levels[k]);
    chosen.bits = rate.block8x8_bits(masks, LevelAt{chosen.levels});
    return chosen;
  }
  const auto category = static_cast<core::BlockCategory>(shape.category);
  if (block.active) {
    core::rdoq_block(rate, block.scaled, static_cast<std::uint32_t>(block.negative), category, shape.shift,
                     block.context, chosen.levels);
  }
  chosen.bits = rate.block_bits(chosen.levels, category, block.context);
  return chosen;
}

// Levels by one of several distributions, with all fractions.
Block random_block(std::mt19937& random, const Shape& shape, int count, int round) {
  Block block;
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  const int density = below(101), kind = round % 8, run = below(count) + 1;
  for (int k = 0; k < count; ++k) {
    // In 256ths of a level.
    int value = 0;
    if (kind == 0) value = 100 + below(300);                    // ones that may go
    if (kind == 1) value = below(3 * 256);                      // zeros, ones and twos
    if (kind == 2) value = below(20 * 256);                     // up to suffixes
    if (kind == 3) value = 13 * 256 + below(8 * 256);           // about where suffixes begin
    if (kind == 4) value = below(2300 * 256);                   // clipped ones, too
    if (kind == 5) value = k < run ? 300 : below(2) * 200;      // a run of ones, and a tail
    if (kind == 6) value = k + 1 == run ? below(5 * 256) : 50;  // a single level
    // Great levels, then one of 32 or more, whose loss is as large as is counted, and a small one: without
    // the two the block may take more bits than with them.
    if (kind == 7) {
      value = below(100 * 256);
      if (k + 2 == count) value = 32 * 256 + below(6 * 256);
      if (k + 1 == count) value = 2 * 256 + below(2 * 256);
    }
    const bool always = kind == 5 || kind == 6 || (kind == 7 && k + 2 >= count);
    if (!always && below(100) >= density) value = below(100);
    const std::int64_t scaled = (std::int64_t{value} << shape.shift) >> 8,
                       most = INT32_MAX - (1 << shape.shift);
    block.scaled[k] = static_cast<std::int32_t>(std::min(scaled, most));
    block.negative |= static_cast<std::uint64_t>(random() & 1) << k;
  }
  block.context = shape.category == static_cast<int>(core::BlockCategory::chroma_dc) ? 0 : below(4);
  block.active = shape.category == core::kCost8x8 || below(8) != 0;
  return block;
}

class CabacRdoqParity : public DeviceTest {};

TEST_F(CabacRdoqParity, LevelsAndBits) {
  std::mt19937 random(8);
  const int rounds = test::quick() ? 3 : 20, blocks = 98;
  for (int round = 0; round < rounds; ++round) {
    for (int category = 0; category <= core::kCost8x8; ++category) {
      const bool large = category == core::kCost8x8;
      const int qp = static_cast<int>(random() % 52);
      const Shape shape{category, 15 + static_cast<int>(random() % 8), qp};
      const int count = large ? 64 : core::max_num_coeff(static_cast<core::BlockCategory>(category));
      std::vector<Block> sent;
      for (int i = 0; i < blocks; ++i) sent.push_back(random_block(random, shape, count, i));
      DeviceArray<Block> d_blocks(sent.size());
      DeviceArray<Chosen> d_chosen(sent.size());
      std::vector<Chosen> chosen(sent.size());
      check_cuda(
          cudaMemcpy(d_blocks.data(), sent.data(), sent.size() * sizeof(Block), cudaMemcpyHostToDevice),
          "upload");
      check_cuda(cudaMemset(d_chosen.data(), 0, sent.size() * sizeof(Chosen)), "cudaMemset");
      if (large) {
        choose_large<<<blocks, 32>>>(d_blocks.data(), shape, d_chosen.data());
      } else {
        choose_small<<<blocks / 2, 32>>>(d_blocks.data(), shape, d_chosen.data());
      }
      check_cuda(cudaGetLastError(), "launch");
      check_cuda(
          cudaMemcpy(chosen.data(), d_chosen.data(), sent.size() * sizeof(Chosen), cudaMemcpyDeviceToHost),
          "download");
      for (std::size_t i = 0; i < sent.size(); ++i) {
        const Chosen host = on_host(sent[i], shape);
        for (int k = 0; k < count; ++k) {
          ASSERT_EQ(chosen[i].levels[k], host.levels[k])
              << "round " << round << " category " << category << " block " << i << " position " << k;
        }
        ASSERT_EQ(chosen[i].bits, host.bits)
            << "round " << round << " category " << category << " block " << i;
      }
    }
  }
}

}  // namespace
}  // namespace cu264::parity
