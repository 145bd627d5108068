#include "tests/parity/pack_runner.h"

#include "tests/parity/device_array.cuh"

namespace cu264::parity {
namespace {

constexpr std::int16_t kStale = -12345;

// Levels as a kernel leaves them: only blocks that hold some are written.
void append_levels(std::vector<std::int16_t>& levels, const encoder::CpuPicture& picture) {
  for (std::size_t mb = 0; mb < picture.macroblocks.size(); ++mb) {
    for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
      const bool written = ((picture.macroblocks[mb].nonzero_blocks >> slot) & 1) != 0;
      for (int k = 0; k < core::kLevelsPerBlock; ++k) {
        const std::size_t at = (mb * core::kBlocksPerMacroblock + slot) * core::kLevelsPerBlock + k;
        levels.push_back(written ? picture.levels[at] : kStale);
      }
    }
  }
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

std::vector<PackedBatch> pack_on_device(const Shape& shape, const std::vector<TestPicture>& pictures,
                                        const std::vector<entropy::SliceHeaderBits>& headers,
                                        std::uint64_t first_picture, int repeats, std::uint64_t capacity) {
  std::vector<core::MacroblockRecord> macroblocks;
  std::vector<std::int16_t> levels;
  std::vector<std::uint8_t> total_coeff, samples;
  for (const TestPicture& picture : pictures) {
    append(macroblocks, picture.coded.macroblocks);
    append(total_coeff, picture.coded.total_coeff);
    append(samples, picture.samples);
    append_levels(levels, picture.coded);
  }
  const DeviceArray<core::MacroblockRecord> d_macroblocks(macroblocks);
  const DeviceArray<std::int16_t> d_levels(levels);
  const DeviceArray<std::uint8_t> d_total_coeff(total_coeff), d_samples(samples);
  std::vector<core::SourcePicture> sources(pictures.size());
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const Frame frame = frame_of(shape, d_samples.data() + i * pictures[i].samples.size());
    for (int c = 0; c < 3; ++c) sources[i].plane[c] = frame.plane[c], sources[i].pitch[c] = frame.pitch[c];
  }
  const DeviceArray<core::SourcePicture> d_sources(sources);
  const DeviceArray<entropy::SliceHeaderBits> d_headers(headers);

  core::BatchView batch;
  batch.pictures = static_cast<int>(pictures.size());
  batch.width = shape.width, batch.height = shape.height, batch.format = shape.format;
  batch.mb_width = pictures[0].coded.mb_width, batch.mb_height = pictures[0].coded.mb_height;
  batch.slices = shape.slices;
  batch.sources = d_sources.data();
  batch.macroblocks = d_macroblocks.data();
  batch.levels = d_levels.data();
  batch.total_coeff = d_total_coeff.data();

  const std::size_t scratch_bytes =
      entropy::pack_scratch_bytes(batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
  if (capacity == 0) {
    capacity = batch.pictures * entropy::max_packed_bytes(batch.mb_width, batch.mb_height, batch.slices);
  }
  const DeviceArray<std::uint8_t> d_scratch(scratch_bytes), d_stream(capacity);
  const DeviceArray<entropy::PackedPicture> d_pictures(pictures.size());
  check(cudaMemset(d_scratch.data(), 0xcd, scratch_bytes), "memset");

  std::vector<PackedBatch> results;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    check(cudaMemset(d_stream.data(), 0xee, capacity), "memset");
    entropy::launch_code_and_pack(batch, d_headers.data(), first_picture, d_scratch.data(), d_stream.data(),
                                  capacity, d_pictures.data(), nullptr);
    check(cudaDeviceSynchronize(), "code and pack");
    PackedBatch& result = results.emplace_back();
    result.pictures = d_pictures.download();
    std::uint64_t end = 0;
    for (const entropy::PackedPicture& picture : result.pictures) {
      if (picture.failure == 0) end = picture.offset + picture.size;
    }
    result.stream = d_stream.download(end);
  }
  return results;
}

}  // namespace cu264::parity
