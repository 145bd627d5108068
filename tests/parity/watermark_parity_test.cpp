// Watermarks: the streams of the CUDA backend are those of the CPU backend, byte for byte, from the kernels
// for small batches and from those for large ones.
#include <gtest/gtest.h>

#include <vector>

#include "cu264/protect.h"
#include "protect/fixed_nonce.h"
#include "support/encode.h"
#include "tests/parity/device_test.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

using Bytes = std::vector<std::uint8_t>;
using test::Content;

constexpr Preset kPresets[] = {Preset::fast, Preset::balanced, Preset::best};
constexpr WatermarkScheme kSchemes[] = {WatermarkScheme::t1_sign, WatermarkScheme::t1_parity};

ProtectionKey key() {
  return ProtectionKey(std::array<std::uint8_t, 32>{9, 8, 7, 1});
}

class WatermarkParity : public DeviceTest {
 protected:
  static void expect_parity(Config config, const std::vector<test::Picture>& pictures, int batch,
                            std::uint32_t density) {
    const protect::FixedNonce fixed(0x1234567890abcdef);
    for (const WatermarkScheme scheme : kSchemes) {
      config.watermark = EncoderWatermark{key(), {0xc5}, scheme, density};
      config.backend = BackendChoice::cpu;
      const test::EncodedStream host = test::encode(config, pictures);
      config.backend = BackendChoice::cuda;
      config.batch = batch;
      const test::EncodedStream device = test::encode(config, pictures);
      ASSERT_EQ(host.packets.size(), device.packets.size());
      for (std::size_t i = 0; i < host.packets.size(); ++i) {
        ASSERT_EQ(host.packets[i].data, device.packets[i].data)
            << "packet " << i << ", preset " << static_cast<int>(config.preset) << ", qp " << config.qp
            << ", scheme " << static_cast<int>(scheme);
        ASSERT_EQ(host.packets[i].reconstruction, device.packets[i].reconstruction) << "packet " << i;
      }
      EXPECT_EQ(run_tool(*make_watermark_extractor(key()), device.bytes()).payload, Bytes{0xc5});
      config.watermark.reset();
      EXPECT_NE(test::encode(config, pictures).packets.back().data, device.packets.back().data)
          << "nothing was marked";
    }
  }
};

// Batches for pairs of warps, with enough pictures for every bit of the payload to be drawn.
TEST_F(WatermarkParity, SmallBatches) {
  std::vector<test::Picture> pictures;
  for (std::uint32_t i = 0; i < 8; ++i) {
    pictures.push_back(test::make_picture(i % 4 == 3 ? Content::natural : Content::graded_noise, 80, 64, i));
  }
  test::QuickCases cases(4);
  for (const Preset preset : kPresets) {
    for (const int qp : {8, 16, 27}) {
      if (cases.leave_out()) continue;
      Config config = test::baseline_config();
      config.preset = preset, config.qp = qp, config.slices = qp == 16 ? 3 : 1;
      expect_parity(config, pictures, 3, qp == 16 ? 40000 : 65536);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(WatermarkParity, LargeTransform) {
  std::vector<test::Picture> pictures;
  for (std::uint32_t i = 0; i < 8; ++i)
    pictures.push_back(test::make_picture(Content::graded_noise, 64, 64, i));
  test::QuickCases cases(3);
  for (const Preset preset : kPresets) {
    Config config = test::baseline_config();
    config.profile = Profile::high, config.cavlc = true;
    config.preset = preset, config.qp = 20;
    for (const ScalingLists& lists : {ScalingLists{}, jvt_scaling_lists()}) {
      if (cases.leave_out()) continue;
      config.scaling_lists = lists;
      expect_parity(config, pictures, 3, 65536);
      if (HasFatalFailure()) return;
    }
  }
}

// Batches in which each warp encodes a row; the last batch is incomplete.
TEST_F(WatermarkParity, LargeBatches) {
  std::vector<test::Picture> pictures;
  for (std::uint32_t i = 0; i < 27; ++i)
    pictures.push_back(test::make_picture(Content::graded_noise, 48, 32, i));
  for (const Preset preset : kPresets) {
    Config config = test::baseline_config();
    config.preset = preset, config.qp = 18;
    expect_parity(config, pictures, 26, 65536);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace cu264::parity
