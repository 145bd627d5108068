#include "tests/parity/cabac_runner.h"

#include <algorithm>
#include <utility>

#include "entropy/cabac/cabac_batch.h"
#include "entropy/cabac/chunk_job.h"
#include "support/device_array.cuh"
#include "tests/parity/device_batch.cuh"

namespace cu264::parity {
namespace {

// Pools that hold next to nothing, but for so many rounds at most.
constexpr std::uint32_t kMaxRounds = 40;

std::vector<entropy::PoolLayout> small_pools(const core::BatchView& batch) {
  const entropy::SliceBitsLayout slice_layout = entropy::slice_bits_layout(batch);
  const auto macroblocks =
      static_cast<std::size_t>(batch.pictures) * static_cast<std::size_t>(batch.macroblocks_per_picture());
  const bool inter = batch.motion != nullptr;
  const entropy::PoolRoom room = entropy::pool_room(
      batch.pictures, batch.mb_width, batch.mb_height, batch.slices,
      entropy::cabac_stream_bytes(batch.pictures, batch.mb_width, batch.mb_height, batch.slices), inter);
  std::vector<entropy::PoolLayout> layouts;
  for (const auto& [shape, segments] :
       {std::pair{entropy::ChunkShape{10, 5}, 1u}, {{10, 2}, 3u}, {{11, 3}, 2u}, {{12, 5}, 1u}}) {
    const std::uint32_t all = entropy::pool_layout(slice_layout, shape, 1).most_segments;
    const entropy::PoolLayout layout =
        entropy::pool_layout(slice_layout, shape, std::max(segments, all / kMaxRounds), inter);
    Arena chunks(nullptr);
    entropy::carve_chunks(chunks, layout, macroblocks);
    if (layout.items() <= entropy::kWarmUpItems + room.items && chunks.bytes() <= room.chunk_bytes)
      layouts.push_back(layout);
  }
  return layouts;
}

}  // namespace

std::vector<PackedBatch> code_cabac_on_device(const Shape& shape, const std::vector<TestPicture>& pictures,
                                              const std::vector<core::PictureParams>& params,
                                              const std::vector<core::SliceHeaderBits>& headers) {
  const DeviceBatch device(shape, pictures);
  const DeviceArray<core::PictureParams> d_params(params);
  core::BatchView batch = device.view;
  batch.params = d_params.data();
  const DeviceArray<core::SliceHeaderBits> d_headers(headers);
  // Memory for more pictures than there are has room for larger pools.
  constexpr int kMorePictures = 5;
  const int capacities[] = {batch.pictures, batch.pictures + kMorePictures};
  const std::size_t stream_bytes =
      entropy::cabac_stream_bytes(capacities[1], batch.mb_width, batch.mb_height, batch.slices);
  std::size_t scratch_bytes = 0;
  for (const int capacity : capacities) {
    scratch_bytes =
        std::max(scratch_bytes, entropy::cabac_scratch_bytes(capacity, batch.mb_width, batch.mb_height,
                                                             batch.slices, batch.motion != nullptr));
  }
  const DeviceArray<std::uint8_t> d_scratch(scratch_bytes), d_stream(stream_bytes);
  const DeviceArray<entropy::PackedPicture> d_pictures(pictures.size());
  check_cuda(cudaMemset(d_scratch.data(), 0xcd, scratch_bytes), "memset");
  check_cuda(cudaMemset(d_stream.data(), 0xcd, stream_bytes), "memset");
  std::vector<PackedBatch> results;
  const auto run = [&](int capacity, const entropy::PoolLayout* layout) {
    entropy::launch_cabac(batch, d_headers.data(), {capacity, d_scratch.data(), d_stream.data()},
                          d_pictures.data(), nullptr, layout);
    check_cuda(cudaDeviceSynchronize(), "coding with CABAC");
    PackedBatch& result = results.emplace_back();
    result.pictures = d_pictures.download();
    std::uint64_t end = 0;
    for (const entropy::PackedPicture& picture : result.pictures) {
      if (picture.failure == 0) end = picture.offset + picture.size;
    }
    result.stream.resize(end);
    check_cuda(cudaMemcpy(result.stream.data(), d_stream.data(), end, cudaMemcpyDeviceToHost), "download");
  };
  for (const int capacity : capacities) run(capacity, nullptr);
  for (const entropy::PoolLayout& layout : small_pools(batch)) run(batch.pictures, &layout);
  return results;
}

}  // namespace cu264::parity
