#include "tests/parity/canny_device.h"

#include "support/device_array.cuh"
#include "vision/published/published_canny.h"
#include "vision/published/published_launches.h"

namespace cu264::parity {
namespace {

using test::DeviceArray;

using namespace vision;
using vision::cuda::CannyArrays;
using vision::cuda::CannyPlan;
using vision::cuda::Labelling;
using vision::cuda::PublishedArrays;
using vision::cuda::PublishedPlan;

// The memory is poisoned, so that a kernel that reads what was not written does not happen to be right.
struct PoisonedMemory : DeviceArray<std::uint8_t> {
  explicit PoisonedMemory(std::size_t bytes) : DeviceArray(bytes) {
    check_cuda(cudaMemset(data(), 0xa5, bytes), "memset");
  }
};

template <class T>
std::vector<T> download(const T* d_values, std::size_t count) {
  std::vector<T> values(count);
  check_cuda(cudaMemcpy(values.data(), d_values, count * sizeof(T), cudaMemcpyDeviceToHost), "download");
  return values;
}

std::size_t pixels_of(const GrayPicture& picture) {
  return static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height);
}

// Planes of one size with a placement, for input pictures and for edge maps.
class DevicePlanes {
 public:
  DevicePlanes(int width, int height, int count, const Placement& placement)
      : width_(width),
        height_(height),
        pitch_(width + placement.padding),
        bottom_up_(placement.bottom_up),
        plane_bytes_(static_cast<std::size_t>(pitch_) * static_cast<std::size_t>(height)),
        offset_(placement.offset),
        memory_(std::vector<std::uint8_t>(plane_bytes_ * static_cast<std::size_t>(count) + placement.offset,
                                          77)) {}

  std::uint8_t* first() const {
    return memory_.data() + offset_ + (bottom_up_ ? static_cast<std::size_t>(pitch_) * (height_ - 1) : 0);
  }
  std::ptrdiff_t pitch() const { return bottom_up_ ? -pitch_ : pitch_; }
  std::ptrdiff_t distance() const { return static_cast<std::ptrdiff_t>(plane_bytes_); }

  void upload(int index, const std::vector<std::uint8_t>& dense) const {
    for (int y = 0; y < height_; ++y) {
      check_cuda(cudaMemcpy(row(index, y), dense.data() + static_cast<std::size_t>(y) * width_,
                            static_cast<std::size_t>(width_), cudaMemcpyHostToDevice),
                 "upload");
    }
  }
  // Throws if a byte between rows has changed.
  std::vector<std::uint8_t> download_plane(int index) const {
    const std::vector<std::uint8_t> all = memory_.download();
    std::vector<std::uint8_t> dense;
    for (int y = 0; y < height_; ++y) {
      const std::uint8_t* const at = all.data() + (row(index, y) - memory_.data());
      dense.insert(dense.end(), at, at + width_);
      for (int x = width_; x < pitch_; ++x) {
        if (at[x] != 77) throw std::runtime_error("written beyond a row's end");
      }
    }
    return dense;
  }

 private:
  std::uint8_t* row(int index, int y) const { return first() + index * distance() + y * pitch(); }

  int width_, height_;
  std::ptrdiff_t pitch_;
  bool bottom_up_;
  std::size_t plane_bytes_;
  int offset_;
  DeviceArray<std::uint8_t> memory_;
};

cuda::DeviceLimits limits() {
  return cuda::device_limits(0);
}

Stages empty_stages(const GrayPicture& picture) {
  Stages stages;
  stages.width = picture.width, stages.height = picture.height;
  return stages;
}

// Levels in the layout of the kernels.
std::vector<std::uint32_t> level_planes(const cuda::WordGrid& grid, const GrayPicture& levels) {
  std::vector<std::uint32_t> planes(static_cast<std::size_t>(grid.words()) * cuda::kLevelPlanes);
  for (std::uint32_t word = 0; word < grid.words(); ++word) {
    const cuda::WordPosition at = cuda::word_position(grid, word);
    for (int i = 0; i < cuda::kWordPixels && at.x + i < levels.width; ++i) {
      const int level = levels.samples[static_cast<std::size_t>(at.y) * levels.width + at.x + i];
      for (int b = 0; b < cuda::kLevelPlanes; ++b) {
        planes[static_cast<std::size_t>(b) * grid.words() + word] |=
            static_cast<std::uint32_t>(level >> b & 1) << i;
      }
    }
  }
  return planes;
}

}  // namespace

std::vector<Stages> production_stages(const CannyParams& params, const std::vector<GrayPicture>& pictures,
                                      Labelling labelling, const Placement& placement) {
  const GrayPicture& like = pictures.at(0);
  const auto count = static_cast<int>(pictures.size());
  const CannyPlan plan(params, like.width, like.height, count, limits(), labelling);
  const PoisonedMemory scratch(plan.scratch_bytes());
  const DevicePlanes in(like.width, like.height, count, placement),
      out(like.width, like.height, count, placement);
  for (int i = 0; i < count; ++i) in.upload(i, pictures[static_cast<std::size_t>(i)].samples);
  const std::size_t pixels = pixels_of(like), all = pixels * pictures.size();
  const DeviceArray<std::uint8_t> levels(all);
  const DeviceArray<std::uint16_t> sm(all);
  plan.launch({in.first(), in.pitch(), in.distance(), nullptr}, count, scratch.data(),
              {out.first(), out.pitch(), out.distance()}, nullptr, {levels.data(), sm.data()}, nullptr);
  check_cuda(cudaDeviceSynchronize(), "edge detection");

  const CannyArrays arrays = plan.arrays(scratch.data());
  const auto subs = static_cast<std::size_t>(plan.grid().layout.count);
  std::vector<Stages> result;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    Stages stages = empty_stages(like);
    stages.largest = download(arrays.largest + i, 1)[0];
    stages.level = download(levels.data() + i * pixels, pixels);
    if (!params.fixed) {
      stages.sm = download(sm.data() + i * pixels, pixels);
      stages.counts = download(arrays.counts + i * subs, subs);
    }
    stages.thresholds = download(arrays.thresholds + i * subs, subs);
    stages.edges = out.download_plane(static_cast<int>(i));
    result.push_back(std::move(stages));
  }
  return result;
}

// The results of Algorithm 4, which has no histogram where P(F(x)) is 0.
static void download_distribution(const PublishedArrays& arrays, std::size_t subs, Stages& stages) {
  const std::vector<cuda::LevelSums> sums = download(arrays.sums, subs);
  const std::vector<cuda::LevelDistribution> found = download(arrays.distribution, subs);
  stages.counts.resize(subs);
  for (std::size_t s = 0; s < subs; ++s) {
    for (int x = 0; x <= kTopLevel; ++x) {
      stages.counts[s].with_level[x] = static_cast<std::int32_t>(sums[s].with_level[x]);
      stages.counts[s].histogram[x] = static_cast<std::int32_t>(found[s].histogram[x]);
      stages.distribution.push_back(found[s].with_level[x]);
    }
  }
}

Stages published_stages(const CannyParams& params, const GrayPicture& picture, const Placement& placement) {
  const PublishedPlan plan(params, picture.width, picture.height, limits());
  const PoisonedMemory scratch(plan.scratch_bytes());
  const DevicePlanes in(picture.width, picture.height, 1, placement),
      out(picture.width, picture.height, 1, placement);
  in.upload(0, picture.samples);
  plan.launch({in.first(), in.pitch()}, scratch.data(), {out.first(), out.pitch()}, nullptr, nullptr,
              nullptr);
  check_cuda(cudaDeviceSynchronize(), "edge detection");

  const PublishedArrays a = plan.arrays(scratch.data());
  const std::size_t pixels = pixels_of(picture);
  const auto subs = static_cast<std::size_t>(plan.grid().layout.count);
  Stages stages = empty_stages(picture);
  stages.horizontal = download(a.horizontal, pixels);
  stages.smoothed = download(a.smoothed, pixels);
  stages.dx = download(a.dx, pixels);
  stages.dy = download(a.dy, pixels);
  stages.magnitude = download(a.magnitude, pixels);
  stages.largest = download(a.largest, 1)[0];
  stages.level = download(a.level, pixels);
  if (!params.fixed) {
    const std::vector<std::uint32_t> sm = download(a.sm, pixels);
    stages.sm.assign(sm.begin(), sm.end());
    stages.prob = download(a.prob, pixels);
    download_distribution(a, subs, stages);
    stages.pooled = download(a.pooled, 1)[0];
  }
  stages.thresholds = download(a.thresholds, subs);
  stages.edges = out.download_plane(0);
  return stages;
}

Stages production_from_levels(const CannyParams& params, const GrayPicture& levels, Labelling labelling) {
  const CannyPlan plan(params, levels.width, levels.height, 1, limits(), labelling);
  const PoisonedMemory scratch(plan.scratch_bytes());
  const CannyArrays a = plan.arrays(scratch.data());
  const cuda::WordGrid& grid = plan.grid();
  const std::vector<std::uint32_t> planes = level_planes(grid, levels);
  check_cuda(cudaMemcpy(a.levels, planes.data(), planes.size() * 4, cudaMemcpyHostToDevice), "upload");
  const auto subs = static_cast<std::size_t>(grid.layout.count);
  const std::size_t pixels = pixels_of(levels);
  const DeviceArray<std::uint16_t> sm(pixels);
  const DeviceArray<std::uint8_t> edges(pixels);
  if (!params.fixed) {
    check_cuda(cudaMemset(a.counts, 0, subs * sizeof(LevelCounts)), "memset");
    check_cuda(cudaMemset(a.blocks_done, 0, sizeof *a.blocks_done), "memset");
  }
  plan.launch_from_levels(1, scratch.data(), {edges.data(), levels.width, 0}, nullptr, {nullptr, sm.data()},
                          nullptr);
  check_cuda(cudaDeviceSynchronize(), "edge detection");
  Stages stages = empty_stages(levels);
  if (!params.fixed) {
    stages.sm = sm.download();
    stages.counts = download(a.counts, subs);
  }
  stages.thresholds = download(a.thresholds, subs);
  stages.edges = edges.download();
  return stages;
}

Stages published_from_levels(const CannyParams& params, const GrayPicture& levels) {
  const PublishedPlan plan(params, levels.width, levels.height, limits());
  const PoisonedMemory scratch(plan.scratch_bytes());
  const PublishedArrays a = plan.arrays(scratch.data());
  const std::size_t pixels = pixels_of(levels);
  check_cuda(cudaMemcpy(a.level, levels.samples.data(), pixels, cudaMemcpyHostToDevice), "upload");
  const DeviceArray<std::uint8_t> edges(pixels);
  plan.launch_from_levels(scratch.data(), {edges.data(), levels.width}, nullptr, nullptr, nullptr);
  check_cuda(cudaDeviceSynchronize(), "edge detection");
  Stages stages = empty_stages(levels);
  const auto subs = static_cast<std::size_t>(plan.grid().layout.count);
  if (!params.fixed) {
    const std::vector<std::uint32_t> sm = download(a.sm, pixels);
    stages.sm.assign(sm.begin(), sm.end());
    download_distribution(a, subs, stages);
  }
  stages.thresholds = download(a.thresholds, subs);
  stages.edges = edges.download();
  return stages;
}

}  // namespace cu264::parity
