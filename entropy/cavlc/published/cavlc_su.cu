// Forward scan: TotalCoeff and zigzag arrays. Backward scan: nC and the other symbols. Coding: one kernel a
// component, its tables in shared memory. Lag packing: positions from lengths, then all codes at once. Every
// intermediate result goes through global memory, as it did in the original.
#include <cub/block/block_scan.cuh>

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "core/bit_ops.h"
#include "core/cavlc_block.h"
#include "core/mb_syntax.h"
#include "core/slot_neighbours.h"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/published/cavlc_su.h"
#include "entropy/cavlc/word_sink.cuh"

namespace cu264::entropy {
namespace {

using core::BatchView;
using core::kBlocksPerMacroblock;
using core::kLevelsPerBlock;
using core::kTotalCoeffStride;
using core::MacroblockKind;
using core::MacroblockRecord;

constexpr int kThreads = 128;
constexpr int kRegionWidth = 4, kRegionHeight = 2;  // macroblocks of a backward scan's thread block
constexpr int kRegionThreads = kRegionWidth * kRegionHeight * 32;

// A block's symbols; runs and levels go from the highest frequency down.
struct Symbols {
  std::int8_t nC;
  std::uint8_t total_coeff, trailing_ones, signs, total_zeros;
  std::uint8_t runs[kLevelsPerBlock];
  std::int16_t levels[kLevelsPerBlock];  // without the trailing ones
};

struct SuScratch {
  std::int16_t* zigzag;       // [picture][mb][27][16]
  std::uint8_t* total_coeff;  // [picture][mb][32]
  Symbols* symbols;           // [picture][mb][27]
  std::uint64_t* positions;   // [picture][mb][27]
};

struct SuJob {
  BatchView batch;
  SuScratch scratch;
  BlockCodes codes;
  PackedBlocks packed;
  std::size_t packed_words;

  __device__ std::size_t blocks() const {
    return static_cast<std::size_t>(batch.pictures) * batch.macroblocks_per_picture() * kBlocksPerMacroblock;
  }
};

__global__ void __launch_bounds__(kThreads) forward_scan(const __grid_constant__ SuJob job) {
  __shared__ uint4 s_levels[kThreads * 2];
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kThreads, block = first + threadIdx.x;
  const auto* const d_in = reinterpret_cast<const uint4*>(job.batch.levels);
  auto* const d_out = reinterpret_cast<uint4*>(job.scratch.zigzag);
  for (int i = static_cast<int>(threadIdx.x); i < 2 * kThreads; i += kThreads) {
    if (2 * first + i < 2 * job.blocks()) s_levels[i] = d_in[2 * first + i];
  }
  __syncthreads();
  if (block < job.blocks()) {
    const std::size_t mb_index = block / kBlocksPerMacroblock;
    const int slot = static_cast<int>(block % kBlocksPerMacroblock);
    const MacroblockRecord& mb = job.batch.macroblocks[mb_index];
    const bool written = core::slot_is_coded(mb, slot) && ((mb.nonzero_blocks >> slot) & 1) != 0;
    const int count = written ? core::slot_max_num_coeff(mb, slot) : 0;
    auto* const s_own = reinterpret_cast<std::int16_t*>(s_levels) + threadIdx.x * kLevelsPerBlock;
    int total_coeff = 0;
    for (int k = 0; k < kLevelsPerBlock; ++k) {
      if (k >= count) s_own[k] = 0;
      total_coeff += s_own[k] != 0;
    }
    const bool dc = slot == core::kSlotLumaDc || (slot >= core::kSlotChromaDc && slot < core::kSlotChromaAc);
    if (mb.kind == MacroblockKind::pcm && !dc) total_coeff = 16;
    job.scratch.total_coeff[mb_index * kTotalCoeffStride + slot] = static_cast<std::uint8_t>(total_coeff);
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < 2 * kThreads; i += kThreads) {
    if (2 * first + i < 2 * job.blocks()) d_out[2 * first + i] = s_levels[i];
  }
}

__global__ void __launch_bounds__(kRegionThreads) backward_scan(const __grid_constant__ SuJob job) {
  // The region's counts with the column to its left and the row above it.
  __shared__ std::uint8_t s_counts[kRegionHeight + 1][kRegionWidth + 1][kTotalCoeffStride];
  const int first_x = static_cast<int>(blockIdx.x) * kRegionWidth;
  const int first_y = static_cast<int>(blockIdx.y) * kRegionHeight;
  const std::size_t picture_mbs = static_cast<std::size_t>(blockIdx.z) * job.batch.macroblocks_per_picture();
  constexpr int kCounts = static_cast<int>(sizeof(s_counts));
  for (int i = static_cast<int>(threadIdx.x); i < kCounts; i += kRegionThreads) {
    const int slot = i % kTotalCoeffStride, x = first_x - 1 + i / kTotalCoeffStride % (kRegionWidth + 1);
    const int y = first_y - 1 + i / kTotalCoeffStride / (kRegionWidth + 1);
    if (x < 0 || y < 0 || x >= job.batch.mb_width || y >= job.batch.mb_height) continue;
    (&s_counts[0][0][0])[i] =
        job.scratch.total_coeff[(picture_mbs + y * job.batch.mb_width + x) * kTotalCoeffStride + slot];
  }
  __syncthreads();
  const int m = static_cast<int>(threadIdx.x) >> 5, slot = static_cast<int>(threadIdx.x) & 31;
  const int x = m % kRegionWidth, y = m / kRegionWidth, mb_x = first_x + x, mb_y = first_y + y;
  if (mb_x >= job.batch.mb_width || mb_y >= job.batch.mb_height || slot >= kBlocksPerMacroblock) return;
  const int slices = job.batch.slices, mb_height = job.batch.mb_height;
  const bool above = mb_y > 0 && (slices == 1 || core::slice_of_row(mb_y, slices, mb_height) ==
                                                     core::slice_of_row(mb_y - 1, slices, mb_height));
  Symbols symbols{};
  symbols.nC = static_cast<std::int8_t>(
      core::slot_nc(slot, core::slot_neighbours(slot), s_counts[y + 1][x + 1],
                    mb_x > 0 ? s_counts[y + 1][x] : nullptr, above ? s_counts[y][x + 1] : nullptr));
  const std::size_t block = (picture_mbs + mb_y * job.batch.mb_width + mb_x) * kBlocksPerMacroblock + slot;
  const std::int16_t* const d_zigzag = job.scratch.zigzag + block * kLevelsPerBlock;
  Symbols& d_symbols = job.scratch.symbols[block];
  int levels = 0, run = -1;  // run: zeros since the last level found; -1 before the first
  for (int k = kLevelsPerBlock - 1; k >= 0; --k) {
    const int level = d_zigzag[k];
    if (level == 0) {
      if (run >= 0) ++run, ++symbols.total_zeros;
      continue;
    }
    if (run >= 0) d_symbols.runs[symbols.total_coeff - 1] = static_cast<std::uint8_t>(run);
    run = 0;
    ++symbols.total_coeff;
    if (levels == 0 && symbols.trailing_ones < 3 && (level == 1 || level == -1)) {
      ++symbols.trailing_ones;
      symbols.signs = static_cast<std::uint8_t>(symbols.signs << 1 | (level < 0));
    } else {
      d_symbols.levels[levels++] = static_cast<std::int16_t>(level);
    }
  }
  d_symbols.nC = symbols.nC;
  d_symbols.total_coeff = symbols.total_coeff;
  d_symbols.trailing_ones = symbols.trailing_ones;
  d_symbols.signs = symbols.signs;
  d_symbols.total_zeros = symbols.total_zeros;
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
__device__ void put_symbols(Sink& sink, const Tables& s_tables, const Symbols& d_symbols, int max_num_coeff) {
  const int total_coeff = d_symbols.total_coeff, trailing_ones = d_symbols.trailing_ones;
  put_packed(sink, s_tables.coeff_token[core::coeff_token_column(d_symbols.nC)][total_coeff][trailing_ones]);
  if (total_coeff == 0) return;
  sink.put(d_symbols.signs, trailing_ones);
  core::CavlcSymbols counts;
  counts.total_coeff = total_coeff;
  counts.trailing_ones = trailing_ones;
  int suffix_length = core::first_suffix_length(counts);
  for (int i = 0; i < total_coeff - trailing_ones; ++i) {
    const int level = d_symbols.levels[i];
    core::put_level(sink, core::level_code(level, i == 0 && trailing_ones < 3), suffix_length);
    suffix_length = core::next_suffix_length(suffix_length, abs(level));
  }
  int zeros_left = d_symbols.total_zeros;
  if (total_coeff < max_num_coeff) put_packed(sink, s_tables.total_zeros[total_coeff][zeros_left]);
  for (int i = 0; i + 1 < total_coeff && zeros_left > 0; ++i) {
    put_packed(sink, s_tables.run_before[min(zeros_left, 7)][d_symbols.runs[i]]);
    zeros_left -= d_symbols.runs[i];
  }
}

// The `count` slots from `first` of every macroblock: one component.
__global__ void __launch_bounds__(kThreads)
    code_component(const __grid_constant__ SuJob job, int first, int count) {
  __shared__ Tables s_tables;
  s_tables.load(first == core::kSlotChromaDc);
  __syncthreads();
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::size_t mb_index = i / count;
  const int slot = first + static_cast<int>(i % count);
  if (mb_index >= job.blocks() / kBlocksPerMacroblock) return;
  const MacroblockRecord& mb = job.batch.macroblocks[mb_index];
  const std::size_t block = mb_index * kBlocksPerMacroblock + slot;
  int length = 0;
  if (core::slot_is_coded(mb, slot)) {
    WordSink sink(ArrayStore{job.codes.words + block * kBlockWords});
    put_symbols(sink, s_tables, job.scratch.symbols[block], core::slot_max_num_coeff(mb, slot));
    length = sink.finish();
  }
  job.codes.lengths[block] = static_cast<std::uint16_t>(length);
}

// A thread block a picture; what lag packing ORs into is cleared here.
__global__ void __launch_bounds__(1024) place_blocks(const __grid_constant__ SuJob job) {
  using Scan = cub::BlockScan<std::uint32_t, 1024>;
  __shared__ typename Scan::TempStorage s_scan;
  const std::size_t blocks = job.blocks() / job.batch.pictures, base = blockIdx.x * blocks;
  std::uint64_t position = 0;
  for (std::size_t chunk = 0; chunk < blocks; chunk += 4 * 1024) {
    std::uint32_t lengths[4], before[4], all = 0;
    const std::size_t own = chunk + 4 * threadIdx.x;
    for (int i = 0; i < 4; ++i) lengths[i] = own + i < blocks ? job.codes.lengths[base + own + i] : 0;
    Scan(s_scan).ExclusiveSum(lengths, before, all);
    for (int i = 0; i < 4; ++i) {
      if (own + i < blocks) job.scratch.positions[base + own + i] = position + before[i];
    }
    position += all;
    __syncthreads();
  }
  std::uint32_t* const d_words = job.packed.words + blockIdx.x * job.packed_words;
  for (std::size_t word = threadIdx.x; word <= position / 32; word += 1024) d_words[word] = 0;
  if (threadIdx.x == 0) job.packed.bits[blockIdx.x] = position;
}

__global__ void __launch_bounds__(kThreads) lag_pack(const __grid_constant__ SuJob job) {
  const std::size_t block = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (block >= job.blocks()) return;
  const std::size_t picture = block / (job.blocks() / job.batch.pictures);
  std::uint32_t* const d_words = job.packed.words + picture * job.packed_words;
  const int length = job.codes.lengths[block];
  const std::uint64_t position = job.scratch.positions[block];
  std::uint32_t* d_to = d_words + position / 32;
  const int shift = static_cast<int>(position % 32);
  for (int bit = 0; bit < length; bit += 32, ++d_to) {
    const std::uint32_t word = job.codes.words[block * kBlockWords + bit / 32];
    const std::uint32_t high = word >> shift, low = __funnelshift_r(0, word, shift);
    if (high != 0) atomicOr(d_to, high);
    if (low != 0) atomicOr(d_to + 1, low);
  }
}

SuScratch carve(std::uint8_t* memory, std::size_t& size, std::size_t mbs) {
  SuScratch scratch;
  Arena arena(memory);
  scratch.zigzag = arena.take<std::int16_t>(mbs * core::kLevelsPerMacroblock);
  scratch.total_coeff = arena.take<std::uint8_t>(mbs * kTotalCoeffStride);
  scratch.symbols = arena.take<Symbols>(mbs * kBlocksPerMacroblock);
  scratch.positions = arena.take<std::uint64_t>(mbs * kBlocksPerMacroblock);
  size = arena.bytes();
  return scratch;
}

}  // namespace

std::size_t packed_block_words(int mb_width, int mb_height) {
  return static_cast<std::size_t>(mb_width) * mb_height * kMacroblockWords + 1;
}

std::size_t cavlc_su_scratch_bytes(int pictures, int mb_width, int mb_height) {
  std::size_t size = 0;
  carve(nullptr, size, static_cast<std::size_t>(pictures) * mb_width * mb_height);
  return size;
}

void launch_cavlc_su(const BatchView& batch, void* scratch, const BlockCodes& codes,
                     const PackedBlocks& packed, cudaStream_t stream) {
  const std::size_t mbs = static_cast<std::size_t>(batch.pictures) * batch.macroblocks_per_picture();
  std::size_t size = 0;
  const SuJob job{batch, carve(static_cast<std::uint8_t*>(scratch), size, mbs), codes, packed,
                  packed_block_words(batch.mb_width, batch.mb_height)};
  const auto grid = [](std::size_t threads) {
    return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
  };
  forward_scan<<<grid(mbs * kBlocksPerMacroblock), kThreads, 0, stream>>>(job);
  check_launch("forward_scan");
  const dim3 regions(static_cast<unsigned>((batch.mb_width + kRegionWidth - 1) / kRegionWidth),
                     static_cast<unsigned>((batch.mb_height + kRegionHeight - 1) / kRegionHeight),
                     static_cast<unsigned>(batch.pictures));
  backward_scan<<<regions, kRegionThreads, 0, stream>>>(job);
  check_launch("backward_scan");
  constexpr int kComponents[4][2] = {
      {core::kSlotLumaDc, 1}, {core::kSlotLuma, 16}, {core::kSlotChromaDc, 2}, {core::kSlotChromaAc, 8}};
  for (const auto& [first, count] : kComponents) {
    code_component<<<grid(mbs * count), kThreads, 0, stream>>>(job, first, count);
    check_launch("code_component");
  }
  place_blocks<<<static_cast<unsigned>(batch.pictures), 1024, 0, stream>>>(job);
  check_launch("place_blocks");
  lag_pack<<<grid(mbs * kBlocksPerMacroblock), kThreads, 0, stream>>>(job);
  check_launch("lag_pack");
}

}  // namespace cu264::entropy
