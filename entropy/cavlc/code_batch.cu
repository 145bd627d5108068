// A thread block codes kGroup consecutive macroblocks of a picture in three steps:
//   survey  a warp a macroblock, lane = slot: nC of each block; empty blocks are coded, the others listed.
//           Meanwhile the last warp writes the headers, a thread a macroblock
//   code    a thread a listed block; those with few levels come from the list's front and those with many
//   from
//           its back, so that the lanes of a warp finish together
//   join    a warp a macroblock: scan of the lengths, header and blocks shifted into the macroblock's row
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
constexpr int kSurveyWarps = kWarps - 1;
constexpr int kThreads = 32 * kWarps;
constexpr int kGroup = 16;
// What is joined to a macroblock: its header, then its blocks by slot.
constexpr int kItems = 1 + core::kBlocksPerMacroblock;
constexpr int kGroupItems = kGroup * kItems;
constexpr int kFewLevels = 4;
// coeff_token's 16 bits and 16 levels of 28: no block exceeds 464 bits.
constexpr int kMoreWords = 14;  // of an item, behind its first
constexpr int kNcValues = 18;   // -1 .. 16
constexpr unsigned kAllLanes = 0xffffffffu;
// As many as shared memory allows; Turing has threads for eight.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kBlocksPerSm = 8;
#else
constexpr int kBlocksPerSm = 12;
#endif

// What the steps must know of a macroblock.
struct alignas(16) Brief {
  std::uint32_t coded;    // by slot: in the bitstream
  std::uint32_t nonzero;  // by slot: and not empty
  MacroblockKind kind;
  bool left, above;  // available
  std::int16_t x, y;
};

// An item's bits are left-aligned in its first word and, where one is not enough, in others that lie together
// in `more`. Macroblocks within their limit leave room for all of them; where one is not, the picture is lost
// and it does not matter whose words are.
struct Shared {
  union {
    std::uint32_t staged[kMoreWords][kThreads];  // until an item's length is known
    std::uint32_t rows[kWarps][kRowWords + 1];   // zero between uses
  };
  std::uint32_t first[kGroupItems];
  std::uint32_t more[kGroup * kRowWords];
  std::uint32_t more_used;
  Brief briefs[kGroup];
  std::uint16_t more_at[kGroupItems];
  std::uint16_t lengths[kGroupItems];
  std::uint16_t list[kGroupItems];  // intra16x16 << 14 | macroblock << 10 | slot << 5 | nC + 1
  std::uint32_t empty_token[kNcValues];
  std::uint8_t empty_length[kNcValues];
  std::uint32_t listed;  // blocks from the front, and << 16 from the back
};

__device__ int thread_id() {
  return static_cast<int>(threadIdx.x);
}
__device__ int lane_id() {
  return thread_id() & 31;
}
__device__ int warp_id() {
  return thread_id() >> 5;
}

// ORs a left-aligned word of bits into a row that holds zeros there.
__device__ void or_bits(std::uint32_t* s_row, int position, std::uint32_t bits) {
  const int word = position >> 5, shift = position & 31;
  const std::uint32_t high = bits >> shift, low = __funnelshift_r(0, bits, shift);
  if (high != 0) atomicOr(s_row + word, high);
  if (low != 0) atomicOr(s_row + word + 1, low);
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
    prepare();
    __syncthreads();
    if (warp_id() < kSurveyWarps) {
      survey();
    } else if (lane_id() < kGroup && exists(lane_id())) {
      put_header(lane_id());
    }
    __syncthreads();
    const int few = static_cast<int>(s_.listed & 0xffff), many = static_cast<int>(s_.listed >> 16);
    for (int i = thread_id(); i < few + many; i += kThreads) {
      code(i < many ? s_.list[kGroupItems - 1 - i] : s_.list[i - many]);
    }
    __syncthreads();
    for (int word = lane_id(); word <= kRowWords; word += 32) s_.rows[warp_id()][word] = 0;
    __syncwarp();
    for (int m = warp_id(); m < kGroup && exists(m); m += kWarps) join(m);
  }

 private:
  __device__ bool exists(int m) const { return first_ + m < count_; }
  __device__ std::size_t index(int m) const {
    return static_cast<std::size_t>(picture_) * count_ + first_ + m;
  }

  __device__ void prepare() {
    const int thread = thread_id();
    if (thread < kGroup && exists(thread)) s_.briefs[thread] = brief(thread);
    if (thread == 0) s_.listed = s_.more_used = 0;
    const int entry = thread - 32;
    if (entry >= 0 && entry < kNcValues) {
      const core::CodeWord token = core::coeff_token_code(core::coeff_token_column(entry - 1), 0, 0);
      s_.empty_token[entry] = left_aligned(token.bits, token.length);
      s_.empty_length[entry] = token.length;
    }
  }

  __device__ Brief brief(int m) const {
    const MacroblockRecord& mb = batch_.macroblocks[index(m)];
    const int x = (first_ + m) % batch_.mb_width, y = (first_ + m) / batch_.mb_width;
    Brief b;
    b.coded = core::coded_slots(mb);
    b.nonzero = b.coded & mb.nonzero_blocks;
    b.kind = mb.kind;
    b.left = x > 0;
    b.above = y > 0 && core::slice_of_row(y, batch_.slices, batch_.mb_height) ==
                           core::slice_of_row(y - 1, batch_.slices, batch_.mb_height);
    b.x = static_cast<std::int16_t>(x), b.y = static_cast<std::int16_t>(y);
    return b;
  }

  __device__ void put_header(int m) {
    const MacroblockRecord* const mb = batch_.macroblocks + index(m);
    const Brief& b = s_.briefs[m];
    put_item(m * kItems, [&](auto& sink) {
      core::put_macroblock_header(sink, *mb, b.left ? mb - 1 : nullptr,
                                  b.above ? mb - batch_.mb_width : nullptr);
    });
  }

  __device__ void survey() {
    const int lane = lane_id();
    const bool chroma_dc = lane >= core::kSlotChromaDc && lane < core::kSlotChromaAc;
    const core::SlotNeighbours n = core::slot_neighbours(lane);
    const std::ptrdiff_t a = n.slot_a - (n.a_outside ? core::kTotalCoeffStride : 0);
    const std::ptrdiff_t b = n.slot_b - (n.b_outside ? core::kTotalCoeffStride * batch_.mb_width : 0);
    for (int m = warp_id(); m < kGroup && exists(m); m += kSurveyWarps) {
      const Brief brief = s_.briefs[m];
      const bool coded = ((brief.coded >> lane) & 1) != 0, nonzero = ((brief.nonzero >> lane) & 1) != 0;
      const std::uint8_t* const here = batch_.total_coeff + index(m) * core::kTotalCoeffStride;
      int nC = core::kChromaDcNc;
      if (coded && !chroma_dc) {
        nC = core::nc_from_neighbours(brief.left || !n.a_outside ? here[a] : -1,
                                      brief.above || !n.b_outside ? here[b] : -1);
      }
      const int item = m * kItems + 1 + lane;
      if (coded && !nonzero) s_.first[item] = s_.empty_token[nC + 1];
      if (lane < core::kBlocksPerMacroblock && !nonzero) {
        s_.lengths[item] = coded ? s_.empty_length[nC + 1] : 0;
      }
      list(m, brief, nonzero, nonzero && here[lane] > kFewLevels, nC);
    }
  }

  // All lanes of a warp together: notes the blocks of macroblock m that are not empty.
  __device__ void list(int m, const Brief& brief, bool nonzero, bool many, int nC) {
    const int lane = lane_id();
    const unsigned many_lanes = __ballot_sync(kAllLanes, many), few_lanes = brief.nonzero & ~many_lanes;
    std::uint32_t before = 0;
    if (lane == 0) before = atomicAdd(&s_.listed, __popc(many_lanes) << 16 | __popc(few_lanes));
    before = __shfl_sync(kAllLanes, before, 0);
    if (!nonzero) return;
    const unsigned lower = (1u << lane) - 1;
    const int at = many ? kGroupItems - 1 - static_cast<int>(before >> 16) - __popc(many_lanes & lower)
                        : static_cast<int>(before & 0xffff) + __popc(few_lanes & lower);
    const int intra16x16 = brief.kind == MacroblockKind::intra16x16;
    s_.list[at] = static_cast<std::uint16_t>(intra16x16 << 14 | m << 10 | lane << 5 | (nC + 1));
  }

  __device__ void code(int entry) {
    const int m = (entry >> 10) & 15, slot = (entry >> 5) & 31, nC = (entry & 31) - 1;
    const MacroblockKind kind = entry >> 14 ? MacroblockKind::intra16x16 : MacroblockKind::intra4x4;
    const std::int16_t* const d_levels =
        batch_.levels + index(m) * core::kLevelsPerMacroblock + slot * core::kLevelsPerBlock;
    const int max_num_coeff = core::slot_max_num_coeff(kind, slot);
    put_item(m * kItems + 1 + slot, [&](auto& sink) {
      core::put_block(sink, d_levels, load_symbols(d_levels, max_num_coeff), max_num_coeff, nC);
    });
  }

  // What `put` writes, at least one bit, becomes the item.
  template <class Put>
  __device__ __forceinline__ void put_item(int item, Put put) {
    std::uint32_t first = 0;
    std::uint32_t* const s_staged = &s_.staged[0][thread_id()];
    const auto store = [&](int index, std::uint32_t word) {
      if (index == 0) {
        first = word;
      } else {
        s_staged[(index - 1) * kThreads] = word;
      }
    };
    WordSink sink(store);
    put(sink);
    const int length = sink.finish();
    s_.first[item] = first;
    s_.lengths[item] = static_cast<std::uint16_t>(length);
    const std::uint32_t words = static_cast<std::uint32_t>(length - 1) / 32;
    if (words == 0) return;
    std::uint32_t at = atomicAdd(&s_.more_used, words);
    if (at + words > kGroup * kRowWords) at = 0;
    for (std::uint32_t i = 0; i < words; ++i) s_.more[at + i] = s_staged[i * kThreads];
    s_.more_at[item] = static_cast<std::uint16_t>(at);
  }

  __device__ void join(int m) {
    const int lane = lane_id(), item = m * kItems + lane;
    const int length = lane < kItems ? s_.lengths[item] : 0;
    int before = length;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(kAllLanes, before, step);
      if (lane >= step) before += other;
    }
    const int bits = __shfl_sync(kAllLanes, before, 31);
    before -= length;
    const MacroblockKind kind = s_.briefs[m].kind;
    const bool too_many = bits > 32 * kRowWords;
    if (lane == 0) {
      bits_.lengths[index(m)] =
          static_cast<std::uint32_t>(kind) << 30 | length << 16 | (too_many ? kTooManyBits : bits);
    }
    if (too_many) return;
    std::uint32_t* const d_row = bits_.rows + index(m) * kRowWords;
    if (kind == MacroblockKind::pcm) {
      for (int word = lane; word < kPcmSampleBits / 32; word += 32) d_row[word] = pcm_word(m, word);
      return;
    }
    std::uint32_t* const s_row = s_.rows[warp_id()];
    if (length > 0) or_bits(s_row, before, s_.first[item]);
    for (int bit = 32; bit < length; bit += 32) {
      or_bits(s_row, before + bit, s_.more[s_.more_at[item] + bit / 32 - 1]);
    }
    __syncwarp();
    for (int word = lane; 32 * word < bits; word += 32) {
      d_row[word] = s_row[word];
      s_row[word] = 0;
    }
    __syncwarp();
  }

  __device__ std::uint32_t pcm_word(int m, int word) const {
    std::uint32_t samples = 0;
    for (int i = 4 * word; i < 4 * word + 4; ++i) {
      samples =
          (samples << 8) | pcm_sample(batch_, batch_.sources[picture_], s_.briefs[m].x, s_.briefs[m].y, i);
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

__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
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
