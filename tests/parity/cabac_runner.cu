#include "tests/parity/cabac_runner.h"

#include "entropy/cabac/cabac_batch.h"
#include "support/device_array.cuh"
#include "tests/parity/device_batch.cuh"

namespace cu264::parity {

std::vector<PackedBatch> code_cabac_on_device(const Shape& shape, const std::vector<TestPicture>& pictures,
                                              const std::vector<core::PictureParams>& params,
                                              const std::vector<core::SliceHeaderBits>& headers,
                                              int repeats) {
  const DeviceBatch device(shape, pictures);
  const DeviceArray<core::PictureParams> d_params(params);
  core::BatchView batch = device.view;
  batch.params = d_params.data();
  const DeviceArray<core::SliceHeaderBits> d_headers(headers);
  const std::size_t scratch_bytes =
      entropy::cabac_scratch_bytes(batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
  const std::size_t work_bytes =
      entropy::cabac_work_bytes(batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
  const DeviceArray<std::uint8_t> d_scratch(scratch_bytes), d_work(work_bytes);
  const DeviceArray<entropy::PackedPicture> d_pictures(pictures.size());
  check_cuda(cudaMemset(d_scratch.data(), 0xcd, scratch_bytes), "memset");
  check_cuda(cudaMemset(d_work.data(), 0xcd, work_bytes), "memset");
  const entropy::CabacMemory memory{d_scratch.data(), d_work.data()};
  const entropy::CabacStream stream =
      entropy::cabac_stream(batch.pictures, batch.mb_width, batch.mb_height, batch.slices, d_work.data());

  std::vector<PackedBatch> results;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto way = repeat % 2 == 0 ? entropy::ArithmeticWay::in_chunks : entropy::ArithmeticWay::by_slice;
    entropy::launch_cabac_items(batch, memory, nullptr, way);
    PackedBatch& result = results.emplace_back();
    if (way == entropy::ArithmeticWay::in_chunks) {
      entropy::launch_cabac_pack(batch, d_headers.data(), memory, d_pictures.data(), nullptr);
      check_cuda(cudaDeviceSynchronize(), "coding with CABAC");
      result.pictures = d_pictures.download();
    }
    if (result.pictures.empty() || result.pictures[0].failure == entropy::kStringsMissing) {
      entropy::launch_cabac_strings(batch, d_headers.data(), memory, d_pictures.data(), nullptr, way);
      check_cuda(cudaDeviceSynchronize(), "coding with CABAC");
      result.pictures = d_pictures.download();
    }
    std::uint64_t end = 0;
    for (const entropy::PackedPicture& picture : result.pictures) {
      if (picture.failure == 0) end = picture.offset + picture.size;
    }
    result.stream.resize(end);
    check_cuda(cudaMemcpy(result.stream.data(), stream.bytes, end, cudaMemcpyDeviceToHost), "download");
  }
  return results;
}

}  // namespace cu264::parity
