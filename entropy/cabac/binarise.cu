// Binarises a batch, one macroblock in each thread: count the items, scan the counts of each slice, write the
// items.
#include "entropy/cabac/binarise.h"

#include "common/cuda/error_check.h"
#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"
#include "entropy/cabac/macroblock_items.cuh"

namespace cu264::entropy {
namespace {

constexpr int kThreads = 128;
constexpr int kScanThreads = 256;

struct BinariseJob {
  core::BatchView batch;
  StringLayout layout;
  BinariseScratch scratch;
  StringRecord* records;
  std::uint16_t* items;
};

// The macroblock of a thread, of all pictures together. Returns false behind the last one.
struct Place {
  std::size_t index;
  std::uint32_t slice_index;
  SliceSpan slice;
  int mb;
};

__device__ bool find_place(const core::BatchView& batch, Place& place) {
  const int macroblocks = batch.macroblocks_per_picture();
  place.index = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (place.index >= static_cast<std::size_t>(batch.pictures) * macroblocks) return false;
  const int picture = static_cast<int>(place.index / static_cast<std::size_t>(macroblocks));
  place.mb = static_cast<int>(place.index - static_cast<std::size_t>(picture) * macroblocks);
  const int slice = core::slice_of_row(place.mb / batch.mb_width, batch.slices, batch.mb_height);
  place.slice_index = static_cast<std::uint32_t>(picture * batch.slices + slice);
  place.slice = slice_span(batch, place.slice_index);
  return true;
}

__global__ void __launch_bounds__(kThreads) count_items(const __grid_constant__ BinariseJob job) {
  Place place;
  if (!find_place(job.batch, place)) return;
  core::CabacItemCounter counter;
  put_macroblock_items(counter, job.batch, place.slice, place.mb);
  job.scratch.counts[place.index] = counter.items | counter.bins << 16;
}

__global__ void __launch_bounds__(kScanThreads) scan_items(const __grid_constant__ BinariseJob job) {
  __shared__ WarpTotals<std::uint32_t, kScanThreads / 32> s_totals;
  __shared__ std::uint32_t s_bins, s_mbs[core::kMacroblockKinds];
  const SliceSpan slice = slice_span(job.batch, blockIdx.x);
  const std::size_t first =
      static_cast<std::size_t>(slice.picture) * job.batch.macroblocks_per_picture() + slice.first;
  const int thread = static_cast<int>(threadIdx.x), mbs = slice.end - slice.first;
  if (thread == 0) s_bins = 0;
  if (thread < core::kMacroblockKinds) s_mbs[thread] = 0;
  __syncthreads();
  std::uint32_t items = 0, bins = 0, kinds[core::kMacroblockKinds] = {};
  for (int chunk = 0; chunk < mbs; chunk += kScanThreads) {
    const int mb = chunk + thread;
    const std::uint32_t count = mb < mbs ? job.scratch.counts[first + mb] : 0;
    std::uint32_t all = 0;
    const std::uint32_t before = scan_threads(count & 0xffff, 0u, all, s_totals, Plus());
    if (mb < mbs) {
      job.scratch.begins[first + mb] = items + before;
      const auto kind = static_cast<int>(job.batch.macroblocks[first + mb].kind);
      for (int k = 0; k < core::kMacroblockKinds; ++k) kinds[k] += k == kind ? 1 : 0;
    }
    bins += count >> 16;
    items += all;
    __syncthreads();
  }
  bins = warp_sum(bins);
  for (std::uint32_t& kind : kinds) kind = warp_sum(kind);
  if (thread % 32 == 0) {
    atomicAdd(&s_bins, bins);
    for (int k = 0; k < core::kMacroblockKinds; ++k) atomicAdd(&s_mbs[k], kinds[k]);
  }
  __syncthreads();
  if (thread != 0) return;
  StringRecord record;
  record.items = items;
  record.bins = s_bins;
  for (int k = 0; k < core::kMacroblockKinds; ++k) record.mbs[k] = s_mbs[k];
  job.records[blockIdx.x] = record;
}

__global__ void __launch_bounds__(kThreads) write_items(const __grid_constant__ BinariseJob job) {
  Place place;
  if (!find_place(job.batch, place)) return;
  const std::uint32_t items = job.records[place.slice_index].items;
  if (items > job.layout.window_items) return;
  std::uint16_t* const d_window = job.items + job.layout.window_of(place.slice_index);
  ItemSink<ItemStore> sink{ItemStore(d_window + job.scratch.begins[place.index])};
  put_macroblock_items(sink, job.batch, place.slice, place.mb);
  if (place.mb + 1 == place.slice.end) {
    for (std::uint32_t i = items; i % 8 != 0; ++i) sink.store(core::kPaddingItem);
  }
  sink.store.give();
}

}  // namespace

void launch_binarise(const core::BatchView& batch, const BinariseScratch& scratch, StringRecord* d_records,
                     std::uint16_t* d_items, cudaStream_t stream) {
  const BinariseJob job{batch, string_layout(batch), scratch, d_records, d_items};
  const std::size_t macroblocks = static_cast<std::size_t>(batch.pictures) * batch.macroblocks_per_picture();
  const auto blocks = static_cast<unsigned>((macroblocks + kThreads - 1) / kThreads);
  count_items<<<blocks, kThreads, 0, stream>>>(job);
  check_launch("count_items");
  scan_items<<<static_cast<unsigned>(job.layout.slice_count()), kScanThreads, 0, stream>>>(job);
  check_launch("scan_items");
  write_items<<<blocks, kThreads, 0, stream>>>(job);
  check_launch("write_items");
}

}  // namespace cu264::entropy
