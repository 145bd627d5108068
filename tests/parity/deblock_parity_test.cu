// The loop filter of P streams: the GPU's samples are the CPU's, on pictures of the CPU backend and on
// invented ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/macroblock_layout.h"
#include "encoder/cuda/inter/deblock_batch.h"
#include "encoder/output_picture.h"
#include "support/device_array.cuh"
#include "tests/parity/coded_gop.h"
#include "tests/parity/device_test.h"
#include "tests/support/moving_pictures.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

using core::MacroblockKind;
using encoder::CpuPicture;
using test::DeviceArray;

struct ToFilter {
  core::PictureParams params;
  CpuPicture picture;
};

std::vector<std::uint8_t> samples_of(const CpuPicture& picture) {
  std::vector<std::uint8_t> samples;
  for (const encoder::Plane& plane : picture.reconstruction) {
    samples.insert(samples.end(), plane.samples.begin(), plane.samples.end());
  }
  return samples;
}

template <class T, class Part>
std::vector<T> joined(const std::vector<ToFilter>& pictures, Part part) {
  std::vector<T> all;
  for (const ToFilter& picture : pictures) {
    const std::vector<T> more = part(picture);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::string place_of(std::size_t at, const CpuPicture& picture) {
  std::ostringstream out;
  const std::size_t luma = picture.reconstruction[0].samples.size();
  const std::size_t width = static_cast<std::size_t>(picture.reconstruction[at < luma ? 0 : 1].width);
  const std::size_t in_plane = at < luma ? at : (at - luma) % (luma / 4);
  out << (at < luma              ? "luma"
          : at < luma + luma / 4 ? "Cb"
                                 : "Cr")
      << " (" << in_plane % width << ", " << in_plane / width << ")";
  return out.str();
}

class DeblockParity : public DeviceTest {
 protected:
  // Filters the pictures as one batch, twice: the second launch finds what the first left in its scratch
  // memory.
  static void expect_parity(const std::vector<ToFilter>& pictures) {
    const CpuPicture& first = pictures[0].picture;
    core::BatchView batch;
    batch.pictures = static_cast<int>(pictures.size());
    batch.mb_width = first.mb_width, batch.mb_height = first.mb_height, batch.slices = first.slices;
    const DeviceArray<core::PictureParams> params(joined<core::PictureParams>(
        pictures, [](const ToFilter& p) { return std::vector<core::PictureParams>{p.params}; }));
    const DeviceArray<core::MacroblockRecord> macroblocks(
        joined<core::MacroblockRecord>(pictures, [](const ToFilter& p) { return p.picture.macroblocks; }));
    const DeviceArray<core::MotionRecord> motion(
        joined<core::MotionRecord>(pictures, [](const ToFilter& p) { return p.picture.motion; }));
    batch.params = params.data(), batch.macroblocks = macroblocks.data(), batch.motion = motion.data();
    const auto before =
        joined<std::uint8_t>(pictures, [](const ToFilter& p) { return samples_of(p.picture); });
    std::vector<std::uint8_t> expected;
    for (const ToFilter& picture : pictures) {
      CpuPicture filtered = picture.picture;
      if (picture.params.deblock) encoder::filter_picture(filtered);
      const std::vector<std::uint8_t> samples = samples_of(filtered);
      expected.insert(expected.end(), samples.begin(), samples.end());
    }
    const std::size_t bytes =
        encoder::cuda::deblock_scratch_bytes(batch.pictures, batch.mb_width, batch.mb_height);
    const DeviceArray<std::uint8_t> scratch(std::vector<std::uint8_t>(bytes, 0xa5));
    for (int run = 0; run < 2; ++run) {
      const DeviceArray<std::uint8_t> reconstruction(before);
      batch.reconstruction = reconstruction.data();
      encoder::cuda::launch_deblock(batch, scratch.data(), nullptr);
      check_cuda(cudaDeviceSynchronize(), "the loop filter");
      const std::vector<std::uint8_t> got = reconstruction.download();
      const auto [a, b] = std::mismatch(expected.begin(), expected.end(), got.begin());
      if (a == expected.end()) continue;
      const std::size_t at = static_cast<std::size_t>(a - expected.begin()), size = samples_of(first).size();
      FAIL() << "run " << run << ", picture " << at / size << " of " << pictures.size() << ", "
             << place_of(at % size, first) << ": host " << int{*a} << ", device " << int{*b};
    }
  }
};

// Records and vectors as no encoder would choose them, on samples that the filter changes.
ToFilter invented(int mb_width, int mb_height, bool key, std::mt19937& random) {
  const auto uniform = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  ToFilter out;
  out.params.key = key;
  CpuPicture& picture = out.picture;
  picture.resize(mb_width, mb_height, uniform(1, mb_height));
  picture.inter = !key;
  const int amplitude = 1 << uniform(0, 6), step = 1 << uniform(0, 5), most_intra = uniform(0, 4);
  for (encoder::Plane& plane : picture.reconstruction) {
    for (std::size_t i = 0; i < plane.samples.size(); ++i) {
      const int ground = 100 + step * static_cast<int>(i / 4 % 3) + uniform(-amplitude, amplitude);
      plane.samples[i] = static_cast<std::uint8_t>(std::clamp(ground, 0, 255));
    }
  }
  const int qp_low = uniform(0, 51), qp_high = uniform(qp_low, 51), levels = uniform(0, 2);
  for (core::MacroblockRecord& mb : picture.macroblocks) {
    mb.qp = static_cast<std::uint8_t>(uniform(qp_low, qp_high));
    const bool inter = !key && uniform(0, 4) >= most_intra;
    mb.kind = static_cast<MacroblockKind>(inter ? uniform(4, 8) : uniform(0, 3));
    mb.inter_transform_8x8 = inter && uniform(0, 2) == 0;
    const auto bits = static_cast<std::uint32_t>(random());
    mb.nonzero_blocks = (levels == 0   ? 0
                         : levels == 1 ? bits & static_cast<std::uint32_t>(random())
                                       : bits) &
                        ((1u << core::kBlocksPerMacroblock) - 1);
  }
  picture.motion.resize(picture.macroblocks.size());
  for (core::MotionRecord& motion : picture.motion) {
    for (core::MotionVector& v : motion.vector) v = core::motion_vector(uniform(-3, 3), uniform(-3, 3));
  }
  return out;
}

TEST_F(DeblockParity, InventedPictures) {
  std::mt19937 random(3);
  const int sizes[][2] = {{1, 1}, {1, 4}, {5, 1}, {2, 2}, {3, 5}, {9, 4}};
  test::QuickCases cases(3);
  for (const auto& [mb_width, mb_height] : sizes) {
    for (int repeat = 0; repeat < 6; ++repeat) {
      std::vector<ToFilter> pictures;
      for (int i = 0; i < 4; ++i) pictures.push_back(invented(mb_width, mb_height, i % 3 == 0, random));
      pictures[2].params.deblock = repeat % 2 == 0;
      if (cases.leave_out()) continue;
      SCOPED_TRACE(std::to_string(mb_width) + "x" + std::to_string(mb_height) + " repeat " +
                   std::to_string(repeat));
      expect_parity(pictures);
      if (HasFatalFailure()) return;
    }
  }
}

// More rows than a device holds warps.
TEST_F(DeblockParity, ManyInventedPictures) {
  std::mt19937 random(4);
  std::vector<ToFilter> pictures;
  for (int i = 0; i < (test::quick() ? 20 : 700); ++i)
    pictures.push_back(invented(4, 12, i % 5 == 0, random));
  expect_parity(pictures);
}

TEST_F(DeblockParity, LargeInventedPictures) {
  if (test::quick()) GTEST_SKIP() << "takes long on the processor";
  std::mt19937 random(5);
  for (const int count : {1, 8}) {
    std::vector<ToFilter> pictures;
    for (int i = 0; i < count; ++i) pictures.push_back(invented(120, 68, i % 5 == 4, random));
    expect_parity(pictures);
    if (HasFatalFailure()) return;
  }
}

std::vector<ToFilter> coded(const test::Motion motion, const GopSettings& settings, int width, int height,
                            int count) {
  std::vector<ToFilter> pictures;
  for (CodedInGop& picture : code_gop(test::make_clip(motion, width, height, count), settings)) {
    pictures.push_back({picture.params, std::move(picture.coded)});
  }
  return pictures;
}

TEST_F(DeblockParity, CodedPictures) {
  test::QuickCases cases(5);
  int slices = 0;
  for (const test::Motion motion : test::kMotions) {
    for (const int qp : {0, 12, 22, 27, 36, 51}) {
      if (cases.leave_out()) continue;
      GopSettings settings;
      settings.qp = qp, settings.slices = 1 + slices++ % 4;
      settings.preset = qp % 2 == 0 ? Preset::balanced : Preset::fast;
      settings.transform_8x8_mode = settings.cabac = qp % 2 == 0;
      settings.qp_offset = qp % 3 == 0 ? 7 : 0;
      SCOPED_TRACE(std::string(test::name_of(motion)) + " qp " + std::to_string(qp));
      expect_parity(coded(motion, settings, 104, 72, 3));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(DeblockParity, EveryQp) {
  test::QuickCases cases(9);
  for (int qp = 0; qp < 52; ++qp) {
    if (cases.leave_out()) continue;
    GopSettings settings;
    settings.qp = qp;
    SCOPED_TRACE("qp " + std::to_string(qp));
    expect_parity(coded(test::Motion::noisy, settings, 48, 48, 2));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace cu264::parity
