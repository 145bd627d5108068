// Packs slices in one kernel whose thread blocks take their work by ticket, as YAVLE and GVLE pack codes
// (thesis 2.3, algorithms 1 and 3). Numbers of steps are those of both algorithms; step 1, the table of
// codewords, and the look-up have been done by the entropy coder. What else differs:
//
// - A block-input belongs to one slice, and the inter-block scan begins anew with each slice.
// - The bits that align I_PCM samples depend on the position, so slices that hold such samples are examined
//   beforehand. After that the bits are items like any other, and all lengths may be added in any order.
//
// A Form has a Scan (entropy/scan/scan_state.cuh), memory Shared, and write(d_slice, position, code, shared),
// by which all threads of a block put their codes at their bit positions in the slice's words.
#pragma once

#include <algorithm>
#include <cuda/atomic>

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"
#include "entropy/pack/published/block_headers.h"
#include "entropy/pack/published/slice_items.cuh"
#include "entropy/pack/published/slice_pack_job.cuh"

namespace cu264::entropy::slice_packer {

inline constexpr int kPrepareThreads = 256;

// The words of the longest slice header, of 68 bits, and of what may lie after the last item.
inline constexpr std::size_t kWordsBesides = 4;

struct SharedSums {
  std::uint32_t header_bits, mbs[core::kMacroblockKinds], broken, aligned;
};

// Puts the bits in front of aligned parts. All threads of the block must call this.
template <class Items>
__device__ void pad_units(const SlicePackJob& job, const Items& items, std::uint32_t slice) {
  __shared__ std::uint64_t s_before[kPrepareThreads], s_after[kPrepareThreads];
  __shared__ bool s_aligned[kPrepareThreads];
  const int thread = static_cast<int>(threadIdx.x), units = items.units(job, slice);
  auto position = static_cast<std::uint64_t>(job.slice(slice).header.length);  // of thread 0
  for (int chunk = 0; chunk < units; chunk += kPrepareThreads) {
    const int own = chunk + thread;
    if (own < units) {
      const core::BitRun run = items.unit(job, slice, own).run;
      s_before[thread] = run.before, s_after[thread] = run.after, s_aligned[thread] = run.aligned;
    }
    __syncthreads();
    // I_PCM is rare, so simple code is better than fast code.
    for (int i = 0; thread == 0 && i < kPrepareThreads && chunk + i < units; ++i) {
      const core::BitRun run{s_before[i], s_after[i], s_aligned[i]};
      if (run.aligned) {
        const std::uint64_t from = position + run.before;
        items.pad(job, slice, chunk + i, static_cast<std::uint32_t>(core::next_byte_boundary(from) - from));
      }
      position = core::position_after(run, position);
    }
    __syncthreads();
  }
}

// The 32 bits of a slice header from bit `at` on. Where it has more than 64 bits, the leading ones are zeros.
__device__ inline std::uint32_t header_word(const core::SliceHeaderBits& header, int at) {
  const int zeros = max(header.length - 64, 0), from = at - zeros;
  if (from >= 64) return 0;
  const std::uint64_t left_aligned = header.bits << (64 - (header.length - zeros));
  return static_cast<std::uint32_t>(from < 0 ? left_aligned >> (32 - from) : left_aligned << from >> 32);
}

// One thread block a slice: statistics, alignment, and the slice header at the beginning of the RBSP.
template <class Items>
__global__ void __launch_bounds__(kPrepareThreads)
    prepare_slices(const __grid_constant__ SlicePackJob job, const __grid_constant__ Items items) {
  __shared__ SharedSums s_sums;
  const std::uint32_t slice = blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x), units = items.units(job, slice);
  if (thread == 0) s_sums = {};
  __syncthreads();
  for (int i = thread; i < units; i += kPrepareThreads) {
    const UnitSums unit = items.unit(job, slice, i);
    atomicAdd(&s_sums.header_bits, unit.header_bits);
    for (int kind = 0; kind < core::kMacroblockKinds; ++kind) {
      if (unit.mbs[kind] != 0) atomicAdd(&s_sums.mbs[kind], unit.mbs[kind]);
    }
    if (unit.broken != 0) atomicOr(&s_sums.broken, 1u);
    if (unit.run.aligned) atomicOr(&s_sums.aligned, 1u);
  }
  __syncthreads();
  if (thread == 0) {
    SliceRecord record;
    record.header = job.pack.headers[slice];
    const auto slices = static_cast<std::uint32_t>(job.pack.batch.slices);
    set_prefix(record, job.pack.batch, static_cast<int>(slice / slices), static_cast<int>(slice % slices));
    record.header_bits = s_sums.header_bits;
    for (int kind = 0; kind < core::kMacroblockKinds; ++kind) record.mbs[kind] = s_sums.mbs[kind];
    record.broken = s_sums.broken;
    job.slice(slice) = record;
    for (int i = 0; 32 * i < record.header.length; ++i)
      job.rbsp_of(slice)[i] = header_word(record.header, 32 * i);
  }
  __syncthreads();
  if (s_sums.aligned != 0 && s_sums.broken == 0) pad_units(job, items, slice);
}

__device__ __forceinline__ void merge(std::uint32_t* d_word, std::uint32_t bits) {
  cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(*d_word).fetch_or(bits,
                                                                               cuda::memory_order_relaxed);
}

template <class Form, class Items>
__global__ void __launch_bounds__(kPackThreads)
    pack_slices(const __grid_constant__ SlicePackJob job, const __grid_constant__ Items items) {
  __shared__ typename Form::Shared s_form;
  __shared__ WarpTotals<std::uint32_t, kPackWarps> s_totals;
  __shared__ std::uint64_t s_before;
  __shared__ std::uint32_t s_ticket;
  const int thread = static_cast<int>(threadIdx.x), lane = thread & 31, warp = thread >> 5;
  const std::uint32_t tickets = job.slices() * job.block_inputs;
  for (;;) {
    // Steps 2 and 9. A block waits only for block-inputs of earlier tickets, whose blocks have begun.
    if (thread == 0) s_ticket = atomicAdd(job.ticket, 1u);
    __syncthreads();
    const std::uint32_t ticket = s_ticket;
    if (ticket >= tickets) return;
    const std::uint32_t slice = ticket / job.block_inputs, index = ticket - slice * job.block_inputs;
    SliceRecord& record = job.slice(slice);
    const bool broken = record.broken != 0;  // too long for the memory: nothing of it is written
    // Steps 3 and 4
    ThreadCode code;
    if (broken) {
      code.load_words(nullptr, 0);
    } else {
      items.load(job, slice, index, thread, code);
    }
    // Step 6: the intra-block scan, then the inter-block scan by the first warp (3.4.1)
    std::uint32_t all = 0;
    const std::uint32_t in_block = scan_threads<kPackWarps>(code.length, 0u, all, s_totals, Plus());
    if (warp == 0) {
      typename Form::Scan scan{job.scan + slice * job.scan_elements};
      const std::uint64_t before = scan(index, all);
      if (lane == 0) s_before = before;
    }
    __syncthreads();
    const std::uint64_t begin = static_cast<std::uint64_t>(record.header.length) + s_before;
    // Steps 7 and 8
    std::uint32_t* const d_slice = job.rbsp_of(slice);
    Form::write(d_slice, begin + in_block, code, s_form);
    if (thread == 0 && index + 1 == job.block_inputs) {
      record.bits = begin + all;
      // rbsp_stop_one_bit
      merge(d_slice + record.bits / 32, 0x80000000u >> (record.bits % 32));
    }
    __syncthreads();  // before the next ticket and the next scan
  }
}

template <class Form, class Items>
void launch_pack(SlicePackJob& job, const Items& items, int most_macroblocks, cudaStream_t stream) {
  job.block_inputs = Items::block_inputs(job.pack.layout, most_macroblocks);
  prepare_slices<<<job.slices(), kPrepareThreads, 0, stream>>>(job, items);
  check_launch("prepare_slices");
  const auto kernel = pack_slices<Form, Items>;
  int device = 0, multiprocessors = 0, blocks = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kPackThreads, 0),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const std::uint64_t tickets = std::uint64_t{job.slices()} * job.block_inputs;
  const auto at_once = static_cast<std::uint64_t>(multiprocessors) * static_cast<unsigned>(blocks);
  const auto grid = static_cast<unsigned>(std::min(tickets, at_once));
  kernel<<<grid, kPackThreads, 0, stream>>>(job, items);
  check_launch("pack_slices");
  launch_escape(job, stream);
}

inline int most_macroblocks(int mb_width, int mb_height, int slices) {
  return (mb_height + slices - 1) / slices * mb_width;
}

struct Memory {
  SlicePackJob job;
  std::uint8_t *zeroed = nullptr, *zeroed_end = nullptr;
  BlockItems blocks;
  GroupItems groups;
};

template <class Form>
Memory carve(Arena& arena, int pictures, int mb_width, int mb_height, int slices) {
  const GroupLayout layout = group_layout(pictures, mb_width, mb_height, slices);
  const int most = most_macroblocks(mb_width, mb_height, slices);
  const std::size_t all_slices = static_cast<std::size_t>(pictures) * slices;
  const std::size_t macroblocks = static_cast<std::size_t>(pictures) * mb_width * mb_height;
  Memory memory;
  SlicePackJob& job = memory.job;
  job.rbsp_words = static_cast<std::size_t>(most) * kMacroblockWords + kWordsBesides;
  // A slice has more block-inputs of eight macroblocks than groups.
  job.scan_elements = Form::Scan::state_count(BlockItems::block_inputs(layout, most));
  job.pieces = layout.groups_a_slice;
  memory.zeroed = arena.take(0);
  job.ticket = arena.take<std::uint32_t>(1);
  job.scan = arena.take<std::uint64_t>(all_slices * job.scan_elements);
  memory.blocks.header_words = arena.take<std::uint32_t>(macroblocks * BlockItems::kHeaderWords);
  job.rbsp = arena.take<std::uint32_t>(all_slices * job.rbsp_words);
  memory.zeroed_end = arena.take(0);
  job.escapes = arena.take<std::uint32_t>(all_slices * static_cast<std::size_t>(job.pieces));
  memory.blocks.header_lengths = arena.take<std::uint16_t>(macroblocks);
  memory.groups.padding = arena.take<std::uint32_t>(layout.groups());
  return memory;
}

template <class Form>
std::size_t scratch_bytes(int pictures, int mb_width, int mb_height, int slices) {
  Arena arena(nullptr);
  carve<Form>(arena, pictures, mb_width, mb_height, slices);
  return arena.bytes();
}

template <class Form>
void launch(const PackJob& pack, const EntropyKernel* kernel, const LaunchCode& code, void* own,
            cudaStream_t stream) {
  const core::BatchView& batch = pack.batch;
  Arena arena(own);
  Memory memory = carve<Form>(arena, batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
  memory.job.pack = pack;
  const auto zeroed = static_cast<std::size_t>(memory.zeroed_end - memory.zeroed);
  check_cuda(cudaMemsetAsync(memory.zeroed, 0, zeroed, stream), "cudaMemsetAsync");
  const int most = most_macroblocks(batch.mb_width, batch.mb_height, batch.slices);
  if (kernel != nullptr && kernel->launch_blocks != nullptr) {
    memory.blocks.codes = kernel->launch_blocks(batch, pack.scratch.code, pack.scratch.kernel, stream);
    launch_block_headers(batch, memory.blocks, stream);
    launch_pack<Form>(memory.job, memory.blocks, most, stream);
  } else {
    launch_code_of(pack, kernel, code, stream);
    launch_pack<Form>(memory.job, memory.groups, most, stream);
  }
}

}  // namespace cu264::entropy::slice_packer
