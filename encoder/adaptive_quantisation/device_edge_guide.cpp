#include "encoder/adaptive_quantisation/device_edge_guide.h"

#include <algorithm>

#include "common/cuda/error_check.h"
#include "vision/detector_backend.h"

namespace cu264::encoder::cuda {
namespace {

int pictures_of_round(int width, int height, int pictures, std::int64_t round_pixels) {
  const std::int64_t pixels = static_cast<std::int64_t>(width) * height;
  return static_cast<int>(std::min<std::int64_t>(pictures, (round_pixels + pixels - 1) / pixels));
}

vision::cuda::DeviceLimits limits_of_current_device() {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current device");
  return vision::cuda::device_limits(device);
}

// The planes from one picture on.
PicturePlanes planes_from(const PicturePlanes& planes, int picture) {
  PicturePlanes rest = planes;
  if (rest.table != nullptr) {
    rest.table += picture;
  } else {
    rest.first += picture * rest.distance;
  }
  return rest;
}

}  // namespace

EdgeGuide::EdgeGuide(const canny::Params& detector, int width, int height, int pictures,
                     std::int64_t round_pixels)
    : width_(width),
      height_(height),
      round_(pictures_of_round(width, height, pictures, round_pixels)),
      // The kernels read and write whole words of 32 pixels where rows are aligned.
      pitch_((static_cast<std::ptrdiff_t>(width) + 31) / 32 * 32),
      distance_(pitch_ * height),
      plan_(vision::canny_params(detector), width, height, round_, limits_of_current_device()) {}

void EdgeGuide::launch_sums(const PicturePlanes& luma, int pictures, const EdgeGuideMemory& memory,
                            MacroblockSums* sums, std::uint8_t* pinned_maps, cudaStream_t stream) const {
  const EdgePlanes maps{memory.maps, pitch_, distance_};
  const auto macroblocks = static_cast<std::size_t>(macroblocks_of_size(width_, height_));
  const auto width = static_cast<std::size_t>(width_), height = static_cast<std::size_t>(height_);
  for (int first = 0; first < pictures; first += round_) {
    const int count = std::min(round_, pictures - first);
    const PicturePlanes planes = planes_from(luma, first);
    const auto at = static_cast<std::size_t>(first);
    plan_.launch(planes, count, memory.scratch, maps, nullptr, {}, stream);
    launch_macroblock_sums(planes, maps, width_, height_, count, sums + at * macroblocks, stream);
    if (pinned_maps == nullptr) continue;
    // Maps follow one another as rows do.
    check_cuda(cudaMemcpy2DAsync(pinned_maps + at * width * height, width, maps.first,
                                 static_cast<std::size_t>(pitch_), width,
                                 height * static_cast<std::size_t>(count), cudaMemcpyDeviceToHost, stream),
               "copying edge maps from the device");
  }
}

}  // namespace cu264::encoder::cuda
