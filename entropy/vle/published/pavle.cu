// PAVLE has three passes. Every block encodes its block-input into a buffer in shared memory and copies that
// to a slot of its own (Balevic 3.1 to 3.3), or writes to the slot at once (gm32, qm32); the blocks' lengths
// are scanned; every slot is moved to its position in the output.
//
// docs/papers.md lists what differs from the published form. Thread-inputs are aligned wherever the input
// begins. Symbols come in the order of memory. The kernels never write beyond the end of the output.
#include "entropy/vle/published/published_encoders.h"

#include <array>
#include <cub/device/device_scan.cuh>
#include <type_traits>

#include "common/cuda/arena.h"
#include "entropy/vle/published/block_positions.cuh"
#include "entropy/vle/published/persistent.cuh"
#include "entropy/vle/published/shared_tables.cuh"
#include "entropy/vle/published/table_texture.cuh"

namespace cu264::vle {
namespace {

// The kernels of section 4, by the buffer in which the threads of a block join their codes by atomic OR.
// gm32 and sm32 take aggregates of 32 bits at most: the code of four symbols may not be longer than they are.
enum class Kernel {
  gm32,      // the block's slot in global memory, which is zeroed before; the paper calls it qm32 too
  sm32,      // shared memory, as large as the input, which is copied to the slot
  sm64huff,  // shared memory, twice as large as the input
};
// Where the code table is looked up: in global, shared or texture memory.
enum class Lookup { global, shared, texture };

template <Kernel kKernel>
constexpr bool kIsWide = kKernel == Kernel::sm64huff;
// Codes with which no aggregate is too long. Longer ones may be, which is reported.
template <Kernel kKernel>
constexpr int kMaxCodeLength = kIsWide<kKernel> ? 16 : 8;
// Words of a slot for each thread.
template <int kDpt, Kernel kKernel>
constexpr int kThreadWords = kIsWide<kKernel> ? 2 * kDpt : kDpt;

struct Passes {
  EncodeResult* d_result;
  std::uint64_t* d_lengths;    // lengths of the blocks' codes
  std::uint64_t* d_positions;  // the sums of the lengths before each block
  std::uint32_t* d_slots;      // kThreadWords for every thread
};

// Stands for the inter-block scan, which is a pass of its own here.
struct NoScan {
  __device__ std::uint64_t operator()(std::uint32_t, std::uint64_t) const { return 0; }
};

// Word `i` of thread-input t. Symbols outside of the input are zero.
template <int kSpan>
__device__ __forceinline__ std::uint32_t source_word(const ThreadInputs<kSpan>& inputs, std::uint64_t t,
                                                     int i) {
  const std::uint8_t* const d_symbols = inputs.at(t) + 4 * i;
  const int first = inputs.first(t), last = inputs.last(t);
  if (4 * i >= first && 4 * i + 4 <= last) return *reinterpret_cast<const std::uint32_t*>(d_symbols);
  std::uint32_t word = 0;
  for (int byte = 0; byte < 4; ++byte) {
    if (4 * i + byte >= first && 4 * i + byte < last)
      word |= static_cast<std::uint32_t>(d_symbols[byte]) << (8 * byte);
  }
  return word;
}

// The codes of the four symbols of a word, joined (3.1).
template <class Bits>
struct Aggregate {
  Bits code;
  std::uint32_t length, seen;  // seen: the lengths ORed, for kNoCode
};

// Symbols [first, last) of the word belong to the input.
template <class Bits, class Table>
__device__ __forceinline__ Aggregate<Bits> aggregate(std::uint32_t word, int first, int last,
                                                     const Table& table) {
  Aggregate<Bits> joined{0, 0, 0};
#pragma unroll
  for (int byte = 0; byte < 4; ++byte) {
    if (byte < first || byte >= last) continue;
    const uint2 codeword = table[byte_of(word, byte)];
    joined.seen |= codeword.y;
    joined.code = joined.code << (codeword.y & 31) | codeword.x;
    joined.length += codeword.y;
  }
  return joined;
}

// Lines 9 to 28 of the paper's algorithm: sets the bits of a code from bit `position` of zeroed words on,
// part by part where it crosses words. sm64huff tests for parts that fill a word, which are stored.
template <bool kWide, class Bits>
__device__ __forceinline__ void put_bits(std::uint32_t* words, std::uint32_t position, Bits code,
                                         std::uint32_t length) {
  std::uint32_t index = position / 32, start = position % 32;
  while (length > 0) {
    const std::uint32_t bits = min(length, 32 - start);
    length -= bits;
    const auto part = static_cast<std::uint32_t>(code >> length);
    code &= (Bits{1} << length) - 1;
    if (kWide && bits == 32)
      words[index] = part;
    else
      atomicOr(words + index, part << (32 - start - bits));
    ++index, start = 0;
  }
}

template <int kDpt, Lookup kLookup, bool kCachedCodes, Kernel kKernel>
__global__ void encode_blocks(const ThreadInputs<4 * kDpt> inputs, const DeviceTable d_table,
                              const TableTexture texture, const Passes passes) {
  using Bits = std::conditional_t<kIsWide<kKernel>, std::uint64_t, std::uint32_t>;
  constexpr bool kShared = kKernel != Kernel::gm32;
  extern __shared__ std::uint32_t s_memory[];
  __shared__ WordTable s_table;
  __shared__ BlockPositionsScratch s_positions;
  const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
  const int input_words = threads * kDpt, slot_words = threads * kThreadWords<kDpt, kKernel>;
  std::uint32_t* const s_input = s_memory;
  std::uint32_t* const d_slot = passes.d_slots + static_cast<std::uint64_t>(blockIdx.x) * slot_words;
  std::uint32_t* const words = kShared ? s_memory + input_words : d_slot;
  const std::uint64_t first_input = static_cast<std::uint64_t>(blockIdx.x) * threads;
  for (int i = thread; i < input_words; i += threads)
    s_input[i] = source_word(inputs, first_input + i / kDpt, i % kDpt);
  if (kShared) {
    for (int i = thread; i < slot_words; i += threads) words[i] = 0;
  }
  if (kLookup == Lookup::shared) s_table.load(d_table);
  __syncthreads();
  const auto encode = [&](const auto& table) {
    const std::uint64_t thread_input = first_input + thread;
    const int first = inputs.first(thread_input), last = inputs.last(thread_input);
    const auto aggregate_of = [&](int i) {
      return aggregate<Bits>(s_input[thread * kDpt + i], first - 4 * i, last - 4 * i, table);
    };
    Bits codes[kDpt];
    std::uint32_t lengths[kDpt], length = 0;
    bool known = true;
#pragma unroll
    for (int i = 0; i < kDpt; ++i) {
      const Aggregate<Bits> joined = aggregate_of(i);
      known = known && (joined.seen & kNoCode) == 0 && joined.length <= 8 * sizeof(Bits);
      codes[i] = joined.code, lengths[i] = joined.length;
      length += joined.length;
    }
    if (!known) report_missing(passes), length = 0;

    NoScan no_scan;
    const BlockPositions at = block_positions(length, 0, no_scan, s_positions);
    std::uint32_t position = static_cast<std::uint32_t>(at.warp) + at.in_warp;
    if (known) {
#pragma unroll
      for (int i = 0; i < kDpt; ++i) {
        if (!kCachedCodes) {
          const Aggregate<Bits> joined = aggregate_of(i);
          codes[i] = joined.code, lengths[i] = joined.length;
        }
        put_bits<kIsWide<kKernel>>(words, position, codes[i], lengths[i]);
        position += lengths[i];
      }
    }
    if (thread == 0) passes.d_lengths[blockIdx.x] = at.block_end;
    return static_cast<std::uint32_t>(at.block_end);
  };
  std::uint32_t block_length = 0;
  if constexpr (kLookup == Lookup::shared)
    block_length = encode(s_table);
  else if constexpr (kLookup == Lookup::texture)
    block_length = encode(texture);
  else
    block_length = encode(GlobalTable{d_table});
  if (!kShared) return;
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < (block_length + 31) / 32; i += blockDim.x) d_slot[i] = words[i];
}

// The scan alone (figures 4 and 5): every thread's length to its position in the block.
__global__ void scan_blocks(const std::uint32_t* d_lengths, std::uint32_t* d_thread_positions) {
  __shared__ BlockPositionsScratch s_positions;
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  NoScan no_scan;
  const BlockPositions at = block_positions(d_lengths[i], 0, no_scan, s_positions);
  d_thread_positions[i] = static_cast<std::uint32_t>(at.warp) + at.in_warp;
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

template <int kDpt, Kernel kKernel>
std::size_t slot_bytes(std::size_t size, int threads) {
  return most_blocks<kDpt>(size, threads) * threads * kThreadWords<kDpt, kKernel> * 4;
}

template <int kDpt, Kernel kKernel>
std::size_t scratch_bytes(std::size_t size, int threads) {
  const std::uint64_t blocks = most_blocks<kDpt>(size, threads);
  return 2 * aligned(blocks * sizeof(std::uint64_t), Arena::kAlignment) +
         aligned(slot_bytes<kDpt, kKernel>(size, threads), Arena::kAlignment) + scan_bytes(blocks);
}

template <int kDpt, Kernel kKernel>
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
  passes.d_slots = reinterpret_cast<std::uint32_t*>(take(slot_bytes<kDpt, kKernel>(call.size, threads)));
  *d_scan_scratch = d_free;
  return passes;
}

template <int kDpt, Kernel kKernel>
void prepare(const EncodeCall& call, int threads) {
  zero(call.d_result, sizeof(EncodeResult), call);
  zero(call.d_output, output_bound(call, kShortCode), call);
  if (kKernel != Kernel::gm32 || call.size == 0) return;
  void* d_scan_scratch;
  zero(passes_of<kDpt, kKernel>(call, threads, &d_scan_scratch).d_slots,
       slot_bytes<kDpt, kKernel>(call.size, threads), call);
}

template <int kDpt>
unsigned block_count(const EncodeCall& call, int threads) {
  const ThreadInputs<4 * kDpt> inputs(call.d_input, call.size);
  return static_cast<unsigned>((inputs.count() + threads - 1) / threads);
}

// Bytes of shared memory for each thread: its input, and its part of the buffer.
template <int kDpt, Kernel kKernel>
constexpr int kThreadBytes = 4 * (kDpt + (kKernel == Kernel::gm32 ? 0 : kThreadWords<kDpt, kKernel>));

template <int kDpt, Lookup kLookup, bool kCachedCodes, Kernel kKernel>
void run_encode(const EncodeCall& call, int threads) {
  const unsigned blocks = block_count<kDpt>(call, threads);
  if (blocks == 0) return;
  void* d_scan_scratch;
  const Passes passes = passes_of<kDpt, kKernel>(call, threads, &d_scan_scratch);
  const TableTexture texture = kLookup == Lookup::texture ? table_texture(call.d_table) : TableTexture{};
  encode_blocks<kDpt, kLookup, kCachedCodes, kKernel>
      <<<blocks, threads, threads * kThreadBytes<kDpt, kKernel>, static_cast<cudaStream_t>(call.stream)>>>(
          ThreadInputs<4 * kDpt>(call.d_input, call.size), DeviceTable(call.d_table), texture, passes);
  check_launch("pavle");
}

template <int kDpt, Lookup kLookup, bool kCachedCodes, Kernel kKernel>
void run(const EncodeCall& call, int threads) {
  const unsigned blocks = block_count<kDpt>(call, threads);
  if (blocks == 0) return;
  run_encode<kDpt, kLookup, kCachedCodes, kKernel>(call, threads);
  void* d_scan_scratch;
  const Passes passes = passes_of<kDpt, kKernel>(call, threads, &d_scan_scratch);
  const auto stream = static_cast<cudaStream_t>(call.stream);
  std::size_t bytes = scan_bytes(most_blocks<kDpt>(call.size, threads));
  check_cuda(cub::DeviceScan::ExclusiveSum(d_scan_scratch, bytes, passes.d_lengths, passes.d_positions,
                                           static_cast<std::int64_t>(blocks), stream),
             "scanning lengths");
  compact<<<blocks, threads, 0, stream>>>(passes, threads * kThreadWords<kDpt, kKernel>,
                                          OutputWords(call.d_output, call.capacity));
  check_launch("compaction");
}

// The slots stand for the lengths here.
template <int kDpt>
void run_scan(const EncodeCall& call, int threads) {
  const unsigned blocks = block_count<kDpt>(call, threads);
  if (blocks == 0) return;
  void* d_scan_scratch;
  std::uint32_t* const d_slots = passes_of<kDpt, Kernel::gm32>(call, threads, &d_scan_scratch).d_slots;
  scan_blocks<<<blocks, threads, 0, static_cast<cudaStream_t>(call.stream)>>>(d_slots, d_slots);
  check_launch("scan_blocks");
}

// 48 KB of shared memory hold the table and the scan besides.
template <int kDpt, Kernel kKernel>
constexpr int kMaxThreads = 512 * kThreadBytes<kDpt, kKernel> <= 40 * 1024 ? 512 : 256;

template <int kDpt, Lookup kLookup, bool kCachedCodes, Kernel kKernel = Kernel::sm32>
constexpr PublishedEncoder pavle(const char* name) {
  return {name,
          kMaxCodeLength<kKernel>,
          256,
          kMaxThreads<kDpt, kKernel>,
          scratch_bytes<kDpt, kKernel>,
          prepare<kDpt, kKernel>,
          run<kDpt, kLookup, kCachedCodes, kKernel>};
}

// The first pass alone.
template <int kDpt, Lookup kLookup, bool kCachedCodes, Kernel kKernel = Kernel::sm32>
constexpr PublishedEncoder pavle_kernel(const char* name) {
  PublishedEncoder encoder = pavle<kDpt, kLookup, kCachedCodes, kKernel>(name);
  encoder.run = run_encode<kDpt, kLookup, kCachedCodes, kKernel>;
  return encoder;
}

template <int kDpt>
constexpr PublishedEncoder pavle_scan(const char* name) {
  PublishedEncoder encoder = pavle<kDpt, Lookup::global, true, Kernel::gm32>(name);
  encoder.run = run_scan<kDpt>;
  return encoder;
}

constexpr Lookup kGlobal = Lookup::global, kTable = Lookup::shared, kTexture = Lookup::texture;

}  // namespace

const PublishedEncoder kPavle = pavle<4, kTable, true, Kernel::sm64huff>("pavle");

std::span<const PublishedEncoder> pavle_variants() {
  static const std::array variants{pavle<1, kGlobal, false>("pavle_dpt1"),
                                   pavle<2, kGlobal, false>("pavle_dpt2"),
                                   pavle<4, kGlobal, false>("pavle_dpt4"),
                                   pavle<8, kGlobal, false>("pavle_dpt8"),
                                   pavle<1, kTable, false>("pavle_dpt1_table"),
                                   pavle<2, kTable, false>("pavle_dpt2_table"),
                                   pavle<4, kTable, false>("pavle_dpt4_table"),
                                   pavle<8, kTable, false>("pavle_dpt8_table"),
                                   pavle<1, kTable, true>("pavle_dpt1_codes"),
                                   pavle<2, kTable, true>("pavle_dpt2_codes"),
                                   pavle<4, kTable, true>("pavle_dpt4_codes"),
                                   pavle<8, kTable, true>("pavle_dpt8_codes"),
                                   pavle<1, kGlobal, true>("pavle_sm"),
                                   pavle<1, kTexture, true>("pavle_sm_texture"),
                                   pavle<1, kGlobal, true, Kernel::sm64huff>("pavle_sm64"),
                                   pavle<1, kTable, true, Kernel::sm64huff>("pavle_sm64_table"),
                                   pavle<8, kTable, true, Kernel::sm64huff>("pavle_sm64_dpt8"),
                                   pavle<1, kGlobal, true, Kernel::gm32>("pavle_gm"),
                                   pavle<1, kTexture, true, Kernel::gm32>("pavle_gm_texture"),
                                   pavle<1, kTable, true, Kernel::gm32>("pavle_gm_table")};
  return variants;
}

std::span<const PublishedEncoder> pavle_kernels() {
  static const std::array kernels{pavle_kernel<4, kTable, true, Kernel::sm64huff>("pavle"),
                                  pavle_kernel<1, kGlobal, true, Kernel::gm32>("pavle_gm"),
                                  pavle_kernel<1, kTable, true, Kernel::gm32>("pavle_gm_table"),
                                  pavle_kernel<1, kTexture, true, Kernel::gm32>("pavle_gm_texture"),
                                  pavle_kernel<1, kGlobal, true>("pavle_sm"),
                                  pavle_kernel<1, kTexture, true>("pavle_sm_texture"),
                                  pavle_kernel<1, kGlobal, true, Kernel::sm64huff>("pavle_sm64"),
                                  pavle_kernel<1, kTable, true, Kernel::sm64huff>("pavle_sm64_table"),
                                  pavle_kernel<1, kTable, true>("pavle_dpt1_codes"),
                                  pavle_kernel<2, kTable, true>("pavle_dpt2_codes"),
                                  pavle_kernel<4, kTable, true>("pavle_dpt4_codes"),
                                  pavle_kernel<8, kTable, true>("pavle_dpt8_codes"),
                                  pavle_kernel<2, kTable, false>("pavle_dpt2_table"),
                                  pavle_kernel<4, kTable, false>("pavle_dpt4_table"),
                                  pavle_kernel<8, kTable, false>("pavle_dpt8_table"),
                                  pavle_scan<1>("pavle_scan"),
                                  pavle_scan<4>("pavle_scan_dpt4")};
  return kernels;
}

}  // namespace cu264::vle
