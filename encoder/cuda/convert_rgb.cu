#include "encoder/cuda/convert_rgb.h"

#include "common/cuda/error_check.h"

namespace cu264::encoder::cuda {
namespace {

// A thread a chroma sample and the four luma samples around it.
__global__ void ingest_kernel(const __grid_constant__ core::RgbPicture rgb,
                              const __grid_constant__ core::ColourMatrix matrix,
                              const __grid_constant__ ConvertedPlanes out) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (2 * x >= rgb.width || 2 * y >= rgb.height) return;
  const core::Ycc420 ycc = core::convert_rgb(matrix, rgb, x, y);
  std::uint8_t* const luma = out.plane[0] + 2 * y * out.pitch[0] + 2 * x;
  *reinterpret_cast<uchar2*>(luma) = make_uchar2(ycc.y[0], ycc.y[1]);
  if (2 * y + 1 < rgb.height)
    *reinterpret_cast<uchar2*>(luma + out.pitch[0]) = make_uchar2(ycc.y[2], ycc.y[3]);
  out.plane[1][y * out.pitch[1] + x] = ycc.cb;
  out.plane[2][y * out.pitch[2] + x] = ycc.cr;
}

}  // namespace

void launch_ingest(const core::RgbPicture& rgb, const core::ColourMatrix& matrix,
                   const ConvertedPlanes& planes, cudaStream_t stream) {
  const dim3 block(32, 8);
  const auto blocks = [](int side, unsigned threads) {
    return (static_cast<unsigned>(side + 1) / 2 + threads - 1) / threads;
  };
  const dim3 grid(blocks(rgb.width, block.x), blocks(rgb.height, block.y));
  ingest_kernel<<<grid, block, 0, stream>>>(rgb, matrix, planes);
  check_launch("ingest_kernel");
}

}  // namespace cu264::encoder::cuda
