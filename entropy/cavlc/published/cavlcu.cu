// One kernel: half a warp codes a macroblock, each thread a block, each thread block a region of consecutive
// macroblocks. The sections are those of the CAVLCU paper, and so are the names of functions and variables.
//
// The paper shows the 16 luma blocks. The eleven others of a macroblock are coded in the same way afterwards,
// by eleven of the half-warp's threads. Regions are taken by ticket, because a thread block may wait only for
// others that have begun, and shuffles and barriers name their lanes.
#include <cuda/atomic>

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "core/cavlc_block.h"
#include "core/cavlc_tables.h"
#include "entropy/cavlc/published/cavlcu.h"

namespace cu264::entropy {
namespace {

using core::MacroblockKind;

constexpr int kRegSize = 8;  // REG_SIZE, in macroblocks
constexpr int kHalfWarp = 16;
constexpr int kThreads = kHalfWarp * kRegSize;
constexpr int kEdge = 8;  // blocks of a macroblock along one side: 4 luma, 2 Cb, 2 Cr

// Section 4.6. Members x and y of an entry are the code's length and its value.
struct Tables {
  uchar2 coeff_token[5][17][4];
  uchar2 total_zeros[core::kTotalZerosRows][16];
  uchar2 run_before[7][15];
};

struct CavlcuScratch {
  std::uint32_t* ticket;
  Tables* tables;
  std::uint32_t* info_a;  // [picture][region][kEdge]
  std::uint32_t* info_b;  // [picture][mb][kEdge]
};

__device__ uchar2 table_entry(const core::CodeWord& code) {
  return make_uchar2(static_cast<unsigned char>(code.length), static_cast<unsigned char>(code.bits));
}

__global__ void __launch_bounds__(kThreads) make_tables(Tables* d_tables) {
  for (int i = static_cast<int>(threadIdx.x); i < 5 * 17 * 4; i += kThreads) {
    d_tables->coeff_token[i / 68][i / 4 % 17][i % 4] =
        table_entry(core::coeff_token_code(i / 68, i / 4 % 17, i % 4));
  }
  for (int i = static_cast<int>(threadIdx.x); i < core::kTotalZerosRows * 16; i += kThreads) {
    d_tables->total_zeros[i / 16][i % 16] = table_entry(core::total_zeros_code(i / 16 + 1, i % 16));
  }
  for (int i = static_cast<int>(threadIdx.x); i < 7 * 15; i += kThreads) {
    d_tables->run_before[i / 15][i % 15] = table_entry(core::run_before_code(i / 15 + 1, i % 15));
  }
}

// Section 4.2: the paper's longlong4, which two loads of 16 bytes fetch.
struct BlockVector {
  longlong2 xy, zw;
};

// The raster index of position k of the zigzag scan, without a table in memory.
__device__ __forceinline__ constexpr int zigzag_to_raster(int k) {
  return static_cast<int>((0xfeb7adc963258410u >> (4 * k)) & 15);
}

// Table 7: four coefficients in each member.
__device__ __forceinline__ int coefficient(const BlockVector& block_vec, int raster) {
  const longlong2 half = (raster & 8) != 0 ? block_vec.zw : block_vec.xy;
  const long long member = (raster & 4) != 0 ? half.y : half.x;
  return static_cast<short>(member >> (16 * (raster & 3)));
}

// Section 4.4.
struct Symbols {
  int total_coeff = 0, num_t1s = 0;
  std::uint32_t t1s = 0, zigzag_levels_mask = 0, zigzag_array_mask = 0;

  // Algorithm 6
  __device__ __forceinline__ void update(int coeff, std::uint32_t mask_of_coeff) {
    if (abs(coeff) == 1 && num_t1s < 3 && zigzag_levels_mask == 0) {
      t1s = t1s << 1 | (coeff == 1 ? 0 : 1);
      ++num_t1s;
    } else {
      zigzag_levels_mask |= mask_of_coeff;
    }
    zigzag_array_mask |= mask_of_coeff;
  }
};

__device__ __forceinline__ constexpr std::uint32_t mask_of_coeff(int coeff_idx) {
  return 1u << (15 - coeff_idx);
}

// Sections 4.3 and 4.4, algorithm 5: zz_array is in registers, since all its indices are constants.
__device__ __forceinline__ Symbols calculate_symbols(const BlockVector& block_vec, bool ac_only) {
  short zz_array[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) zz_array[k] = static_cast<short>(coefficient(block_vec, zigzag_to_raster(k)));
  Symbols symbols;
#pragma unroll
  for (int coeff_idx = 15; coeff_idx >= 1; --coeff_idx) {
    if (zz_array[coeff_idx] != 0) symbols.update(zz_array[coeff_idx], mask_of_coeff(coeff_idx));
  }
  if (ac_only) {
    symbols.zigzag_array_mask <<= 1;
  } else if (zz_array[0] != 0) {
    symbols.update(zz_array[0], mask_of_coeff(0));
  }
  symbols.total_coeff = __popc(symbols.zigzag_array_mask);
  return symbols;
}

// The place of a thread's block. Blocks of luma form a square of 4x4 blocks, those of a chroma component one
// of 2x2; a thread's neighbours in the square are the threads 1 and `columns` before it.
struct BlockPlace {
  int position;    // of the input (raster_input.h)
  bool in_square;  // not a DC block
  int x, y, columns;
  int first_edge;  // the square's first element along the macroblock's edge

  __device__ __forceinline__ static BlockPlace luma(int thread) {
    return {thread, true, thread & 3, thread >> 2, 4, 0};
  }
  __device__ __forceinline__ static BlockPlace other(int thread) {
    return {kLumaPositions + thread, thread < 8, thread & 1, (thread >> 1) & 1, 2, 4 + (thread >> 2) * 2};
  }
};

struct Macroblock {
  bool exists;
  int picture, region, z;  // z: its number in the region
  int row, col;
  std::size_t index;
  int slice;
  MacroblockKind pred_mode;
  std::uint32_t coded;
};

// Section 4.5.
using Element = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>;

// Reads an element until its writer has set it, and leaves it zero for the next launch.
__device__ std::uint32_t consume(std::uint32_t* element) {
  std::uint32_t info;
  while ((info = atomicExch(element, 0u)) == 0) {
  }
  return info;
}

// The count, or -1 if the neighbour lies in another slice.
__device__ int count_in_slice(std::uint32_t info, int slice) {
  return static_cast<int>(info >> 16) == slice ? static_cast<int>(info & 31) : -1;
}

using SharedInfo = volatile std::uint32_t[kRegSize][kEdge];

// Algorithm 7. All threads of the thread block must call this.
__device__ int manage_nC(const RasterInput& input, const CavlcuScratch& scratch, SharedInfo& s_info_a,
                         const Macroblock& mb, const BlockPlace& block, int total_coeff) {
  const std::uint32_t info = static_cast<std::uint32_t>(mb.slice << 16) + 64 + total_coeff;
  const bool takes_part = mb.exists && block.in_square;
  const int regions = (input.macroblocks_per_picture() + kRegSize - 1) / kRegSize, last = block.columns - 1;
  std::uint32_t* const d_info_b = scratch.info_b + mb.index * kEdge + block.first_edge + block.x;
  std::uint32_t* const d_info_a = scratch.info_a +
                                  (static_cast<std::size_t>(mb.picture) * regions + mb.region) * kEdge +
                                  block.first_edge + block.y;
  if (takes_part && block.y == last && mb.row + 1 < input.mb_height)
    Element(*d_info_b).store(info, cuda::memory_order_relaxed);
  if (takes_part && block.x == last) {
    s_info_a[mb.z][block.first_edge + block.y] = info;
    if (mb.z == kRegSize - 1 && mb.col + 1 < input.mb_width)
      Element(*d_info_a).store(info, cuda::memory_order_relaxed);
  }

  __syncthreads();

  int nB = __shfl_up_sync(kAllLanes, total_coeff, block.columns, kHalfWarp);
  int nA = __shfl_up_sync(kAllLanes, total_coeff, 1, kHalfWarp);
  if (takes_part && block.y == 0) {
    nB = -1;
    // The element is consumed even if it does not count, because the next launch must find zero.
    if (mb.row > 0)
      nB = count_in_slice(consume(d_info_b - static_cast<std::ptrdiff_t>(input.mb_width) * kEdge), mb.slice);
  }
  if (takes_part && block.x == 0) {
    nA = -1;
    if (mb.col > 0) {
      const std::uint32_t left =
          mb.z > 0 ? s_info_a[mb.z - 1][block.first_edge + block.y] : consume(d_info_a - kEdge);
      nA = count_in_slice(left, mb.slice);
    }
  }
  return core::nc_from_neighbours(nA, nB);
}

// Section 4.6: the bits that wait for a word to be full.
class Encoding {
 public:
  __device__ explicit Encoding(std::uint32_t* d_blk_enc) : d_blk_enc_(d_blk_enc) {}

  CU264_HD_MEMBER void put(std::uint32_t value, int length) {
    const int rest = word_len_ + length - 32;
    if (rest <= 0) {
      word_val_ = word_val_ << length | value;
      word_len_ += length;
    } else {
      d_blk_enc_[word_idx_++] = word_val_ << (length - rest) | value >> rest;
      word_val_ = value & ((1u << rest) - 1);
      word_len_ = rest;
    }
  }
  __device__ __forceinline__ void put(uchar2 code) { put(code.y, code.x); }
  // Returns the encoding's length in bits.
  __device__ __forceinline__ int finish() {
    if (word_len_ > 0) d_blk_enc_[word_idx_] = word_val_ << (32 - word_len_);
    return word_idx_ * 32 + word_len_;
  }

 private:
  std::uint32_t* d_blk_enc_;
  std::uint32_t word_val_ = 0;
  int word_len_ = 0, word_idx_ = 0;
};

__device__ int encode_block(std::uint32_t* d_blk_enc, const Tables* d_tables, const BlockVector& block_vec,
                            const Symbols& symbols, int max_num_coeff, int nC) {
  Encoding encoding(d_blk_enc);
  const int total_coeff = symbols.total_coeff, num_t1s = symbols.num_t1s;
  encoding.put(__ldg(&d_tables->coeff_token[core::coeff_token_column(nC)][total_coeff][num_t1s]));
  if (total_coeff == 0) return encoding.finish();
  encoding.put(symbols.t1s, num_t1s);

  // The levels, without tables
  core::CavlcSymbols counts;
  counts.total_coeff = total_coeff, counts.trailing_ones = num_t1s;
  int suffix_length = core::first_suffix_length(counts);
  bool cannot_be_one = num_t1s < 3;
  for (std::uint32_t mask = symbols.zigzag_levels_mask; mask != 0; cannot_be_one = false) {
    const int coeff_pos = __ffs(static_cast<int>(mask)) - 1;
    mask &= ~(1u << coeff_pos);
    const int level = coefficient(block_vec, zigzag_to_raster(15 - coeff_pos));
    core::put_level(encoding, core::level_code(level, cannot_be_one), suffix_length);
    suffix_length = core::next_suffix_length(suffix_length, abs(level));
  }

  // TotalZeros and the runs
  std::uint32_t mask = symbols.zigzag_array_mask;
  int prev_coeff_pos = __ffs(static_cast<int>(mask)) - 1;
  int zeros_left = 16 - total_coeff - prev_coeff_pos;
  const int row = total_coeff - 1 + (max_num_coeff == 4 ? core::kChromaDcTotalZeros : 0);
  if (total_coeff < max_num_coeff) encoding.put(__ldg(&d_tables->total_zeros[row][zeros_left]));
  for (int i = 1; i < total_coeff && zeros_left > 0; ++i) {
    mask &= ~(1u << prev_coeff_pos);
    const int coeff_pos = __ffs(static_cast<int>(mask)) - 1, run = coeff_pos - prev_coeff_pos - 1;
    encoding.put(__ldg(&d_tables->run_before[min(zeros_left, 7) - 1][run]));
    zeros_left -= run;
    prev_coeff_pos = coeff_pos;
  }
  return encoding.finish();
}

// Algorithm 3 for one block. All threads of the thread block must call this. Returns nC.
__device__ __forceinline__ int code(const RasterInput& input, const CavlcuScratch& scratch,
                                    SharedInfo& s_info_a, const BlockCodes& codes, const Macroblock& mb,
                                    const BlockPlace& block, int luma_dc_nC) {
  const bool has_block = mb.exists && block.position < core::kBlocksPerMacroblock;
  const int slot = has_block ? slot_of_position(block.position) : 0;
  BlockVector block_vec{};
  if (has_block) {
    block_vec = reinterpret_cast<const BlockVector*>(
        input.coeffs)[mb.index * core::kBlocksPerMacroblock + block.position];
  }
  const bool luma = block.position < kLumaPositions;
  const bool ac_only = luma ? mb.pred_mode == MacroblockKind::intra16x16 : block.in_square;
  const Symbols symbols = calculate_symbols(block_vec, ac_only);

  // An I_PCM macroblock counts as full (H.264 9.2.1).
  int nC = manage_nC(input, scratch, s_info_a, mb, block,
                     mb.pred_mode == MacroblockKind::pcm ? 16 : symbols.total_coeff);
  if (!block.in_square) nC = slot == core::kSlotLumaDc ? luma_dc_nC : core::kChromaDcNc;

  __syncwarp();
  if (!has_block) return nC;
  const std::size_t out = mb.index * core::kBlocksPerMacroblock + slot;
  int length = 0;
  if (((mb.coded >> slot) & 1) != 0) {
    const int max_num_coeff = ac_only ? 15 : luma || slot == core::kSlotLumaDc ? 16 : 4;
    length =
        encode_block(codes.words + out * kBlockWords, scratch.tables, block_vec, symbols, max_num_coeff, nC);
  }
  codes.lengths[out] = static_cast<std::uint16_t>(length);
  return nC;
}

template <CavlcuBlocks kBlocks>
__global__ void __launch_bounds__(kThreads)
    cavlcu(const __grid_constant__ RasterInput input, const __grid_constant__ CavlcuScratch scratch,
           const __grid_constant__ BlockCodes codes) {
  __shared__ volatile std::uint32_t s_info_a[kRegSize][kEdge];
  __shared__ std::uint32_t s_region;
  if (threadIdx.x == 0) s_region = atomicAdd(scratch.ticket, 1u);
  __syncthreads();

  // Section 4.1
  const int mbs = input.macroblocks_per_picture(), regions = (mbs + kRegSize - 1) / kRegSize;
  const int thread = static_cast<int>(threadIdx.x) % kHalfWarp;
  Macroblock mb{};
  mb.picture = static_cast<int>(s_region) / regions, mb.region = static_cast<int>(s_region) % regions;
  mb.z = static_cast<int>(threadIdx.x) / kHalfWarp;
  const int in_picture = mb.region * kRegSize + mb.z;
  mb.exists = in_picture < mbs;
  mb.row = in_picture / input.mb_width, mb.col = in_picture % input.mb_width;
  mb.index = static_cast<std::size_t>(mb.picture) * mbs + in_picture;
  if (mb.exists) {
    mb.slice = input.slices[mb.index];
    mb.pred_mode = static_cast<MacroblockKind>(input.pred_modes[mb.index]);
    mb.coded = input.coded[mb.index];
  }

  const int nC = code(input, scratch, s_info_a, codes, mb, BlockPlace::luma(thread), 0);
  if constexpr (kBlocks == CavlcuBlocks::all) {
    const int luma_dc_nC = __shfl_sync(kAllLanes, nC, 0, kHalfWarp);
    code(input, scratch, s_info_a, codes, mb, BlockPlace::other(thread), luma_dc_nC);
  }
}

int regions_of(int mb_width, int mb_height) {
  return (mb_width * mb_height + kRegSize - 1) / kRegSize;
}

CavlcuScratch carve(Arena& arena, int pictures, int mb_width, int mb_height) {
  const std::size_t mbs = static_cast<std::size_t>(mb_width) * mb_height;
  CavlcuScratch scratch{};
  scratch.ticket = arena.take<std::uint32_t>(1);
  scratch.tables = arena.take<Tables>(1);
  scratch.info_a =
      arena.take<std::uint32_t>(static_cast<std::size_t>(pictures) * regions_of(mb_width, mb_height) * kEdge);
  scratch.info_b = arena.take<std::uint32_t>(pictures * mbs * kEdge);
  return scratch;
}

}  // namespace

std::size_t cavlcu_scratch_bytes(int pictures, int mb_width, int mb_height) {
  Arena arena(nullptr);
  carve(arena, pictures, mb_width, mb_height);
  return arena.bytes();
}

void launch_prepare_cavlcu(int pictures, int mb_width, int mb_height, void* memory, cudaStream_t stream) {
  Arena arena(memory);
  const CavlcuScratch scratch = carve(arena, pictures, mb_width, mb_height);
  check_cuda(cudaMemsetAsync(memory, 0, arena.bytes(), stream), "cudaMemsetAsync");
  make_tables<<<1, kThreads, 0, stream>>>(scratch.tables);
  check_launch("make_tables");
}

void launch_cavlcu(const RasterInput& input, CavlcuBlocks blocks, void* memory, const BlockCodes& codes,
                   cudaStream_t stream) {
  Arena arena(memory);
  const CavlcuScratch scratch = carve(arena, input.pictures, input.mb_width, input.mb_height);
  const auto regions = static_cast<unsigned>(input.pictures) *
                       static_cast<unsigned>(regions_of(input.mb_width, input.mb_height));
  check_cuda(cudaMemsetAsync(scratch.ticket, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  const auto kernel = blocks == CavlcuBlocks::luma ? cavlcu<CavlcuBlocks::luma> : cavlcu<CavlcuBlocks::all>;
  kernel<<<regions, kThreads, 0, stream>>>(input, scratch, codes);
  check_launch("cavlcu");
}

}  // namespace cu264::entropy
