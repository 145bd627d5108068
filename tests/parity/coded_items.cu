#include "tests/parity/coded_items.h"

#include <algorithm>

#include "core/cabac_item.h"
#include "core/device_batch.h"
#include "entropy/cabac/chunk_job.h"
#include "entropy/cabac/code_slices.h"
#include "support/device_array.cuh"

namespace cu264::parity {

using test::DeviceArray;

namespace {

// Slices that lie in a pool as binarisation puts them there.
struct PooledSlices {
  core::BatchView batch;
  entropy::SliceBitsLayout layout;
  std::vector<entropy::CabacSliceRecord> records;
  std::vector<std::uint32_t> slices;  // by segment
  std::vector<std::uint16_t> items;   // of all segments, in front of which there are kWarmUpItems
};

PooledSlices pool_slices(const std::vector<ItemSlice>& slices, const entropy::PoolLayout& layout,
                         const core::BatchView& batch) {
  PooledSlices pooled{batch, entropy::slice_bits_layout(batch), {}, {}, {}};
  pooled.items.resize(entropy::kWarmUpItems, core::kPaddingItem);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    entropy::CabacSliceRecord& record = pooled.records.emplace_back();
    record.items = static_cast<std::uint32_t>(slices[i].items.size());
    record.first_segment = static_cast<std::uint32_t>(pooled.slices.size());
    pooled.items.insert(pooled.items.end(), slices[i].items.begin(), slices[i].items.end());
    pooled.slices.resize(pooled.slices.size() + layout.segments_of(record.items),
                         static_cast<std::uint32_t>(i));
    pooled.items.resize(entropy::kWarmUpItems + pooled.slices.size() * layout.segment_items(),
                        core::kPaddingItem);
  }
  return pooled;
}

}  // namespace

std::vector<CodedItems> code_items_on_device(const std::vector<ItemSlice>& slices, const ItemChunks& chunks) {
  std::size_t longest = 0;
  std::vector<core::PictureParams> params(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    longest = std::max(longest, slices[i].items.size());
    params[i].qp = static_cast<std::uint8_t>(slices[i].qp);
  }
  core::BatchView batch;
  batch.pictures = static_cast<int>(slices.size());
  // A slice has room for eight bits an item then.
  batch.mb_width = static_cast<int>(longest / (4 * entropy::kSliceWordsPerMacroblock) + 1);
  batch.mb_height = 1;
  const DeviceArray<core::PictureParams> d_params(params);
  batch.params = d_params.data();
  const bool serial = chunks.items_log2 == 0;
  const entropy::ChunkShape shape{serial ? 12 : chunks.items_log2, chunks.lanes_log2};
  entropy::PoolLayout layout = entropy::pool_layout(entropy::slice_bits_layout(batch), shape, ~0u);
  PooledSlices pooled = pool_slices(slices, layout, batch);
  layout.most_segments = static_cast<std::uint32_t>(pooled.slices.size());
  layout.segments = std::min(chunks.segments, layout.most_segments);

  const DeviceArray<std::uint16_t> d_items(layout.items());
  const DeviceArray<std::uint32_t> d_slices(pooled.slices), d_all(std::vector{layout.most_segments});
  const DeviceArray<entropy::CabacSliceRecord> d_records(pooled.records);
  const DeviceArray<std::uint32_t> d_slice_bits(pooled.layout.all_words());
  check_cuda(cudaMemset(d_slice_bits.data(), 0xcd, 4 * pooled.layout.all_words()), "memset");
  Arena sizes(nullptr);
  const auto macroblocks = static_cast<std::size_t>(batch.pictures) * batch.macroblocks_per_picture();
  entropy::carve_chunks(sizes, layout, macroblocks);
  const DeviceArray<std::uint8_t> d_scratch(sizes.bytes());
  check_cuda(cudaMemset(d_scratch.data(), 0xcd, sizes.bytes()), "memset");
  Arena arena(d_scratch.data());
  entropy::ChunkJob job;
  job.batch = batch;
  job.layout = pooled.layout;
  job.pool = {layout, d_items.data(), d_slices.data(), d_all.data()};
  job.memory = entropy::carve_chunks(arena, layout, macroblocks);
  job.records = d_records.data();
  job.slice_bits = d_slice_bits.data();
  const std::uint32_t rounds = layout.rounds();
  for (job.round = 0; job.round != rounds; ++job.round) {
    const std::size_t first = static_cast<std::size_t>(job.round) * layout.segments * layout.segment_items(),
                      count = std::min(layout.items(), pooled.items.size() - first);
    check_cuda(cudaMemcpy(d_items.data(), pooled.items.data() + first, count * sizeof(std::uint16_t),
                          cudaMemcpyHostToDevice),
               "upload");
    if (serial) {
      entropy::launch_code_slices(batch, job.pool, d_records.data(), d_slice_bits.data(), nullptr,
                                  1 << chunks.lanes_log2);
    } else {
      entropy::launch_code_round(job, nullptr);
    }
  }
  check_cuda(cudaDeviceSynchronize(), "coding items");
  const std::vector<std::uint32_t> words = d_slice_bits.download();
  pooled.records = d_records.download();
  std::vector<CodedItems> coded(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const entropy::CabacSliceRecord& record = pooled.records[i];
    if (record.broken != 0) continue;
    coded[i].bits = record.bits;
    for (std::uint32_t byte = 0; byte < (record.bits + 7) / 8; ++byte) {
      coded[i].bytes.push_back(static_cast<std::uint8_t>(words[pooled.layout.first_word_of(i) + byte / 4] >>
                                                         (24 - 8 * (byte % 4))));
    }
  }
  return coded;
}

}  // namespace cu264::parity
