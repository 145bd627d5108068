// The GPU tries intra prediction for the macroblocks for which the CPU does.
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "encoder/cuda/inter/estimate_intra.h"
#include "support/device_array.cuh"
#include "tests/parity/coded_gop.h"
#include "tests/parity/device_test.h"
#include "tests/support/moving_pictures.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

using encoder::InterChoice;
using encoder::cuda::ChainView;
using test::DeviceArray;

class EstimateIntraParity : public DeviceTest {
 protected:
  // Counts the answers that are yes and those that are no.
  int answers_[2] = {};

  void expect_parity(const std::vector<CodedInGop>& gop, const GopSettings& settings) {
    std::vector<core::PictureParams> params;
    std::vector<std::int8_t> offsets;
    std::deque<DeviceArray<InterChoice>> choices;
    std::deque<DeviceArray<std::uint8_t>> sources;
    std::vector<ChainView> chains;
    for (const CodedInGop& picture : gop) {
      if (picture.params.key) continue;
      params.push_back(picture.params);
      offsets.insert(offsets.end(), picture.coded.qp_offsets.begin(), picture.coded.qp_offsets.end());
      std::vector<InterChoice> before = picture.chain.choices;
      for (InterChoice& choice : before) choice.intra_is_likely = !choice.intra_is_likely;
      const encoder::PaddedPlane& source = picture.chain.source[picture.chain.current][0];
      ChainView& chain = chains.emplace_back();
      chain.choices = choices.emplace_back(before).data();
      chain.source[0].samples = sources.emplace_back(source.samples).data() +
                                (source.at(0, 0) - source.at(-source.pad, -source.pad));
      chain.source[0].pitch = static_cast<int>(source.pitch);
    }
    const DeviceArray<core::PictureParams> d_params(params);
    const DeviceArray<std::int8_t> d_offsets(offsets.empty() ? std::vector<std::int8_t>(1) : offsets);
    const DeviceArray<ChainView> d_chains(chains);
    encoder::cuda::StepView step;
    step.batch.pictures = static_cast<int>(params.size());
    step.batch.mb_width = gop[0].coded.mb_width, step.batch.mb_height = gop[0].coded.mb_height;
    step.batch.slices = settings.slices, step.batch.cabac = settings.cabac;
    step.batch.transform_8x8_mode = settings.transform_8x8_mode;
    step.batch.params = d_params.data();
    if (!offsets.empty()) step.batch.qp_offsets = d_offsets.data();
    step.chains = d_chains.data();
    encoder::cuda::launch_estimate_intra(step, settings.preset, nullptr);
    check_cuda(cudaDeviceSynchronize(), "estimating intra prediction");
    std::size_t picture = 0;
    for (const CodedInGop& coded : gop) {
      if (coded.params.key) continue;
      const std::vector<InterChoice> got = choices[picture++].download();
      for (std::size_t mb = 0; mb < got.size(); ++mb) {
        const bool expected = coded.chain.choices[mb].intra_is_likely;
        ASSERT_EQ(got[mb].intra_is_likely, expected) << "P picture " << picture << " macroblock " << mb;
        ++answers_[expected ? 1 : 0];
      }
    }
  }
};

TEST_F(EstimateIntraParity, CodedPictures) {
  test::QuickCases cases(5);
  int slices = 0;
  for (const test::Motion motion : test::kMotions) {
    for (const int qp : {0, 15, 22, 27, 36, 51}) {
      for (const Preset preset : {Preset::fast, Preset::balanced, Preset::best}) {
        if (cases.leave_out()) continue;
        GopSettings settings;
        settings.qp = qp, settings.preset = preset;
        settings.slices = 1 + slices++ % 4;
        settings.transform_8x8_mode = slices % 2 == 0, settings.cabac = slices % 3 == 0;
        settings.qp_offset = slices % 5 == 0 ? 7 : 0;
        SCOPED_TRACE(std::string(test::name_of(motion)) + " qp " + std::to_string(qp) + " preset " +
                     std::to_string(static_cast<int>(preset)));
        expect_parity(code_gop(test::make_clip(motion, 104, 72, 3), settings), settings);
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(answers_[0], 100);
  EXPECT_GT(answers_[1], 100);
}

TEST_F(EstimateIntraParity, SmallestSizes) {
  const int sizes[][2] = {{16, 16}, {16, 64}, {64, 16}};
  for (const auto& [width, height] : sizes) {
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    expect_parity(code_gop(test::make_clip(test::Motion::cut, width, height, 4), {}), {});
    expect_parity(code_gop(test::make_clip(test::Motion::noise, width, height, 4), {}), {});
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace cu264::parity
