// The steps are: a forward scan, which sorts blocks in zigzag order and computes TotalCoeff; a backward scan,
// which computes nC and the other symbols; coding, with its tables in shared memory. Each step is done for
// one component after the other. Every intermediate result goes through global memory, as it did in the
// original.
#include "entropy/cavlc/published/cavlc_su.h"

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "core/bit_ops.h"
#include "core/cavlc_block.h"
#include "core/mb_syntax.h"
#include "core/slot_neighbours.h"
#include "entropy/cavlc/word_sink.cuh"

namespace cu264::entropy {
namespace {

using core::kBlocksPerMacroblock;
using core::kLevelsPerBlock;
using core::kTotalCoeffStride;
using core::MacroblockKind;

constexpr int kThreads = 128;
constexpr int kRegionWidth = 4, kRegionHeight = 2;  // in macroblocks, for a thread block of the backward scan
constexpr int kRegionMacroblocks = kRegionWidth * kRegionHeight;
constexpr int kLumaBlocks = 16, kRegionBlocks = kRegionMacroblocks * kLumaBlocks;

// What a macroblock has of a component: 1 << log_count blocks, which begin at `slot`, and in the input at
// `position`. The TotalCoeff that its nC follows from are those of `counts` slots from `first_count` on.
struct Component {
  int slot, position, log_count;
  int first_count, counts;

  CU264_HD_MEMBER int blocks() const { return 1 << log_count; }
  CU264_HD_MEMBER std::size_t macroblock(std::size_t block) const { return block >> log_count; }
  CU264_HD_MEMBER int index(std::size_t block) const { return static_cast<int>(block & (blocks() - 1u)); }
};

// nC of luma DC follows from the blocks of luma AC. That of chroma DC is always the same.
constexpr Component kLumaDc{core::kSlotLumaDc, kLumaPositions + 8, 0, core::kSlotLuma, kLumaBlocks};
constexpr Component kLumaAc{core::kSlotLuma, 0, 4, core::kSlotLuma, kLumaBlocks};
constexpr Component kChromaDc{core::kSlotChromaDc, kLumaPositions + 9, 1, 0, 0};
constexpr Component kChromaAc{core::kSlotChromaAc, kLumaPositions, 3, core::kSlotChromaAc, 8};

// The symbols of all blocks, an array for each. Runs and levels are in order from the highest frequency down.
struct Symbols {
  std::int8_t* nC;  // the first four are [picture][mb][27]
  std::uint8_t* trailing_ones;
  std::uint8_t* signs;
  std::uint8_t* total_zeros;
  std::uint8_t* runs;    // [picture][mb][27][16]
  std::int16_t* levels;  // [picture][mb][27][16], without the trailing ones
};

struct SuScratch {
  std::int16_t* zigzag;       // [picture][mb][27][16]
  std::uint8_t* total_coeff;  // [picture][mb][32]
  Symbols symbols;
};

struct SuJob {
  RasterInput input;
  SuScratch scratch;
  ShortCodes codes;

  __device__ MacroblockKind kind(std::size_t mb) const {
    return static_cast<MacroblockKind>(input.pred_modes[mb]);
  }
};

struct ShortStore {
  ShortCodes codes;
  std::size_t block;

  __device__ void operator()(int index, std::uint32_t word) const {
    std::uint16_t* const two = codes.pair(block, index);
    two[0] = static_cast<std::uint16_t>(word >> 16);
    two[1] = static_cast<std::uint16_t>(word);
  }
};

// Shared memory buffers the blocks, so that accesses to global memory are coalesced. It leaves them in the
// order of slots.
__global__ void __launch_bounds__(kThreads)
    forward_scan(const __grid_constant__ SuJob job, const __grid_constant__ Component component) {
  __shared__ uint4 s_levels[kThreads * 2];
  const std::size_t blocks = job.input.macroblocks() << component.log_count;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kThreads, own = first + threadIdx.x;
  const auto* const d_in = reinterpret_cast<const uint4*>(job.input.coeffs);
  auto* const d_out = reinterpret_cast<uint4*>(job.scratch.zigzag);
  for (int i = static_cast<int>(threadIdx.x); i < 2 * kThreads; i += kThreads) {
    const std::size_t from = first + i / 2;
    if (from >= blocks) continue;
    const std::size_t before = component.macroblock(from) * kBlocksPerMacroblock + component.position;
    s_levels[i] = d_in[2 * (before + component.index(from)) + i % 2];
  }
  __syncthreads();
  if (own < blocks) {
    const std::size_t mb_index = component.macroblock(own);
    const int slot = slot_of_position(component.position + component.index(own));
    const MacroblockKind kind = job.kind(mb_index);
    const int count = core::slot_max_num_coeff(kind, slot), dc = count == 15 ? 1 : 0;
    auto* const s_own = reinterpret_cast<std::int16_t*>(s_levels) + threadIdx.x * kLevelsPerBlock;
    std::int16_t raster[kLevelsPerBlock];
#pragma unroll
    for (int k = 0; k < kLevelsPerBlock; ++k) raster[k] = s_own[k];
    int total_coeff = 0;
#pragma unroll
    for (int k = 0; k < kLevelsPerBlock; ++k) {
      const std::int16_t level = raster[core::zigzag_to_raster(k)];
      if (k < dc) continue;
      s_own[k - dc] = level;
      total_coeff += level != 0;
    }
    if (dc == 1) s_own[kLevelsPerBlock - 1] = 0;
    const bool in_square =
        slot != core::kSlotLumaDc && (slot < core::kSlotChromaDc || slot >= core::kSlotChromaAc);
    if (kind == MacroblockKind::pcm && in_square) total_coeff = 16;
    job.scratch.total_coeff[mb_index * kTotalCoeffStride + slot] = static_cast<std::uint8_t>(total_coeff);
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < 2 * kThreads; i += kThreads) {
    const std::size_t from = first + i / 2;
    if (from >= blocks) continue;
    const int slot = slot_of_position(component.position + component.index(from));
    d_out[2 * (component.macroblock(from) * kBlocksPerMacroblock + slot) + i % 2] = s_levels[i];
  }
}

// Loads all data that it needs to shared memory first (section 3.1): zigzag arrays and counts. A thread block
// has a thread for each of the component's blocks in a region.
__global__ void __launch_bounds__(kRegionBlocks)
    backward_scan(const __grid_constant__ SuJob job, const __grid_constant__ Component component) {
  constexpr int kVectors = kLevelsPerBlock * sizeof(std::int16_t) / sizeof(uint4);  // of a block
  __shared__ uint4 s_zigzag[kRegionBlocks * kVectors];
  // The counts of the region, of the column to its left and of the row above it.
  __shared__ std::uint8_t s_counts[kRegionHeight + 1][kRegionWidth + 1][kTotalCoeffStride];
  const int threads = kRegionMacroblocks << component.log_count, thread = static_cast<int>(threadIdx.x);
  const int first_x = static_cast<int>(blockIdx.x) * kRegionWidth;
  const int first_y = static_cast<int>(blockIdx.y) * kRegionHeight;
  const std::size_t picture_mbs = static_cast<std::size_t>(blockIdx.z) * job.input.macroblocks_per_picture();
  const int counts = (kRegionHeight + 1) * (kRegionWidth + 1) * component.counts;
  for (int i = thread; i < counts; i += threads) {
    const int mb = i / component.counts, slot = component.first_count + i % component.counts;
    const int column = mb % (kRegionWidth + 1), row = mb / (kRegionWidth + 1);
    const int x = first_x - 1 + column, y = first_y - 1 + row;
    if (x < 0 || y < 0 || x >= job.input.mb_width || y >= job.input.mb_height) continue;
    s_counts[row][column][slot] =
        job.scratch.total_coeff[(picture_mbs + y * job.input.mb_width + x) * kTotalCoeffStride + slot];
  }
  const auto* const d_zigzag = reinterpret_cast<const uint4*>(job.scratch.zigzag);
  for (int i = thread; i < threads * kVectors; i += threads) {
    const int block = i / kVectors, m = block >> component.log_count;
    const int x = first_x + m % kRegionWidth, y = first_y + m / kRegionWidth;
    if (x >= job.input.mb_width || y >= job.input.mb_height) continue;
    const std::size_t before = (picture_mbs + y * job.input.mb_width + x) * kBlocksPerMacroblock;
    s_zigzag[i] = d_zigzag[(before + component.slot + component.index(block)) * kVectors + i % kVectors];
  }
  __syncthreads();
  const int m = thread >> component.log_count, slot = component.slot + component.index(thread);
  const int x = m % kRegionWidth, y = m / kRegionWidth, mb_x = first_x + x, mb_y = first_y + y;
  if (mb_x >= job.input.mb_width || mb_y >= job.input.mb_height) return;
  const std::size_t mb_index = picture_mbs + static_cast<std::size_t>(mb_y) * job.input.mb_width + mb_x;
  const bool above =
      mb_y > 0 && job.input.slices[mb_index] == job.input.slices[mb_index - job.input.mb_width];
  const std::size_t block = mb_index * kBlocksPerMacroblock + slot;
  const Symbols& symbols = job.scratch.symbols;
  symbols.nC[block] = static_cast<std::int8_t>(
      core::slot_nc(slot, core::slot_neighbours(slot), s_counts[y + 1][x + 1],
                    mb_x > 0 ? s_counts[y + 1][x] : nullptr, above ? s_counts[y][x + 1] : nullptr));
  const auto* const s_own = reinterpret_cast<const std::int16_t*>(s_zigzag) + thread * kLevelsPerBlock;
  std::uint8_t* const d_runs = symbols.runs + block * kLevelsPerBlock;
  std::int16_t* const d_levels = symbols.levels + block * kLevelsPerBlock;
  unsigned signs = 0;
  int total_coeff = 0, trailing_ones = 0, total_zeros = 0;
  int levels = 0, run = -1;  // run: zeros since the last level found; -1 before the first
  for (int k = kLevelsPerBlock - 1; k >= 0; --k) {
    const int level = s_own[k];
    if (level == 0) {
      if (run >= 0) ++run, ++total_zeros;
      continue;
    }
    if (run >= 0) d_runs[total_coeff - 1] = static_cast<std::uint8_t>(run);
    run = 0;
    ++total_coeff;
    if (levels == 0 && trailing_ones < 3 && (level == 1 || level == -1)) {
      ++trailing_ones;
      signs = signs << 1 | (level < 0);
    } else {
      d_levels[levels++] = static_cast<std::int16_t>(level);
    }
  }
  symbols.trailing_ones[block] = static_cast<std::uint8_t>(trailing_ones);
  symbols.signs[block] = static_cast<std::uint8_t>(signs);
  symbols.total_zeros[block] = static_cast<std::uint8_t>(total_zeros);
}

__device__ std::uint32_t packed_code(const core::CodeWord& code) {
  return static_cast<std::uint32_t>(code.bits) << 8 | code.length;
}

// The tables of one component, in shared memory.
struct Tables {
  std::uint32_t coeff_token[5][17][4];
  std::uint32_t total_zeros[16][16];
  std::uint32_t run_before[8][15];

  __device__ void load(bool chroma_dc) {
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < 5 * 17 * 4; i += kThreads) {
      const int column = i / 68, total_coeff = i / 4 % 17, ones = i % 4;
      if (ones > total_coeff || (column == 4 && total_coeff > 4)) continue;
      coeff_token[column][total_coeff][ones] = packed_code(core::coeff_token_code(column, total_coeff, ones));
    }
    const int most = chroma_dc ? 4 : 16;
    for (int i = thread; i < 256; i += kThreads) {
      const int total_coeff = i / 16, zeros = i % 16;
      if (total_coeff == 0 || total_coeff >= most || zeros > most - total_coeff) continue;
      total_zeros[total_coeff][zeros] =
          packed_code(chroma_dc ? core::chroma_dc_total_zeros_code(total_coeff, zeros)
                                : core::total_zeros_code(total_coeff, zeros));
    }
    for (int i = thread; i < 8 * 15; i += kThreads) {
      const int left = i / 15, run = i % 15;
      if (left >= 1 && (left == 7 || run <= left))
        run_before[left][run] = packed_code(core::run_before_code(left, run));
    }
  }
};

template <class Sink>
__device__ void put_packed(Sink& sink, std::uint32_t code) {
  sink.put(code >> 8, static_cast<int>(code & 0xff));
}

template <class Sink>
__device__ void put_symbols(Sink& sink, const Tables& s_tables, const Symbols& symbols, std::size_t block,
                            int total_coeff, int max_num_coeff) {
  const int trailing_ones = symbols.trailing_ones[block];
  put_packed(sink,
             s_tables.coeff_token[core::coeff_token_column(symbols.nC[block])][total_coeff][trailing_ones]);
  if (total_coeff == 0) return;
  const std::uint8_t* const d_runs = symbols.runs + block * kLevelsPerBlock;
  const std::int16_t* const d_levels = symbols.levels + block * kLevelsPerBlock;
  sink.put(symbols.signs[block], trailing_ones);
  core::CavlcSymbols counts;
  counts.total_coeff = total_coeff;
  counts.trailing_ones = trailing_ones;
  int suffix_length = core::first_suffix_length(counts);
  for (int i = 0; i < total_coeff - trailing_ones; ++i) {
    const int level = d_levels[i];
    core::put_level(sink, core::level_code(level, i == 0 && trailing_ones < 3), suffix_length);
    suffix_length = core::next_suffix_length(suffix_length, abs(level));
  }
  int zeros_left = symbols.total_zeros[block];
  if (total_coeff < max_num_coeff) put_packed(sink, s_tables.total_zeros[total_coeff][zeros_left]);
  for (int i = 0; i + 1 < total_coeff && zeros_left > 0; ++i) {
    put_packed(sink, s_tables.run_before[min(zeros_left, 7)][d_runs[i]]);
    zeros_left -= d_runs[i];
  }
}

__global__ void __launch_bounds__(kThreads)
    code_component(const __grid_constant__ SuJob job, const __grid_constant__ Component component) {
  __shared__ Tables s_tables;
  s_tables.load(component.slot == core::kSlotChromaDc);
  __syncthreads();
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::size_t mb_index = component.macroblock(i);
  const int slot = component.slot + component.index(i);
  if (mb_index >= job.input.macroblocks()) return;
  const std::size_t block = mb_index * kBlocksPerMacroblock + slot;
  int length = 0;
  if (((job.input.coded[mb_index] >> slot) & 1) != 0) {
    WordSink sink(ShortStore{job.codes, block});
    put_symbols(sink, s_tables, job.scratch.symbols, block,
                job.scratch.total_coeff[mb_index * kTotalCoeffStride + slot],
                core::slot_max_num_coeff(job.kind(mb_index), slot));
    length = sink.finish();
  }
  job.codes.lengths[block] = static_cast<std::uint16_t>(length);
}

SuScratch carve(std::uint8_t* memory, std::size_t& size, std::size_t mbs) {
  SuScratch scratch;
  Arena arena(memory);
  scratch.zigzag = arena.take<std::int16_t>(mbs * core::kLevelsPerMacroblock);
  scratch.total_coeff = arena.take<std::uint8_t>(mbs * kTotalCoeffStride);
  const std::size_t blocks = mbs * kBlocksPerMacroblock;
  scratch.symbols.nC = arena.take<std::int8_t>(blocks);
  scratch.symbols.trailing_ones = arena.take<std::uint8_t>(blocks);
  scratch.symbols.signs = arena.take<std::uint8_t>(blocks);
  scratch.symbols.total_zeros = arena.take<std::uint8_t>(blocks);
  scratch.symbols.runs = arena.take<std::uint8_t>(blocks * kLevelsPerBlock);
  scratch.symbols.levels = arena.take<std::int16_t>(blocks * kLevelsPerBlock);
  size = arena.bytes();
  return scratch;
}

}  // namespace

std::size_t cavlc_su_scratch_bytes(int pictures, int mb_width, int mb_height) {
  std::size_t size = 0;
  carve(nullptr, size, static_cast<std::size_t>(pictures) * mb_width * mb_height);
  return size;
}

void launch_cavlc_su(const RasterInput& input, void* scratch, const ShortCodes& codes, cudaStream_t stream) {
  const std::size_t mbs = input.macroblocks();
  std::size_t size = 0;
  const SuJob job{input, carve(static_cast<std::uint8_t*>(scratch), size, mbs), codes};
  const auto grid = [](std::size_t threads) {
    return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
  };
  // The components in the order of section 3.2.
  constexpr Component kComponents[] = {kLumaDc, kLumaAc, kChromaDc, kChromaAc};
  for (const Component& component : kComponents) {
    forward_scan<<<grid(mbs << component.log_count), kThreads, 0, stream>>>(job, component);
    check_launch("forward_scan");
  }
  const dim3 regions(static_cast<unsigned>((input.mb_width + kRegionWidth - 1) / kRegionWidth),
                     static_cast<unsigned>((input.mb_height + kRegionHeight - 1) / kRegionHeight),
                     static_cast<unsigned>(input.pictures));
  for (const Component& component : kComponents) {
    const unsigned threads = kRegionMacroblocks << component.log_count;
    backward_scan<<<regions, threads, 0, stream>>>(job, component);
    check_launch("backward_scan");
    code_component<<<grid(mbs << component.log_count), kThreads, 0, stream>>>(job, component);
    check_launch("code_component");
  }
}

}  // namespace cu264::entropy
