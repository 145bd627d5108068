#include "tests/parity/cabac_runner.h"

#include "entropy/cabac/cabac_batch.h"
#include "support/device_array.cuh"
#include "tests/parity/device_batch.cuh"

namespace cu264::parity {
namespace {

struct Run {
  entropy::ArithmeticWay way;
  entropy::WindowSize windows;
};
constexpr Run kRuns[] = {{entropy::ArithmeticWay::in_chunks, entropy::WindowSize::ordinary},
                         {entropy::ArithmeticWay::by_slice, entropy::WindowSize::ordinary},
                         {entropy::ArithmeticWay::in_chunks, entropy::WindowSize::fourfold},
                         {entropy::ArithmeticWay::by_slice, entropy::WindowSize::doubled},
                         {entropy::ArithmeticWay::in_chunks, entropy::WindowSize::doubled},
                         {entropy::ArithmeticWay::in_chunks, entropy::WindowSize::ninefold},
                         {entropy::ArithmeticWay::in_chunks, entropy::WindowSize::sixteenfold}};

}  // namespace

std::vector<PackedBatch> code_cabac_on_device(const Shape& shape, const std::vector<TestPicture>& pictures,
                                              const std::vector<core::PictureParams>& params,
                                              const std::vector<core::SliceHeaderBits>& headers) {
  const DeviceBatch device(shape, pictures);
  const DeviceArray<core::PictureParams> d_params(params);
  core::BatchView batch = device.view;
  batch.params = d_params.data();
  const DeviceArray<core::SliceHeaderBits> d_headers(headers);
  const std::size_t scratch_bytes =
      entropy::cabac_scratch_bytes(batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
  const std::size_t chunk_bytes =
      entropy::cabac_chunk_bytes(batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
  const std::size_t stream_bytes =
      entropy::cabac_stream_bytes(batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
  const DeviceArray<std::uint8_t> d_scratch(scratch_bytes), d_chunks(chunk_bytes), d_stream(stream_bytes);
  const DeviceArray<entropy::PackedPicture> d_pictures(pictures.size());
  check_cuda(cudaMemset(d_scratch.data(), 0xcd, scratch_bytes), "memset");
  check_cuda(cudaMemset(d_chunks.data(), 0xcd, chunk_bytes), "memset");
  check_cuda(cudaMemset(d_stream.data(), 0xcd, stream_bytes), "memset");
  const entropy::CabacMemory memory{d_scratch.data(), d_chunks.data(), d_stream.data()};

  std::vector<PackedBatch> results;
  for (const auto& [way, windows] : kRuns) {
    entropy::launch_cabac(batch, d_headers.data(), memory, d_pictures.data(), nullptr, windows, way);
    check_cuda(cudaDeviceSynchronize(), "coding with CABAC");
    PackedBatch& result = results.emplace_back();
    result.pictures = d_pictures.download();
    std::uint64_t end = 0;
    for (const entropy::PackedPicture& picture : result.pictures) {
      if (picture.failure == 0) end = picture.offset + picture.size;
    }
    result.stream.resize(end);
    check_cuda(cudaMemcpy(result.stream.data(), d_stream.data(), end, cudaMemcpyDeviceToHost), "download");
  }
  return results;
}

}  // namespace cu264::parity
