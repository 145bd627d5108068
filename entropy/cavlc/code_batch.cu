// A thread block codes kGroup consecutive macroblocks of a picture in three steps:
//   survey  a warp a macroblock, lane = slot: nC of each block; empty blocks are coded, the others listed
//   code    a thread a listed block; those with few levels come from the list's front and those with many
//   from
//           its back, so that the lanes of a warp finish together
//   join    a warp a macroblock: header, scan of the lengths, everything shifted into the macroblock's row
#include "core/cavlc_block.h"
#include "core/mb_syntax.h"
#include "core/slot_neighbours.h"
#include "entropy/cavlc/block_levels.cuh"
#include "entropy/cavlc/code_batch.h"
#include "entropy/cavlc/source_samples.cuh"
#include "entropy/cavlc/word_sink.cuh"
#include "entropy/launch_check.cuh"

namespace cu264::entropy {
namespace {

using core::BatchView;
using core::MacroblockKind;
using core::MacroblockRecord;

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kGroup = 16;
constexpr int kSlots = kGroup * core::kBlocksPerMacroblock;
constexpr int kFewLevels = 4;
// 16 levels of 28 bits, coeff_token's 16: no block exceeds 464 bits.
constexpr int kWordsPerBlock = 15;
constexpr unsigned kAllLanes = 0xffffffffu;

// Where a macroblock lies and which neighbours its slice has.
struct Place {
  std::int16_t x, y;
  bool left, above;
};

struct Shared {
  std::uint32_t words[kWordsPerBlock][kSlots];  // each block's code, left-aligned
  std::uint32_t rows[kWarps][kRowWords + 1];    // zero between uses
  std::uint16_t lengths[kSlots];
  std::uint16_t list[kSlots];  // macroblock << 10 | slot << 5 | nC + 1
  Place places[kGroup];
  int few, many;  // blocks listed from the front and from the back
};

__device__ int lane_id() {
  return static_cast<int>(threadIdx.x) & 31;
}
__device__ int warp_id() {
  return static_cast<int>(threadIdx.x) >> 5;
}

// ORs `length` (1..32) bits, left-aligned in `bits`, into a row that holds zeros there.
__device__ void or_bits(std::uint32_t* s_row, int position, std::uint32_t bits) {
  const int word = position >> 5, shift = position & 31;
  const std::uint32_t high = bits >> shift, low = __funnelshift_r(0, bits, shift);
  if (high != 0) atomicOr(s_row + word, high);
  if (low != 0) atomicOr(s_row + word + 1, low);
}

__device__ void or_bits(std::uint32_t* s_row, int position, const RegisterSink& sink) {
  if (sink.length > 0) or_bits(s_row, position, sink.value << (32 - sink.length));
}

class GroupCoder {
 public:
  __device__ GroupCoder(const BatchView& batch, const CodedBits& bits, Shared& s)
      : batch_(batch),
        bits_(bits),
        s_(s),
        count_(batch.macroblocks_per_picture()),
        first_(static_cast<int>(blockIdx.x) * kGroup),
        picture_(static_cast<int>(blockIdx.y)) {}

  __device__ void run() {
    if (threadIdx.x < kGroup) s_.places[threadIdx.x] = place(first_ + static_cast<int>(threadIdx.x));
    for (int i = static_cast<int>(threadIdx.x); i < kWarps * (kRowWords + 1); i += kThreads)
      s_.rows[0][i] = 0;
    if (threadIdx.x == 0) s_.few = s_.many = 0;
    __syncthreads();
    const core::SlotNeighbours neighbours = core::slot_neighbours(lane_id());
    for (int m = warp_id(); m < kGroup && first_ + m < count_; m += kWarps) survey(m, neighbours);
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < s_.few + s_.many; i += kThreads) {
      code(i < s_.many ? s_.list[kSlots - 1 - i] : s_.list[i - s_.many]);
    }
    __syncthreads();
    for (int m = warp_id(); m < kGroup && first_ + m < count_; m += kWarps) join(m);
  }

 private:
  __device__ std::size_t index(int m) const {
    return static_cast<std::size_t>(picture_) * count_ + first_ + m;
  }

  __device__ Place place(int mb) const {
    const int x = mb % batch_.mb_width, y = mb / batch_.mb_width;
    const bool above = y > 0 && core::slice_of_row(y, batch_.slices, batch_.mb_height) ==
                                    core::slice_of_row(y - 1, batch_.slices, batch_.mb_height);
    return {static_cast<std::int16_t>(x), static_cast<std::int16_t>(y), x > 0, above};
  }

  __device__ void survey(int m, const core::SlotNeighbours& neighbours) {
    const MacroblockRecord& mb = batch_.macroblocks[index(m)];
    const std::uint8_t* const here = batch_.total_coeff + index(m) * core::kTotalCoeffStride;
    const int lane = lane_id(), slot = m * core::kBlocksPerMacroblock + lane;
    const bool coded = lane < core::kBlocksPerMacroblock && core::slot_is_coded(mb, lane);
    const bool nonzero = coded && ((mb.nonzero_blocks >> lane) & 1) != 0;
    int nC = 0;
    if (coded) {
      const std::uint8_t* const left = s_.places[m].left ? here - core::kTotalCoeffStride : nullptr;
      const std::uint8_t* const above =
          s_.places[m].above ? here - core::kTotalCoeffStride * batch_.mb_width : nullptr;
      nC = core::slot_nc(lane, neighbours, here, left, above);
    }
    if (lane < core::kBlocksPerMacroblock && !nonzero) {
      RegisterSink token;
      if (coded) core::put_code(token, core::coeff_token_code(core::coeff_token_column(nC), 0, 0));
      s_.words[0][slot] = coded ? token.value << (32 - token.length) : 0;
      s_.lengths[slot] = static_cast<std::uint16_t>(token.length);
    }
    const bool many = nonzero && here[lane] > kFewLevels;
    const unsigned few_lanes = __ballot_sync(kAllLanes, nonzero && !many);
    const unsigned many_lanes = __ballot_sync(kAllLanes, many);
    int few_before = 0, many_before = 0;
    if (lane == 0) {
      few_before = atomicAdd(&s_.few, __popc(few_lanes));
      many_before = atomicAdd(&s_.many, __popc(many_lanes));
    }
    few_before = __shfl_sync(kAllLanes, few_before, 0);
    many_before = __shfl_sync(kAllLanes, many_before, 0);
    if (!nonzero) return;
    const unsigned lower = (1u << lane) - 1;
    const int at =
        many ? kSlots - 1 - many_before - __popc(many_lanes & lower) : few_before + __popc(few_lanes & lower);
    s_.list[at] = static_cast<std::uint16_t>((m << 10) | (lane << 5) | (nC + 1));
  }

  __device__ void code(int entry) {
    const int m = entry >> 10, slot = (entry >> 5) & 31, nC = (entry & 31) - 1;
    const std::int16_t* const d_levels =
        batch_.levels + index(m) * core::kLevelsPerMacroblock + slot * core::kLevelsPerBlock;
    const int max_num_coeff = core::slot_max_num_coeff(batch_.macroblocks[index(m)], slot);
    const core::CavlcSymbols symbols = load_symbols(d_levels, max_num_coeff);
    const int at = m * core::kBlocksPerMacroblock + slot;
    WordSink<kSlots> sink(&s_.words[0][at]);
    core::put_block(sink, d_levels, symbols, max_num_coeff, nC);
    s_.lengths[at] = static_cast<std::uint16_t>(sink.finish());
  }

  __device__ void join(int m) {
    const MacroblockRecord& mb = batch_.macroblocks[index(m)];
    std::uint32_t* const d_row = bits_.rows + index(m) * kRowWords;
    const int lane = lane_id();
    const std::uint32_t kind = static_cast<std::uint32_t>(mb.kind) << 30;
    RegisterSink type;
    core::put_ue(type, static_cast<std::uint32_t>(core::mb_type(mb)));
    if (mb.kind == MacroblockKind::pcm) {
      for (int word = lane; word < kPcmSampleBits / 32; word += 32) d_row[word] = pcm_word(m, word);
      if (lane == 0) bits_.lengths[index(m)] = kind | type.length << 16 | type.length;
      return;
    }
    RegisterSink mode, end;
    if (mb.kind == MacroblockKind::intra4x4 && lane < 16) {
      const MacroblockRecord* const left = s_.places[m].left ? &mb - 1 : nullptr;
      const MacroblockRecord* const above = s_.places[m].above ? &mb - batch_.mb_width : nullptr;
      core::put_intra4x4_mode(mode, mb.intra4x4_pred_mode[lane],
                              core::predicted_intra4x4_mode(mb, left, above, lane));
    }
    core::put_macroblock_header_end(end, mb);

    // One scan serves the lengths of the modes (high half) and of the blocks.
    const int slot = m * core::kBlocksPerMacroblock + lane;
    const int length = lane < core::kBlocksPerMacroblock ? s_.lengths[slot] : 0;
    const std::uint32_t own = static_cast<std::uint32_t>(mode.length << 16 | length);
    std::uint32_t before = own;
    for (int step = 1; step < 32; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(kAllLanes, before, step);
      if (lane >= step) before += other;
    }
    const std::uint32_t all = __shfl_sync(kAllLanes, before, 31);
    before -= own;
    const int end_position = type.length + static_cast<int>(all >> 16);
    const int header_bits = end_position + end.length;
    const int total_bits = header_bits + static_cast<int>(all & 0xffff);
    if (total_bits > 32 * kRowWords) {
      if (lane == 0) bits_.lengths[index(m)] = kind | kTooManyBits;
      return;
    }

    std::uint32_t* const s_row = s_.rows[warp_id()];
    if (lane == 0) or_bits(s_row, 0, type);
    if (lane == 1) or_bits(s_row, end_position, end);
    or_bits(s_row, type.length + static_cast<int>(before >> 16), mode);
    const int position = header_bits + static_cast<int>(before & 0xffff);
    for (int bit = 0; bit < length; bit += 32) or_bits(s_row, position + bit, s_.words[bit / 32][slot]);
    __syncwarp();
    for (int word = lane; 32 * word < total_bits; word += 32) {
      d_row[word] = s_row[word];
      s_row[word] = 0;
    }
    __syncwarp();
    if (lane == 0) bits_.lengths[index(m)] = kind | header_bits << 16 | total_bits;
  }

  __device__ std::uint32_t pcm_word(int m, int word) const {
    std::uint32_t samples = 0;
    for (int i = 4 * word; i < 4 * word + 4; ++i) {
      samples =
          (samples << 8) | pcm_sample(batch_, batch_.sources[picture_], s_.places[m].x, s_.places[m].y, i);
    }
    return samples;
  }

  const BatchView& batch_;
  const CodedBits& bits_;
  Shared& s_;
  const int count_;  // macroblocks in a picture
  const int first_;
  const int picture_;
};

__global__ void __launch_bounds__(kThreads, 6)
    code_macroblocks(const __grid_constant__ BatchView batch, const __grid_constant__ CodedBits bits) {
  __shared__ Shared s_shared;
  GroupCoder(batch, bits, s_shared).run();
}

}  // namespace

void launch_code(const BatchView& batch, const CodedBits& bits, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((batch.macroblocks_per_picture() + kGroup - 1) / kGroup),
                  static_cast<unsigned>(batch.pictures));
  code_macroblocks<<<grid, kThreads, 0, stream>>>(batch, bits);
  check_launch("code_macroblocks");
}

}  // namespace cu264::entropy
