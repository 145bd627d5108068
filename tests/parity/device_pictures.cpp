#include "tests/parity/device_pictures.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "common/cuda/error_check.h"
#include "encoder/config.h"
#include "encoder/cuda/batch.h"
#include "encoder/cuda/search/reconstruct.h"

namespace cu264::parity {
namespace {

using encoder::CpuPicture;
using encoder::cuda::BatchView;
using encoder::cuda::SourcePicture;

constexpr int kPoison = 0xa5;

// The planes of one picture in its format.
struct HostPicture {
  std::vector<std::uint8_t> bytes;
  std::size_t offset[3] = {};
  std::ptrdiff_t pitch[3] = {};

  HostPicture(const SourceBatch& sources, const std::vector<std::uint8_t>& i420) {
    const int chroma_width = (sources.width + 1) / 2, chroma_height = (sources.height + 1) / 2;
    const std::uint8_t* const y = i420.data();
    const std::uint8_t* const u = y + static_cast<std::size_t>(sources.width) * sources.height;
    const std::uint8_t* const v = u + static_cast<std::size_t>(chroma_width) * chroma_height;
    append(0, {y}, sources.width, sources.height, sources.padding);
    if (sources.format == PixelFormat::i420) {
      append(1, {u}, chroma_width, chroma_height, sources.padding);
      append(2, {v}, chroma_width, chroma_height, sources.padding);
    } else if (sources.format == PixelFormat::nv12) {
      append(1, {u, v}, chroma_width, chroma_height, sources.padding);
    }
  }

 private:
  void append(int plane, const std::vector<const std::uint8_t*>& interleaved, int width, int height,
              int padding) {
    const std::size_t n = interleaved.size();
    offset[plane] = bytes.size();
    pitch[plane] = static_cast<std::ptrdiff_t>(width * n) + padding;
    bytes.resize(bytes.size() + static_cast<std::size_t>(pitch[plane]) * height, kPoison);
    for (int y = 0; y < height; ++y) {
      std::uint8_t* const row = bytes.data() + offset[plane] + y * pitch[plane];
      for (std::size_t i = 0; i < width * n; ++i) row[i] = interleaved[i % n][y * width + i / n];
    }
  }
};

}  // namespace

struct DevicePictures::Impl {
  BatchView batch;
  core::PictureParams* d_params = nullptr;
  void* d_scratch = nullptr;
  std::size_t scratch_bytes = 0;
  std::size_t reconstruction_bytes = 0;  // bytes of one picture
  std::vector<void*> allocations;
  cudaEvent_t begin = nullptr, end = nullptr;

  ~Impl() {
    for (void* d_memory : allocations) cudaFree(d_memory);
    if (begin) cudaEventDestroy(begin);
    if (end) cudaEventDestroy(end);
  }

  template <class T>
  T* allocate(std::size_t count) {
    void* d_memory = nullptr;
    check_cuda(cudaMalloc(&d_memory, std::max<std::size_t>(count, 1) * sizeof(T)), "cudaMalloc");
    allocations.push_back(d_memory);
    check_cuda(cudaMemset(d_memory, kPoison, count * sizeof(T)), "cudaMemset");
    return static_cast<T*>(d_memory);
  }

  template <class T>
  T* upload(const std::vector<T>& values) {
    T* const d_values = allocate<T>(values.size());
    check_cuda(cudaMemcpy(d_values, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
               "upload");
    return d_values;
  }

  template <class T>
  static void fetch(std::vector<T>& to, const T* d_from) {
    check_cuda(cudaMemcpy(to.data(), d_from, to.size() * sizeof(T), cudaMemcpyDeviceToHost), "download");
  }
};

DevicePictures::DevicePictures(const SourceBatch& sources, int slices, bool reconstruction, int copies)
    : impl_(std::make_unique<Impl>()) {
  BatchView& batch = impl_->batch;
  batch.pictures = static_cast<int>(sources.pictures.size()) * copies;
  batch.width = sources.width, batch.height = sources.height;
  batch.format = sources.format;
  batch.mb_width = encoder::macroblocks(sources.width);
  batch.mb_height = encoder::macroblocks(sources.height);
  batch.slices = slices;
  std::vector<SourcePicture> planes;
  for (int copy = 0; copy < copies; ++copy) {
    for (const auto& i420 : sources.pictures) {
      const HostPicture picture(sources, i420);
      const std::uint8_t* const d_picture = impl_->upload(picture.bytes);
      SourcePicture& source = planes.emplace_back();
      for (int p = 0; p < 3; ++p) {
        source.plane[p] = d_picture + picture.offset[p];
        source.pitch[p] = picture.pitch[p];
      }
    }
  }
  const std::size_t mbs = static_cast<std::size_t>(batch.macroblocks_per_picture()) * batch.pictures;
  batch.sources = impl_->upload(planes);
  impl_->d_params = impl_->allocate<core::PictureParams>(planes.size());
  batch.params = impl_->d_params;
  batch.macroblocks = impl_->allocate<core::MacroblockRecord>(mbs);
  batch.levels = impl_->allocate<std::int16_t>(mbs * core::kLevelsPerMacroblock);
  batch.total_coeff = impl_->allocate<std::uint8_t>(mbs * core::kTotalCoeffStride);
  impl_->reconstruction_bytes =
      static_cast<std::size_t>(batch.macroblocks_per_picture()) * core::MacroblockLayout::kSamples;
  if (reconstruction) {
    batch.reconstruction = impl_->allocate<std::uint8_t>(impl_->reconstruction_bytes * batch.pictures);
  }
  impl_->scratch_bytes =
      encoder::cuda::reconstruct_scratch_bytes(batch.pictures, batch.mb_width, batch.mb_height);
  impl_->d_scratch = impl_->allocate<std::uint8_t>(impl_->scratch_bytes);
  check_cuda(cudaEventCreate(&impl_->begin), "cudaEventCreate");
  check_cuda(cudaEventCreate(&impl_->end), "cudaEventCreate");
}

DevicePictures::~DevicePictures() = default;
DevicePictures::DevicePictures(DevicePictures&&) noexcept = default;

int DevicePictures::pictures() const {
  return impl_->batch.pictures;
}

float DevicePictures::reconstruct(int qp, Preset preset, bool transform_8x8_mode, bool cabac,
                                  const ScalingLists& lists) {
  impl_->batch.transform_8x8_mode = transform_8x8_mode;
  impl_->batch.cabac = cabac;
  core::PictureParams params;
  params.qp = static_cast<std::uint8_t>(qp);
  check_cuda(cudaMemcpy(impl_->d_params,
                        std::vector<core::PictureParams>(static_cast<std::size_t>(pictures()), params).data(),
                        static_cast<std::size_t>(pictures()) * sizeof(params), cudaMemcpyHostToDevice),
             "upload");
  check_cuda(cudaEventRecord(impl_->begin, nullptr), "cudaEventRecord");
  encoder::cuda::launch_reconstruct(impl_->batch, impl_->batch.pictures, qp, preset, impl_->d_scratch,
                                    nullptr, nullptr, false, lists);
  check_cuda(cudaEventRecord(impl_->end, nullptr), "cudaEventRecord");
  check_cuda(cudaEventSynchronize(impl_->end), "reconstruct");
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, impl_->begin, impl_->end), "cudaEventElapsedTime");
  return milliseconds;
}

CpuPicture DevicePictures::download(int picture) const {
  const BatchView& batch = impl_->batch;
  CpuPicture out;
  out.resize(batch.mb_width, batch.mb_height, batch.slices);
  const std::size_t first = static_cast<std::size_t>(picture) * batch.macroblocks_per_picture();
  Impl::fetch(out.macroblocks, batch.macroblocks + first);
  Impl::fetch(out.levels, batch.levels + first * core::kLevelsPerMacroblock);
  Impl::fetch(out.total_coeff, batch.total_coeff + first * core::kTotalCoeffStride);
  for (std::size_t block = 0; block < out.macroblocks.size() * core::kBlocksPerMacroblock; ++block) {
    const std::size_t mb = block / core::kBlocksPerMacroblock, slot = block % core::kBlocksPerMacroblock;
    if (out.macroblocks[mb].nonzero_blocks >> slot & 1) continue;
    std::fill_n(out.levels.begin() + static_cast<std::ptrdiff_t>(block * core::kLevelsPerBlock),
                core::kLevelsPerBlock, std::int16_t{0});
  }
  if (batch.reconstruction) {
    const std::uint8_t* d_plane = batch.reconstruction + impl_->reconstruction_bytes * picture;
    for (encoder::Plane& plane : out.reconstruction) {
      Impl::fetch(plane.samples, d_plane);
      d_plane += plane.samples.size();
    }
  }
  return out;
}

}  // namespace cu264::parity
