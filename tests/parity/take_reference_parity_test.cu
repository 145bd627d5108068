// The reference picture that a chain keeps on the GPU is the CPU's, with the memory around it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "core/motion_limits.h"
#include "encoder/cuda/inter/take_reference.h"
#include "support/device_array.cuh"
#include "tests/parity/coded_gop.h"
#include "tests/parity/device_test.h"
#include "tests/support/moving_pictures.h"

namespace cu264::parity {
namespace {

using encoder::PaddedPlane;
using encoder::cuda::ChainView;
using encoder::cuda::DevicePlane;
using test::DeviceArray;

// A padded plane on the device, in rows that are longer than they have to be.
struct PlaneOnDevice {
  static constexpr int kMore = 16;
  const PaddedPlane& expected;
  int pitch;
  DeviceArray<std::uint8_t> samples;

  explicit PlaneOnDevice(const PaddedPlane& plane)
      : expected(plane),
        pitch(static_cast<int>(plane.pitch) + kMore),
        samples(std::vector<std::uint8_t>(
            static_cast<std::size_t>(pitch) * static_cast<std::size_t>(plane.height + 2 * plane.pad), 0xa5)) {
  }
  DevicePlane view() const {
    return {samples.data() + static_cast<std::ptrdiff_t>(expected.pad) * pitch + expected.pad, pitch};
  }
  void check() const {
    const std::vector<std::uint8_t> all = samples.download();
    const auto width = static_cast<std::size_t>(expected.pitch);
    for (int y = -expected.pad; y < expected.height + expected.pad; ++y) {
      const std::uint8_t* const row = all.data() + static_cast<std::ptrdiff_t>(y + expected.pad) * pitch;
      ASSERT_EQ(std::memcmp(row, expected.at(-expected.pad, y), width), 0) << "row " << y;
      ASSERT_EQ(std::count(row + width, row + pitch, 0xa5), kMore) << "written beside row " << y;
    }
  }
};

// What a test lets the kernel write, and how it should be.
struct ReferenceOnDevice {
  PlaneOnDevice luma, cb, cr;

  explicit ReferenceOnDevice(const encoder::GopChain& chain)
      : luma(chain.luma[core::kWholeSamples]), cb(chain.chroma[0]), cr(chain.chroma[1]) {}
  ChainView view() const {
    ChainView chain;
    chain.next_luma[core::kWholeSamples] = luma.view();
    chain.next_chroma[0] = cb.view(), chain.next_chroma[1] = cr.view();
    return chain;
  }
};

class TakeReferenceParity : public DeviceTest {};

TEST_F(TakeReferenceParity, Planes) {
  const int sizes[][2] = {{16, 16}, {16, 48}, {72, 40}, {200, 64}};
  for (const auto& [width, height] : sizes) {
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    const std::vector<CodedInGop> pictures =
        code_gop(test::make_clip(test::Motion::noisy, width, height, 3), {});
    std::vector<std::uint8_t> reconstruction;
    std::vector<core::PictureParams> params;
    std::deque<ReferenceOnDevice> references;
    std::vector<ChainView> chains;
    for (const CodedInGop& picture : pictures) {
      params.push_back(picture.params);
      for (const encoder::Plane& plane : picture.filtered.reconstruction) {
        reconstruction.insert(reconstruction.end(), plane.samples.begin(), plane.samples.end());
      }
      chains.push_back(references.emplace_back(picture.chain).view());
    }
    const DeviceArray<std::uint8_t> d_reconstruction(reconstruction);
    const DeviceArray<core::PictureParams> d_params(params);
    const DeviceArray<ChainView> d_chains(chains);
    encoder::cuda::StepView step;
    step.batch.pictures = static_cast<int>(pictures.size());
    step.batch.mb_width = pictures[0].coded.mb_width, step.batch.mb_height = pictures[0].coded.mb_height;
    step.batch.reconstruction = d_reconstruction.data(), step.batch.params = d_params.data();
    step.chains = d_chains.data();
    encoder::cuda::launch_take_reference(step, nullptr);
    check_cuda(cudaDeviceSynchronize(), "taking the reference");
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      SCOPED_TRACE("picture " + std::to_string(i));
      for (const PlaneOnDevice* plane : {&references[i].luma, &references[i].cb, &references[i].cr})
        plane->check();
    }
  }
}

}  // namespace
}  // namespace cu264::parity
