// PAVLE has three passes. Every block encodes its block-input into a buffer in shared memory and copies that
// to a slot of its own (Balevic 3.1 to 3.3), or writes to the slot at once (gm32, qm32); the blocks' lengths
// are scanned; every slot is moved to its position in the output.
//
// docs/papers.md lists what differs from the published form. Codes may have 32 bits, for which the buffer has
// room. Thread-inputs are aligned wherever the input begins. Symbols come in the order of memory. The kernels
// never write beyond the end of the output.
#include "entropy/vle/published/published_encoders.h"

#include <array>
#include <cub/device/device_scan.cuh>

#include "common/cuda/arena.h"
#include "entropy/vle/published/block_positions.cuh"
#include "entropy/vle/published/persistent.cuh"
#include "entropy/vle/published/shared_tables.cuh"
#include "entropy/vle/published/word_builder.cuh"

namespace cu264::vle {
namespace {

// Words of a slot for each thread: 4 codes of 32 bits for every word of input.
template <int kDpt>
constexpr int kThreadWords = 4 * kDpt;

struct Passes {
  EncodeResult* d_result;
  std::uint64_t* d_lengths;    // lengths of the blocks' codes
  std::uint64_t* d_positions;  // the sums of the lengths before each block
  std::uint32_t* d_slots;      // kThreadWords for every thread
};

// Says where the threads of a block join their codes by atomic OR (section 4): in a buffer in shared memory
// (sm32, sm64huff), which is copied to the slot at the end, or in the slot itself, which is zeroed before
// (gm32, qm32).
enum class Buffer { shared, global };

// Stands for the inter-block scan, which is a pass of its own here.
struct NoScan {
  __device__ std::uint64_t operator()(std::uint32_t, std::uint64_t) const { return 0; }
};

// A thread-code with one aggregate codeword for each word of input (section 4, DPT), which is either kept or
// computed again.
template <int kDpt, bool kCachedCodes>
struct AggregateCodes {
  std::uint32_t word[kCachedCodes ? kThreadWords<kDpt> : 1];
};

template <int kDpt, bool kCachedTable, bool kCachedCodes, Buffer kBuffer>
__global__ void encode_blocks(const ThreadInputs<4 * kDpt> inputs, const DeviceTable d_table,
                              const Passes passes) {
  extern __shared__ std::uint32_t s_words[];
  __shared__ WordTable s_table;
  __shared__ BlockPositionsScratch s_positions;
  const int slot_words = static_cast<int>(blockDim.x) * kThreadWords<kDpt>;
  std::uint32_t* const d_slot = passes.d_slots + static_cast<std::uint64_t>(blockIdx.x) * slot_words;
  std::uint32_t* const words = kBuffer == Buffer::shared ? s_words : d_slot;
  if (kBuffer == Buffer::shared) {
    for (int i = static_cast<int>(threadIdx.x); i < slot_words; i += static_cast<int>(blockDim.x))
      s_words[i] = 0;
  }
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
    // Every word is written by an atomic OR (3.3): testing which words are shared was more expensive
    // (section 4).
    std::uint32_t* word_at = words + position / 32;
    if (length > 0 && kCachedCodes) {
      std::uint32_t before = 0;
      for (std::uint32_t i = 0; i < (length + 31) / 32; ++i) {
        atomicOr(word_at++, __funnelshift_r(codes.word[i], before, position % 32));
        before = codes.word[i];
      }
      const std::uint32_t rest = __funnelshift_r(0, before, position % 32);
      if (rest != 0) atomicOr(word_at, rest);
    } else if (length > 0) {
      const auto put = [&](std::uint32_t word) { atomicOr(word_at++, word); };
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
  if (kBuffer == Buffer::global) return;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < (block_length + 31) / 32; i += blockDim.x) d_slot[i] = s_words[i];
}

// Shifts a slot to its position. The words at its ends are shared with its neighbours.
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

// The most blocks that an input of this size can need, wherever it begins.
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

template <int kDpt>
Passes passes_of(const EncodeCall& call, int threads, void** d_scan_scratch) {
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
  *d_scan_scratch = d_free;
  return passes;
}

template <int kDpt, Buffer kBuffer>
void prepare(const EncodeCall& call, int threads) {
  zero(call.d_result, sizeof(EncodeResult), call);
  zero(call.d_output, output_bound(call, kLongCode), call);
  if (kBuffer == Buffer::shared || call.size == 0) return;
  void* d_scan_scratch;
  const Passes passes = passes_of<kDpt>(call, threads, &d_scan_scratch);
  zero(passes.d_slots, most_blocks<kDpt>(call.size, threads) * threads * kThreadWords<kDpt> * 4, call);
}

template <int kDpt, bool kCachedTable, bool kCachedCodes, Buffer kBuffer>
void run_encode(const EncodeCall& call, int threads) {
  const ThreadInputs<4 * kDpt> inputs(call.d_input, call.size);
  if (inputs.count() == 0) return;
  const auto blocks = static_cast<unsigned>((inputs.count() + threads - 1) / threads);
  void* d_scan_scratch;
  const Passes passes = passes_of<kDpt>(call, threads, &d_scan_scratch);
  const std::size_t buffer =
      kBuffer == Buffer::shared ? threads * kThreadWords<kDpt> * sizeof(std::uint32_t) : 0;
  encode_blocks<kDpt, kCachedTable, kCachedCodes, kBuffer>
      <<<blocks, threads, buffer, static_cast<cudaStream_t>(call.stream)>>>(inputs, DeviceTable(call.d_table),
                                                                            passes);
  check_launch("pavle");
}

template <int kDpt, bool kCachedTable, bool kCachedCodes, Buffer kBuffer>
void run(const EncodeCall& call, int threads) {
  const ThreadInputs<4 * kDpt> inputs(call.d_input, call.size);
  if (inputs.count() == 0) return;
  run_encode<kDpt, kCachedTable, kCachedCodes, kBuffer>(call, threads);
  const auto blocks = static_cast<unsigned>((inputs.count() + threads - 1) / threads);
  void* d_scan_scratch;
  const Passes passes = passes_of<kDpt>(call, threads, &d_scan_scratch);
  const auto stream = static_cast<cudaStream_t>(call.stream);
  std::size_t bytes = scan_bytes(most_blocks<kDpt>(call.size, threads));
  check_cuda(cub::DeviceScan::ExclusiveSum(d_scan_scratch, bytes, passes.d_lengths, passes.d_positions,
                                           static_cast<std::int64_t>(blocks), stream),
             "scanning lengths");
  compact<<<blocks, threads, 0, stream>>>(passes, threads * kThreadWords<kDpt>,
                                          OutputWords(call.d_output, call.capacity));
  check_launch("compaction");
}

// The buffer in shared memory has at most 32 KB.
constexpr int most_threads(int dpt, Buffer buffer) {
  return buffer == Buffer::shared && dpt == 8 ? 256 : 512;
}

template <int kDpt, bool kCachedTable, bool kCachedCodes, Buffer kBuffer = Buffer::shared>
constexpr PublishedEncoder pavle(const char* name) {
  return {name,
          kLongCode,
          256,
          most_threads(kDpt, kBuffer),
          scratch_bytes<kDpt>,
          prepare<kDpt, kBuffer>,
          run<kDpt, kCachedTable, kCachedCodes, kBuffer>};
}

// The first pass alone.
template <int kDpt, bool kCachedTable, bool kCachedCodes, Buffer kBuffer = Buffer::shared>
constexpr PublishedEncoder pavle_kernel(const char* name) {
  PublishedEncoder encoder = pavle<kDpt, kCachedTable, kCachedCodes, kBuffer>(name);
  encoder.run = run_encode<kDpt, kCachedTable, kCachedCodes, kBuffer>;
  return encoder;
}

}  // namespace

const PublishedEncoder kPavle = pavle<4, true, true>("pavle");

std::span<const PublishedEncoder> pavle_variants() {
  static const std::array variants{pavle<1, false, false>("pavle_dpt1"),
                                   pavle<2, false, false>("pavle_dpt2"),
                                   pavle<4, false, false>("pavle_dpt4"),
                                   pavle<8, false, false>("pavle_dpt8"),
                                   pavle<1, true, false>("pavle_dpt1_table"),
                                   pavle<2, true, false>("pavle_dpt2_table"),
                                   pavle<4, true, false>("pavle_dpt4_table"),
                                   pavle<8, true, false>("pavle_dpt8_table"),
                                   pavle<1, true, true>("pavle_dpt1_codes"),
                                   pavle<2, true, true>("pavle_dpt2_codes"),
                                   pavle<4, true, true>("pavle_dpt4_codes"),
                                   pavle<8, true, true>("pavle_dpt8_codes"),
                                   pavle<1, false, true>("pavle_sm"),
                                   pavle<1, false, true, Buffer::global>("pavle_gm"),
                                   pavle<1, true, true, Buffer::global>("pavle_gm_table")};
  return variants;
}

std::span<const PublishedEncoder> pavle_kernels() {
  static const std::array kernels{pavle_kernel<1, false, true, Buffer::global>("pavle_gm"),
                                  pavle_kernel<1, true, true, Buffer::global>("pavle_gm_table"),
                                  pavle_kernel<1, false, true>("pavle_sm"),
                                  pavle_kernel<1, true, true>("pavle_dpt1_codes"),
                                  pavle_kernel<2, true, true>("pavle_dpt2_codes"),
                                  pavle_kernel<4, true, true>("pavle_dpt4_codes"),
                                  pavle_kernel<8, true, true>("pavle_dpt8_codes"),
                                  pavle_kernel<2, true, false>("pavle_dpt2_table"),
                                  pavle_kernel<4, true, false>("pavle_dpt4_table"),
                                  pavle_kernel<8, true, false>("pavle_dpt8_table")};
  return kernels;
}

}  // namespace cu264::vle
