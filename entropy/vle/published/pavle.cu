// Three passes. Every block encodes its block-input into a buffer in shared memory and copies that to a slot
// of its own (Balevic 3.1 to 3.3); a scan of the blocks' lengths; every slot moves to its place in the
// output.
//
// As published but for this: codes may have 32 bits, so that the buffer has room for that; thread-inputs are
// aligned wherever the input begins; symbols come in the order of memory; the output knows its end.
#include "entropy/vle/published/pavle.h"

#include <array>
#include <cub/device/device_scan.cuh>

#include "common/cuda/arena.h"
#include "entropy/vle/published/block_positions.cuh"
#include "entropy/vle/published/persistent.cuh"
#include "entropy/vle/published/shared_tables.cuh"
#include "entropy/vle/published/word_builder.cuh"

namespace cu264::vle {
namespace {

// Words of a slot for a thread: 4 codes of 32 bits for every word of input.
template <int kDpt>
constexpr int kThreadWords = 4 * kDpt;

struct Passes {
  EncodeResult* d_result;
  std::uint64_t* d_lengths;    // of the blocks' codes
  std::uint64_t* d_positions;  // what the scan makes of them
  std::uint32_t* d_slots;      // kThreadWords for every thread
};

// The blocks' own scan is a pass of its own.
struct NoScan {
  __device__ std::uint64_t operator()(std::uint32_t, std::uint64_t) const { return 0; }
};

// A thread-code with one aggregate codeword for each word of input (section 4, DPT), kept or made again.
template <int kDpt, bool kCachedCodes>
struct AggregateCodes {
  std::uint32_t word[kCachedCodes ? kThreadWords<kDpt> : 1];
};

template <int kDpt, bool kCachedTable, bool kCachedCodes>
__global__ void encode_blocks(const ThreadInputs<4 * kDpt> inputs, const DeviceTable d_table,
                              const Passes passes) {
  extern __shared__ std::uint32_t s_words[];
  __shared__ WordTable s_table;
  __shared__ BlockPositionsScratch s_positions;
  const int slot_words = static_cast<int>(blockDim.x) * kThreadWords<kDpt>;
  for (int i = static_cast<int>(threadIdx.x); i < slot_words; i += static_cast<int>(blockDim.x))
    s_words[i] = 0;
  if (kCachedTable) s_table.load(d_table);
  __syncthreads();
  const auto encode = [&](const auto& table) {
    const std::uint64_t thread_input = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    AggregateCodes<kDpt, kCachedCodes> codes;
    std::uint32_t length = 0, seen = 0;
    int kept = 0;
    const auto keep = [&](std::uint32_t word) { codes.word[kept++] = word; };
    WordBuilder builder(0);
    for_each_symbol(inputs, thread_input, [&](std::uint32_t symbol) {
      const uint2 codeword = table[symbol];
      seen |= codeword.y;
      if ((codeword.y & kNoCode) != 0) return;
      length += codeword.y;
      if (kCachedCodes) builder.append(codeword.x, codeword.y, keep);
    });
    if (kCachedCodes && builder.has_rest()) keep(builder.rest());
    if ((seen & kNoCode) != 0) report_missing(passes), length = 0;

    NoScan no_scan;
    const BlockPositions at = block_positions(length, 0, no_scan, s_positions);
    const std::uint32_t position = static_cast<std::uint32_t>(at.warp) + at.in_warp;
    // 3.3. An atomic OR for every word: testing which words are shared cost more (section 4).
    std::uint32_t* s_word = s_words + position / 32;
    if (length > 0 && kCachedCodes) {
      std::uint32_t before = 0;
      for (std::uint32_t i = 0; i < (length + 31) / 32; ++i) {
        atomicOr(s_word++, __funnelshift_r(codes.word[i], before, position % 32));
        before = codes.word[i];
      }
      const std::uint32_t rest = __funnelshift_r(0, before, position % 32);
      if (rest != 0) atomicOr(s_word, rest);
    } else if (length > 0) {
      const auto put = [&](std::uint32_t word) { atomicOr(s_word++, word); };
      WordBuilder placed(position % 32);
      for_each_symbol(inputs, thread_input, [&](std::uint32_t symbol) {
        const uint2 codeword = table[symbol];
        placed.append(codeword.x, codeword.y, put);
      });
      if (placed.has_rest()) put(placed.rest());
    }
    if (threadIdx.x == 0) passes.d_lengths[blockIdx.x] = at.block_end;
    return static_cast<std::uint32_t>(at.block_end);
  };
  const std::uint32_t block_length = kCachedTable ? encode(s_table) : encode(GlobalTable{d_table});
  __syncthreads();
  std::uint32_t* const d_slot = passes.d_slots + static_cast<std::uint64_t>(blockIdx.x) * slot_words;
  for (std::uint32_t i = threadIdx.x; i < (block_length + 31) / 32; i += blockDim.x) d_slot[i] = s_words[i];
}

// Shifts a slot to its place; the words at its ends are shared with its neighbours.
__global__ void compact(const Passes passes, int slot_words, OutputWords output) {
  const std::uint64_t length = passes.d_lengths[blockIdx.x], position = passes.d_positions[blockIdx.x];
  if (threadIdx.x == 0 && blockIdx.x + 1 == gridDim.x) passes.d_result->bits = position + length;
  if (length == 0) return;
  const std::uint32_t* const d_slot = passes.d_slots + static_cast<std::uint64_t>(blockIdx.x) * slot_words;
  const auto shift = static_cast<std::uint32_t>(position % 32);
  const auto words = static_cast<std::uint32_t>((length + 31) / 32);
  const auto last = static_cast<std::uint32_t>((shift + length - 1) / 32);
  for (std::uint32_t i = threadIdx.x; i <= last; i += blockDim.x) {
    const std::uint32_t word = __funnelshift_r(i < words ? d_slot[i] : 0, i > 0 ? d_slot[i - 1] : 0, shift);
    if (i == 0 || i == last)
      output.merge(position / 32 + i, word);
    else
      output.store(position / 32 + i, word);
  }
}

std::size_t scan_bytes(std::uint64_t blocks) {
  std::size_t bytes = 0;
  check_cuda(
      cub::DeviceScan::ExclusiveSum(nullptr, bytes, static_cast<const std::uint64_t*>(nullptr),
                                    static_cast<std::uint64_t*>(nullptr), static_cast<std::int64_t>(blocks)),
      "sizing a scan");
  return bytes;
}

// The most blocks that an input of this size can need.
template <int kDpt>
std::uint64_t most_blocks(std::size_t size, int threads) {
  return ThreadInputs<4 * kDpt>::most(size) / threads + 1;
}

template <int kDpt>
std::size_t scratch_bytes(std::size_t size, int threads) {
  const std::uint64_t blocks = most_blocks<kDpt>(size, threads);
  return 2 * aligned(blocks * sizeof(std::uint64_t), Arena::kAlignment) +
         aligned(blocks * threads * kThreadWords<kDpt> * 4, Arena::kAlignment) + scan_bytes(blocks);
}

void prepare(const EncodeCall& call, int) {
  zero(call.d_result, sizeof(EncodeResult), call);
  zero(call.d_output, output_bound(call, kLongCode), call);
}

template <int kDpt, bool kCachedTable, bool kCachedCodes>
void run(const EncodeCall& call, int threads) {
  const ThreadInputs<4 * kDpt> inputs(call.d_input, call.size);
  if (inputs.count() == 0) return;
  const auto blocks = static_cast<unsigned>((inputs.count() + threads - 1) / threads);
  const std::uint64_t most = most_blocks<kDpt>(call.size, threads);
  auto* d_free = static_cast<std::byte*>(call.d_scratch);
  const auto take = [&](std::size_t bytes) {
    std::byte* const d_taken = d_free;
    d_free += aligned(bytes, Arena::kAlignment);
    return d_taken;
  };
  Passes passes{call.d_result, nullptr, nullptr, nullptr};
  passes.d_lengths = reinterpret_cast<std::uint64_t*>(take(most * sizeof(std::uint64_t)));
  passes.d_positions = reinterpret_cast<std::uint64_t*>(take(most * sizeof(std::uint64_t)));
  passes.d_slots = reinterpret_cast<std::uint32_t*>(take(most * threads * kThreadWords<kDpt> * 4));

  const int slot_words = threads * kThreadWords<kDpt>;
  const auto stream = static_cast<cudaStream_t>(call.stream);
  encode_blocks<kDpt, kCachedTable, kCachedCodes>
      <<<blocks, threads, slot_words * sizeof(std::uint32_t), stream>>>(inputs, DeviceTable(call.d_table),
                                                                        passes);
  check_launch("pavle");
  std::size_t bytes = scan_bytes(most);
  check_cuda(cub::DeviceScan::ExclusiveSum(d_free, bytes, passes.d_lengths, passes.d_positions,
                                           static_cast<std::int64_t>(blocks), stream),
             "scanning lengths");
  compact<<<blocks, threads, 0, stream>>>(passes, slot_words, OutputWords(call.d_output, call.capacity));
  check_launch("compaction");
}

template <int kDpt, bool kCachedTable, bool kCachedCodes>
constexpr PublishedEncoder pavle(const char* name) {
  return {name,
          kLongCode,
          256,
          kDpt == 8 ? 256 : 512,  // 32 KB of buffer
          scratch_bytes<kDpt>,
          prepare,
          run<kDpt, kCachedTable, kCachedCodes>};
}

}  // namespace

const PublishedEncoder kPavle = pavle<4, true, true>("pavle");

std::span<const PublishedEncoder> pavle_variants() {
  static const std::array variants{
      pavle<1, false, false>("pavle_dpt1"),      pavle<2, false, false>("pavle_dpt2"),
      pavle<4, false, false>("pavle_dpt4"),      pavle<8, false, false>("pavle_dpt8"),
      pavle<1, true, false>("pavle_dpt1_table"), pavle<2, true, false>("pavle_dpt2_table"),
      pavle<4, true, false>("pavle_dpt4_table"), pavle<8, true, false>("pavle_dpt8_table"),
      pavle<1, true, true>("pavle_dpt1_codes"),  pavle<2, true, true>("pavle_dpt2_codes"),
      pavle<4, true, true>("pavle_dpt4_codes"),  pavle<8, true, true>("pavle_dpt8_codes")};
  return variants;
}

}  // namespace cu264::vle
