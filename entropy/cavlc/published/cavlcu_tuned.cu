// One kernel, as CAVLCU has it: each thread codes a block, each warp a macroblock, each thread block a region
// of consecutive macroblocks.
//
// The hand-over of counts is the paper's; everything else is tuned. A macroblock takes a warp, with all its
// 27 blocks at once. Levels are stored in coding order, so that no reordering is needed, and lie in shared
// memory while they are coded. Symbols come from masks of packed pairs (block_levels.cuh), total_zeros and
// runs from one look-up (zeros_and_runs.h), small levels from a table in shared memory (level_coder.cuh).
#include <cuda/atomic>

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "core/cavlc_block.h"
#include "core/mb_syntax.h"
#include "core/slot_neighbours.h"
#include "entropy/cavlc/block_coder.cuh"
#include "entropy/cavlc/published/cavlcu_tuned.h"
#include "entropy/cavlc/word_sink.cuh"

namespace cu264::entropy {
namespace {

using core::BatchView;
using core::MacroblockKind;
using core::MacroblockRecord;

constexpr int kRegion = 8;  // macroblocks
constexpr int kThreads = 32 * kRegion;
constexpr int kEdge = 8;  // blocks of a macroblock along one side: 4 luma, 2 Cb, 2 Cr

// Arrays through which thread blocks hand over counts. Each element is written once and consumed once;
// consuming it leaves it zero.
struct HandOver {
  std::uint32_t* ticket;
  std::uint32_t*
      info_a;  // [picture][region][kEdge], from the region's last macroblock to its right neighbour
  std::uint32_t* info_b;  // [picture][mb][kEdge], from a macroblock to the one below
};

// TotalCoeff and the slice in one word that is never zero.
__device__ std::uint32_t pack_info(int slice, int total_coeff) {
  return static_cast<std::uint32_t>(slice << 16 | 64 | total_coeff);
}
// The count, or -1 if the neighbour lies in another slice.
__device__ int count_in_slice(std::uint32_t info, int slice) {
  return static_cast<int>(info >> 16) == slice ? static_cast<int>(info & 31) : -1;
}

using Element = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>;

__device__ void hand_over(std::uint32_t& element, std::uint32_t info) {
  Element(element).store(info, cuda::memory_order_relaxed);
}
// The element holds all the information, so that no other access needs to be ordered.
__device__ std::uint32_t consume(std::uint32_t& element) {
  std::uint32_t info;
  while ((info = Element(element).exchange(0, cuda::memory_order_relaxed)) == 0) __nanosleep(20);
  return info;
}

// The position of a slot's block along the right or bottom edge of its macroblock, or -1 if it is not at
// that edge.
__device__ int edge_position(int slot, bool right) {
  if (slot < core::kSlotLuma || slot >= core::kBlocksPerMacroblock) return -1;
  if (slot < core::kSlotChromaDc) {
    const int x = core::luma_block_x(slot - core::kSlotLuma), y = core::luma_block_y(slot - core::kSlotLuma);
    return right ? (x == 3 ? y : -1) : (y == 3 ? x : -1);
  }
  if (slot < core::kSlotChromaAc) return -1;
  const int component = (slot - core::kSlotChromaAc) >> 2, x = (slot - core::kSlotChromaAc) & 1;
  const int y = ((slot - core::kSlotChromaAc) >> 1) & 1;
  return right ? (x == 1 ? 4 + 2 * component + y : -1) : (y == 1 ? 4 + 2 * component + x : -1);
}

// The facts that a lane must know of its slot, packed into a word. They are the same for all macroblocks.
struct SlotFacts {
  std::uint32_t packed = 0;

  __device__ static SlotFacts of(int slot) {
    const bool has_neighbours = slot >= core::kSlotLuma && slot < core::kBlocksPerMacroblock &&
                                (slot < core::kSlotChromaDc || slot >= core::kSlotChromaAc);
    const core::SlotNeighbours n = core::slot_neighbours(has_neighbours ? slot : core::kSlotLuma);
    const int a = n.a_outside ? edge_position(n.slot_a, true) : 0;
    const int b = n.b_outside ? edge_position(n.slot_b, false) : 0;
    return {static_cast<std::uint32_t>(n.slot_a | n.slot_b << 5 | (has_neighbours && n.a_outside) << 10 |
                                       (has_neighbours && n.b_outside) << 11 |
                                       (edge_position(slot, true) + 1) << 12 |
                                       (edge_position(slot, false) + 1) << 16 | a << 20 | b << 24)};
  }
  __device__ int field(int first, int bits) const {
    return static_cast<int>((packed >> first) & ((1u << bits) - 1));
  }
  __device__ int slot_a() const { return field(0, 5); }
  __device__ int slot_b() const { return field(5, 5); }
  __device__ bool a_outside() const { return field(10, 1) != 0; }
  __device__ bool b_outside() const { return field(11, 1) != 0; }
  __device__ int right() const { return field(12, 4) - 1; }  // -1: the block is not at that edge
  __device__ int bottom() const { return field(16, 4) - 1; }
  __device__ int edge_a() const { return field(20, 4); }  // the neighbour's position along its edge
  __device__ int edge_b() const { return field(24, 4); }
};

__global__ void __launch_bounds__(kThreads)
    cavlcu_tuned(const __grid_constant__ BatchView batch, const __grid_constant__ HandOver hand,
                 const std::uint32_t* zeros_and_runs, const __grid_constant__ BlockCodes codes) {
  __shared__ std::uint32_t s_info_a[kRegion][kEdge];
  __shared__ std::uint32_t s_region;
  __shared__ __align__(32) std::uint8_t s_levels[kRegion * StagedLevels::kWarpBytes];
  __shared__ std::uint32_t s_facts[32];
  __shared__ __align__(LevelCodes::kAlignment) LevelCodes s_level_codes;
  s_level_codes.fill<kThreads>();
  if (threadIdx.x >= kThreads - 32) s_facts[threadIdx.x & 31] = SlotFacts::of(threadIdx.x & 31).packed;
  if (threadIdx.x == 0) {
    s_region = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(*hand.ticket)
                   .fetch_add(1, cuda::memory_order_relaxed);
  }
  __syncthreads();
  const int mbs = batch.macroblocks_per_picture(), regions = (mbs + kRegion - 1) / kRegion;
  const int picture = static_cast<int>(s_region) / regions, region = static_cast<int>(s_region) % regions;
  const int z = static_cast<int>(threadIdx.x) >> 5, slot = static_cast<int>(threadIdx.x) & 31;
  const int mb_index = region * kRegion + z;
  const bool exists = mb_index < mbs;  // the same for all lanes of a warp
  const int mb_x = mb_index % batch.mb_width, mb_y = mb_index / batch.mb_width;
  const int mb_slice = batch.slices == 1 ? 0 : core::slice_of_row(mb_y, batch.slices, batch.mb_height);
  const std::size_t index = static_cast<std::size_t>(picture) * mbs + mb_index;
  const MacroblockRecord* const mb = batch.macroblocks + index;
  const std::int16_t* const d_levels =
      batch.levels + index * core::kLevelsPerMacroblock + slot * core::kLevelsPerBlock;
  const std::uint32_t coded_slots = exists ? core::coded_slots(*mb) : 0;
  const bool coded = ((coded_slots >> slot) & 1) != 0;
  const int max_num_coeff = coded ? core::slot_max_num_coeff(*mb, slot) : 0;
  const StagedLevels levels(StagedLevels::address(s_levels + z * StagedLevels::kWarpBytes, slot));
  const std::uint32_t pair = pair_of_ones();
  const SharedAddress level_codes = s_level_codes.address();
  LevelSigns signs{};
  if (coded && ((mb->nonzero_blocks >> slot) & 1) != 0) {
    const BlockLevels loaded = load_levels(reinterpret_cast<const BlockLevels*>(d_levels));
    levels.store(loaded);
    signs = level_signs(loaded, pair);
  }
  const bool pcm = exists && mb->kind == MacroblockKind::pcm;
  const int total_coeff = pcm ? 16 : __popc(signs.nonzero);  // 9.2.1

  const std::uint32_t info = pack_info(mb_slice, total_coeff);
  std::uint32_t* const d_info_b = hand.info_b + index * kEdge;
  std::uint32_t* const d_info_a =
      hand.info_a + (static_cast<std::size_t>(picture) * regions + region) * kEdge;
  const SlotFacts facts{s_facts[slot]};
  const int right = facts.right(), bottom = facts.bottom();
  if (exists && bottom >= 0 && mb_y + 1 < batch.mb_height) hand_over(d_info_b[bottom], info);
  if (exists && right >= 0) {
    s_info_a[z][right] = info;
    if (z == kRegion - 1 && mb_x + 1 < batch.mb_width) hand_over(d_info_a[right], info);
  }
  __syncthreads();

  // A neighbour in the same macroblock is read by shuffle, one outside from the right or bottom edge of its
  // macroblock.
  int nA = __shfl_sync(kAllLanes, total_coeff, facts.slot_a());
  int nB = __shfl_sync(kAllLanes, total_coeff, facts.slot_b());
  if (exists && facts.a_outside()) {
    nA = -1;
    const int edge = facts.edge_a();
    if (mb_x > 0)
      nA = count_in_slice(z > 0 ? s_info_a[z - 1][edge] : consume(d_info_a[edge - kEdge]), mb_slice);
  }
  if (exists && facts.b_outside()) {
    nB = -1;
    // The element is consumed even if it does not count, because the next launch must find zero.
    if (mb_y > 0) {
      const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(batch.mb_width) * kEdge;
      nB = count_in_slice(consume(d_info_b[facts.edge_b() - row]), mb_slice);
    }
  }
  int nC = core::nc_from_neighbours(nA, nB);
  const int first_luma_nc = __shfl_sync(kAllLanes, nC, core::kSlotLuma);
  if (slot == core::kSlotLumaDc) nC = first_luma_nc;
  if (slot == core::kSlotChromaDc || slot == core::kSlotChromaDc + 1) nC = core::kChromaDcNc;
  __syncwarp();

  if (!exists || slot >= core::kBlocksPerMacroblock) return;
  const std::size_t block = index * core::kBlocksPerMacroblock + slot;
  int length = 0;
  if (coded) {
    BlockSink sink{ArrayStore{codes.words + block * kBlockWords}};
    if (signs.nonzero != 0) {
      const auto tokens = [](int column, int total, int trailing_ones) -> Token {
        return {core::coeff_token_code(column, total, trailing_ones), first_row(total, trailing_ones)
                                                                          << kRowShift};
      };
      const auto most = [&] { return max_num_coeff; };
      const BlockTables<decltype(tokens)> tables{zeros_and_runs, level_codes, tokens};
      const BlockSymbols symbols = symbols_of(tables, signs, core::coeff_token_column(nC), most);
      put_token_and_levels(sink, tables, levels, symbols);
      sink.put_last(true_end(symbols, most));
    } else {
      const core::CodeWord token = core::coeff_token_code(core::coeff_token_column(nC), 0, 0);
      sink.queue.start(token.bits, token.length);
    }
    sink.make_room();
    sink.store(sink.words, left_aligned(sink.queue.low, sink.queue.count));
    length = 32 * sink.words + sink.queue.count;
  }
  codes.lengths[block] = static_cast<std::uint16_t>(length);
}

int regions_of(int mbs) {
  return (mbs + kRegion - 1) / kRegion;
}

}  // namespace

std::size_t cavlcu_tuned_scratch_bytes(int pictures, int mb_width, int mb_height) {
  const std::size_t mbs = static_cast<std::size_t>(mb_width) * mb_height;
  const std::size_t elements = pictures * (mbs + regions_of(mb_width * mb_height)) * kEdge;
  return Arena::kAlignment + aligned(elements * sizeof(std::uint32_t), Arena::kAlignment);
}

void launch_cavlcu_tuned(const BatchView& batch, const std::uint32_t* zeros_and_runs, void* scratch,
                         const BlockCodes& codes, cudaStream_t stream) {
  const int regions = batch.pictures * regions_of(batch.macroblocks_per_picture());
  HandOver hand;
  hand.ticket = static_cast<std::uint32_t*>(scratch);
  hand.info_a = hand.ticket + Arena::kAlignment / sizeof(std::uint32_t);
  hand.info_b = hand.info_a + static_cast<std::size_t>(regions) * kEdge;
  check_cuda(cudaMemsetAsync(hand.ticket, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  cavlcu_tuned<<<static_cast<unsigned>(regions), kThreads, 0, stream>>>(batch, hand, zeros_and_runs, codes);
  check_launch("cavlcu_tuned");
}

}  // namespace cu264::entropy
