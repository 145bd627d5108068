// What follows from final vectors is the same on the GPU and on the CPU: on pictures of the CPU backend,
// whose results are taken away again, and on invented ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "core/mb_qp_delta.h"
#include "core/motion_prediction.h"
#include "encoder/cpu/reconstruct_slice.h"
#include "encoder/cuda/inter/finish_motion.h"
#include "support/device_array.cuh"
#include "tests/parity/coded_gop.h"
#include "tests/parity/device_test.h"
#include "tests/support/moving_pictures.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

using core::MacroblockKind;
using encoder::CpuPicture;
using encoder::InterChoice;
using encoder::cuda::ChainView;
using test::DeviceArray;

struct Finished {
  core::PictureParams params;
  CpuPicture picture;  // as the CPU finished it
};

// A picture before it was finished. What is to be computed has other values.
CpuPicture unfinished(const Finished& finished) {
  CpuPicture picture = finished.picture;
  for (std::size_t i = 0; i < picture.macroblocks.size(); ++i) {
    core::MacroblockRecord& mb = picture.macroblocks[i];
    core::MotionRecord& motion = picture.motion[i];
    if (mb.kind == MacroblockKind::p_skip) mb.kind = MacroblockKind::p16x16;
    for (core::MotionVector& mvd : motion.mvd) mvd = core::motion_vector(77, -7);
    if (!core::is_inter(mb.kind)) motion.vector[i % 4] = core::motion_vector(5, 5);
    if (picture.qp_offsets.empty()) continue;
    mb.qp = static_cast<std::uint8_t>(core::macroblock_qp(finished.params.qp, picture.qp_offsets[i]));
    mb.mb_qp_delta = 0;
  }
  return picture;
}

template <class T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

class FinishMotionParity : public DeviceTest {
 protected:
  static void expect_parity(const std::vector<Finished>& pictures) {
    const CpuPicture& first = pictures[0].picture;
    const std::size_t mbs = first.macroblocks.size();
    std::vector<core::PictureParams> params;
    std::vector<core::MacroblockRecord> macroblocks;
    std::vector<core::MotionRecord> motion;
    std::vector<std::int8_t> offsets;
    std::deque<DeviceArray<InterChoice>> choices;
    std::vector<ChainView> chains;
    for (const Finished& finished : pictures) {
      const CpuPicture picture = unfinished(finished);
      params.push_back(finished.params);
      macroblocks.insert(macroblocks.end(), picture.macroblocks.begin(), picture.macroblocks.end());
      motion.insert(motion.end(), picture.motion.begin(), picture.motion.end());
      offsets.insert(offsets.end(), picture.qp_offsets.begin(), picture.qp_offsets.end());
      InterChoice skips;
      skips.skips = true;
      chains.emplace_back().choices = choices.emplace_back(std::vector<InterChoice>(mbs, skips)).data();
    }
    const DeviceArray<core::PictureParams> d_params(params);
    const DeviceArray<core::MacroblockRecord> d_macroblocks(macroblocks);
    const DeviceArray<core::MotionRecord> d_motion(motion);
    const DeviceArray<std::int8_t> d_offsets(offsets.empty() ? std::vector<std::int8_t>(1) : offsets);
    const DeviceArray<ChainView> d_chains(chains);
    encoder::cuda::StepView step;
    step.batch.pictures = static_cast<int>(pictures.size());
    step.batch.mb_width = first.mb_width, step.batch.mb_height = first.mb_height;
    step.batch.slices = first.slices;
    step.batch.params = d_params.data(), step.batch.macroblocks = d_macroblocks.data();
    step.batch.motion = d_motion.data();
    if (!offsets.empty()) step.batch.qp_offsets = d_offsets.data();
    step.chains = d_chains.data();
    encoder::cuda::launch_finish_motion(step, nullptr);
    check_cuda(cudaDeviceSynchronize(), "finishing the motion");
    const std::vector<core::MacroblockRecord> got_macroblocks = d_macroblocks.download();
    const std::vector<core::MotionRecord> got_motion = d_motion.download();
    for (std::size_t i = 0; i < macroblocks.size(); ++i) {
      const CpuPicture& expected = pictures[i / mbs].picture;
      const core::MacroblockRecord &mb = got_macroblocks[i], &host = expected.macroblocks[i % mbs];
      const std::string where =
          "picture " + std::to_string(i / mbs) + " macroblock " + std::to_string(i % mbs);
      ASSERT_EQ(static_cast<int>(mb.kind), static_cast<int>(host.kind)) << where;
      ASSERT_EQ(int{mb.qp}, int{host.qp}) << where;
      ASSERT_EQ(int{mb.mb_qp_delta}, int{host.mb_qp_delta}) << where;
      ASSERT_TRUE(same(mb, host)) << where;
      ASSERT_TRUE(same(got_motion[i], expected.motion[i % mbs])) << where;
    }
  }
};

// Partitions at random, with few vectors, so that many are predicted; the CPU's functions finish it.
Finished invented(int mb_width, int mb_height, int slices, int qp_offset, std::mt19937& random) {
  const auto uniform = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Finished out;
  out.params.key = false;
  CpuPicture& picture = out.picture;
  picture.resize(mb_width, mb_height, slices);
  picture.inter = true;
  picture.motion.resize(picture.macroblocks.size());
  const int most_vectors = uniform(0, 2), most_intra = uniform(0, 3);
  for (std::size_t i = 0; i < picture.macroblocks.size(); ++i) {
    core::MacroblockRecord& mb = picture.macroblocks[i];
    const bool inter = uniform(0, 4) >= most_intra;
    mb.kind = static_cast<MacroblockKind>(!inter ? uniform(0, 3) : uniform(0, 1) == 0 ? 4 : uniform(5, 7));
    const bool coded = mb.kind != MacroblockKind::pcm && uniform(0, 2) == 0;
    mb.coded_block_pattern = static_cast<std::uint8_t>(coded ? uniform(1, 47) : 0);
    core::MotionRecord& motion = picture.motion[i];
    for (int block = 0; block < 4 && inter; ++block) {
      const int begin = core::first_of_partition(mb.kind, block);
      motion.vector[block] = begin != block ? motion.vector[begin]
                                            : core::motion_vector(uniform(0, most_vectors), uniform(-1, 0));
    }
    if (qp_offset > 0) {
      picture.qp_offsets.push_back(static_cast<std::int8_t>(uniform(-qp_offset, qp_offset)));
      mb.qp = static_cast<std::uint8_t>(core::macroblock_qp(out.params.qp, picture.qp_offsets.back()));
    }
  }
  std::vector<std::size_t> skipped;
  for (int mb_y = 0; mb_y < mb_height; ++mb_y) {
    const int slice = core::slice_of_row(mb_y, slices, mb_height);
    const bool above = mb_y > core::slice_first_row(slice, slices, mb_height);
    for (int mb_x = 0; mb_x < mb_width; ++mb_x) {
      const std::size_t at = static_cast<std::size_t>(mb_y) * mb_width + mb_x;
      if (core::finish_motion(core::motion_place(mb_x, above, mb_width), &picture.macroblocks[at],
                              &picture.motion[at]))
        skipped.push_back(at);
    }
  }
  for (const std::size_t at : skipped) picture.macroblocks[at].kind = MacroblockKind::p_skip;
  if (qp_offset == 0) return out;
  for (int slice = 0; slice < slices; ++slice) encoder::set_mb_qp_deltas(picture, slice, out.params.qp);
  return out;
}

TEST_F(FinishMotionParity, InventedPictures) {
  std::mt19937 random(6);
  const int sizes[][2] = {{1, 1}, {1, 4}, {5, 1}, {2, 2}, {7, 5}, {20, 12}};
  for (const auto& [mb_width, mb_height] : sizes) {
    for (const int qp_offset : {0, 9}) {
      for (const int slices : {1, (mb_height + 1) / 2, mb_height}) {
        std::vector<Finished> pictures;
        for (int i = 0; i < 3; ++i)
          pictures.push_back(invented(mb_width, mb_height, slices, qp_offset, random));
        SCOPED_TRACE(std::to_string(mb_width) + "x" + std::to_string(mb_height) + " slices " +
                     std::to_string(slices) + " offsets " + std::to_string(qp_offset));
        expect_parity(pictures);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(FinishMotionParity, CodedPictures) {
  test::QuickCases cases(3);
  int slices = 0;
  for (const test::Motion motion : test::kMotions) {
    for (const int qp : {0, 22, 36}) {
      if (cases.leave_out()) continue;
      GopSettings settings;
      settings.qp = qp, settings.slices = 1 + slices++ % 4;
      settings.preset = qp % 4 == 0 ? Preset::balanced : Preset::fast;
      settings.qp_offset = slices % 2 == 0 ? 7 : 0;
      std::vector<Finished> pictures;
      for (CodedInGop& picture : code_gop(test::make_clip(motion, 104, 72, 4), settings)) {
        if (!picture.params.key) pictures.push_back({picture.params, std::move(picture.coded)});
      }
      SCOPED_TRACE(std::string(test::name_of(motion)) + " qp " + std::to_string(qp));
      expect_parity(pictures);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace cu264::parity
