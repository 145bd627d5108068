// Stage 3, `reconstruct`: the GPU's mode decisions, levels and samples are the CPU's, macroblock by
// macroblock.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "encoder/config.h"
#include "encoder/cpu/ingest.h"
#include "encoder/cpu/reconstruct_slice.h"
#include "support/encode.h"
#include "support/picture.h"
#include "tests/parity/device_pictures.h"
#include "tests/parity/device_test.h"
#include "tests/support/made_scaling_lists.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

using encoder::CpuPicture;
using test::Content;

struct Case {
  int width = 0;
  int height = 0;
  int qp = 27;
  Preset preset = Preset::fast;
  int slices = 1;
  PixelFormat format = PixelFormat::i420;
  int padding = 0;
  bool transform_8x8_mode = false;
  bool cabac = false;
  ScalingLists lists = {};
};

std::string text(const Case& c) {
  std::ostringstream out;
  out << c.width << 'x' << c.height << " qp " << c.qp << " preset " << static_cast<int>(c.preset)
      << " slices " << c.slices << " format " << static_cast<int>(c.format) << " padding " << c.padding
      << " 8x8 " << c.transform_8x8_mode << " cabac " << c.cabac;
  return out.str();
}

CpuPicture on_host(const Case& c, const test::Picture& picture) {
  CpuPicture out;
  out.resize(encoder::macroblocks(c.width), encoder::macroblocks(c.height), c.slices);
  out.transform_8x8_mode = c.transform_8x8_mode;
  out.cabac = c.cabac;
  out.scaling_lists = c.lists;
  const test::FrameBuffer frame(picture, c.format, c.padding);
  encoder::ingest(frame.view(), out);
  for (int slice = 0; slice < c.slices; ++slice) encoder::reconstruct_slice(out, slice, c.qp, c.preset);
  return out;
}

std::string text(const core::MacroblockRecord& r) {
  std::ostringstream out;
  out << "kind " << static_cast<int>(r.kind) << " i16 " << int{r.intra16x16_pred_mode} << " chroma "
      << int{r.intra_chroma_pred_mode} << " cbp " << int{r.coded_block_pattern} << " qp " << int{r.qp}
      << " 8x8 " << r.transform_8x8_mode << " delta " << int{r.mb_qp_delta} << " i4";
  for (const std::uint8_t mode : r.intra4x4_pred_mode) out << ' ' << int{mode};
  out << " nonzero " << std::hex << r.nonzero_blocks;
  return out.str();
}

bool equal(const core::MacroblockRecord& a, const core::MacroblockRecord& b) {
  return a.kind == b.kind && a.intra16x16_pred_mode == b.intra16x16_pred_mode &&
         a.intra_chroma_pred_mode == b.intra_chroma_pred_mode &&
         a.coded_block_pattern == b.coded_block_pattern && a.qp == b.qp && a.mb_qp_delta == b.mb_qp_delta &&
         a.transform_8x8_mode == b.transform_8x8_mode &&
         std::equal(a.intra4x4_pred_mode, a.intra4x4_pred_mode + 16, b.intra4x4_pred_mode) &&
         a.nonzero_blocks == b.nonzero_blocks;
}

// Describes the first sample of a macroblock that differs; empty if there is none.
std::string sample_difference(const CpuPicture& host, const CpuPicture& device, int mb_x, int mb_y) {
  for (int c = 0; c < 3; ++c) {
    const int size = c == 0 ? 16 : 8;
    for (int y = size * mb_y; y < size * (mb_y + 1); ++y) {
      for (int x = size * mb_x; x < size * (mb_x + 1); ++x) {
        const int a = host.reconstruction[c].row(y)[x], b = device.reconstruction[c].row(y)[x];
        if (a == b) continue;
        std::ostringstream out;
        out << "plane " << c << " sample (" << x << ", " << y << "): host " << a << ", device " << b;
        return out.str();
      }
    }
  }
  return {};
}

// Describes the first macroblock in coding order that differs, since later differences may follow from it;
// empty if there is none.
std::string first_difference(const CpuPicture& host, const CpuPicture& device) {
  for (std::size_t mb = 0; mb < host.macroblocks.size(); ++mb) {
    std::ostringstream out;
    const int mb_x = static_cast<int>(mb) % host.mb_width, mb_y = static_cast<int>(mb) / host.mb_width;
    out << "macroblock " << mb << " (" << mb_x << ", " << mb_y << "): ";
    const core::MacroblockRecord &a = host.macroblocks[mb], &b = device.macroblocks[mb];
    std::string found;
    if (!equal(a, b)) found += "\n  record\n    host   " + text(a) + "\n    device " + text(b);
    for (int i = 0; i < core::kLevelsPerMacroblock && found.size() < 2000; ++i) {
      const std::size_t at = mb * core::kLevelsPerMacroblock + i;
      if (host.levels[at] == device.levels[at]) continue;
      found += "\n  slot " + std::to_string(i / 16) + " coefficient " + std::to_string(i % 16) + ": host " +
               std::to_string(host.levels[at]) + ", device " + std::to_string(device.levels[at]);
    }
    for (int slot = 0; slot < core::kTotalCoeffStride; ++slot) {
      const std::size_t at = mb * core::kTotalCoeffStride + slot;
      if (host.total_coeff[at] == device.total_coeff[at]) continue;
      found += "\n  total_coeff of slot " + std::to_string(slot) + ": host " +
               std::to_string(host.total_coeff[at]) + ", device " + std::to_string(device.total_coeff[at]);
    }
    const std::string sample = sample_difference(host, device, mb_x, mb_y);
    if (!sample.empty()) found += "\n  " + sample;
    if (!found.empty()) return out.str() + found;
  }
  return {};
}

// So many pictures are not encoded by pairs of warps.
std::vector<test::Picture> many_pictures(int width, int height, int count = 25) {
  std::vector<test::Picture> pictures;
  for (int i = 0; i < count; ++i) {
    const Content content = test::kContents[static_cast<std::size_t>(i) % test::kContents.size()];
    pictures.push_back(test::make_picture(content, width, height, static_cast<std::uint32_t>(i + 1)));
  }
  return pictures;
}

class ReconstructParity : public DeviceTest {
 protected:
  // Each run finds other data from the run before in its memory.
  static void expect_parity(const Case& c, const std::vector<test::Picture>& pictures) {
    SourceBatch sources{c.format, c.width, c.height, c.padding, {}};
    std::vector<CpuPicture> expected;
    for (const test::Picture& picture : pictures) {
      sources.pictures.push_back(picture.samples);
      expected.push_back(on_host(c, picture));
    }
    DevicePictures device(sources, c.slices, true);
    for (int run = 0, runs = repetitions(3, 2); run < runs; ++run) {
      device.reconstruct(c.qp, c.preset, c.transform_8x8_mode, c.cabac, c.lists);
      for (std::size_t i = 0; i < pictures.size(); ++i) {
        const std::string difference = first_difference(expected[i], device.download(static_cast<int>(i)));
        ASSERT_TRUE(difference.empty()) << text(c) << "\nrun " << run << " picture " << i << " (of "
                                        << pictures.size() << ") " << difference;
      }
    }
  }

  static void expect_parity_for_presets(Case c, const std::vector<test::Picture>& pictures) {
    for (const Preset preset : {Preset::fast, Preset::balanced, Preset::best}) {
      c.preset = preset;
      expect_parity(c, pictures);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  static void expect_parity_with_both_coders(int width, int height, int count) {
    Case c{width, height};
    c.transform_8x8_mode = true;
    const std::vector<test::Picture> pictures = many_pictures(width, height, count);
    for (const bool cabac : {false, true}) {
      c.cabac = cabac;
      expect_parity_for_presets(c, pictures);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
};

TEST_F(ReconstructParity, OneMacroblock) {
  for (const Content content : test::kContents) {
    SCOPED_TRACE(test::name_of(content));
    expect_parity_for_presets({16, 16}, {test::make_picture(content, 16, 16)});
    if (HasFatalFailure()) return;
  }
}

TEST_F(ReconstructParity, EachContent) {
  for (const Content content : test::kContents) {
    SCOPED_TRACE(test::name_of(content));
    for (const int qp : {0, 10, 27, 44}) {
      expect_parity_for_presets({112, 80, qp}, {test::make_picture(content, 112, 80)});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(ReconstructParity, EveryQp) {
  const std::vector<test::Picture> pictures = test::make_all_contents(48, 48);
  for (int qp = 0; qp < 52; ++qp) {
    expect_parity_for_presets({48, 48, qp}, pictures);
    if (HasFatalFailure()) return;
  }
}

TEST_F(ReconstructParity, Sizes) {
  const int sizes[][2] = {{1, 1},   {1, 40},    {40, 1},    {17, 33},   {18, 34},     {95, 97},
                          {96, 96}, {352, 288}, {4104, 32}, {64, 2100}, {1919, 1079}, {8192, 16}};
  for (const auto& size : sizes) {
    Case c{size[0], size[1]};
    const std::vector<test::Picture> pictures = {test::make_picture(Content::natural, c.width, c.height)};
    for (const Preset preset : {Preset::fast, Preset::balanced}) {
      c.preset = preset;
      expect_parity(c, pictures);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(ReconstructParity, Slices) {
  for (const int slices : {2, 3, 7, 18}) {
    Case c{352, 288};
    c.slices = slices;
    expect_parity_for_presets(
        c, {test::make_picture(Content::natural, 352, 288), test::make_picture(Content::text, 352, 288)});
    if (HasFatalFailure()) return;
  }
}

TEST_F(ReconstructParity, LargeTransform) {
  Case c{64, 48};
  c.transform_8x8_mode = true;
  for (const Content content : test::kContents) {
    SCOPED_TRACE(test::name_of(content));
    c.qp = (c.qp + 20) % 52, c.slices = 1 + c.qp % 2;
    expect_parity_for_presets(c, {test::make_picture(content, 64, 48)});
    if (HasFatalFailure()) return;
  }
}

TEST_F(ReconstructParity, BitsOfCabac) {
  test::QuickCases cases(3);
  for (const bool transform_8x8_mode : {false, true}) {
    Case c{64, 48};
    c.transform_8x8_mode = transform_8x8_mode, c.cabac = true;
    for (const Content content : test::kContents) {
      if (cases.leave_out()) continue;
      SCOPED_TRACE(test::name_of(content));
      c.qp = (c.qp + 20) % 52, c.slices = 1 + c.qp % 2;
      expect_parity_for_presets(c, {test::make_picture(content, 64, 48)});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(ReconstructParity, BitsOfCabacAtAllQps) {
  Case c{48, 32};
  c.transform_8x8_mode = c.cabac = true;
  for (c.qp = 0; c.qp < 52; ++c.qp) {
    expect_parity_for_presets(
        c, {test::make_picture(Content::natural, 48, 32), test::make_picture(Content::noise, 48, 32)});
    if (HasFatalFailure()) return;
  }
}

TEST_F(ReconstructParity, BitsOfCabacOfManyPictures) {
  Case c{48, 32};
  c.cabac = true;
  for (const bool transform_8x8_mode : {false, true}) {
    c.transform_8x8_mode = transform_8x8_mode;
    expect_parity_for_presets(c, many_pictures(48, 32));
    if (HasFatalFailure()) return;
  }
}

TEST_F(ReconstructParity, LargeTransformOfManyPictures) {
  Case c{48, 32};
  c.transform_8x8_mode = true;
  const std::vector<test::Picture> pictures = many_pictures(48, 32);
  expect_parity_for_presets(c, pictures);
  const CpuPicture host = on_host(c, test::make_picture(Content::natural, 48, 32, 1));
  const auto is_large = [](const core::MacroblockRecord& r) {
    return r.kind == core::MacroblockKind::intra8x8;
  };
  EXPECT_TRUE(std::any_of(host.macroblocks.begin(), host.macroblocks.end(), is_large));
}

// Warps in step meet more than once in rows of this width, and the last thread block has too few rows for its
// warps.
TEST_F(ReconstructParity, WarpsInStep) {
  Case c{80, 32};
  c.transform_8x8_mode = true;
  expect_parity_for_presets(c, many_pictures(c.width, c.height, 29));
}

// So many rows make thread blocks as large as they become, up to 135 multiprocessors.
TEST_F(ReconstructParity, WarpsInStepThatFillTheDevice) {
  expect_parity_with_both_coders(96, 1584, 44);
}

// The same with few macroblocks, for tools that slow a kernel down: a block has two warps.
TEST_F(ReconstructParity, TwoWarpsInStep) {
  expect_parity_with_both_coders(32, 336, 13);
}

// By pairs of warps, and with one warp for each row.
TEST_F(ReconstructParity, ScalingLists) {
  for (const test::Lists lists : test::kLists) {
    SCOPED_TRACE(test::name_of_lists(lists));
    Case c{48, 32};
    c.transform_8x8_mode = true, c.lists = test::make_lists(lists);
    for (c.qp = static_cast<int>(lists); c.qp <= 51; c.qp += test::quick() ? 21 : 7) {
      std::vector<test::Picture> pictures = {test::make_picture(Content::natural, 48, 32),
                                             test::make_picture(Content::graded_noise, 48, 32, 3),
                                             test::extreme_picture(48, 32, static_cast<unsigned>(c.qp))};
      expect_parity_for_presets(c, pictures);
      if (HasFatalFailure()) return;
      if (c.qp % 2 == 0) continue;
      for (unsigned i = 0; i < 24; ++i) pictures.push_back(test::extreme_picture(48, 32, i));
      expect_parity_for_presets(c, pictures);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(ReconstructParity, FormatsAndPitches) {
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::nv12, PixelFormat::gray8}) {
    for (const int padding : {0, 1, 13, 64}) {
      Case c{99, 67};
      c.format = format, c.padding = padding;
      expect_parity(
          c, {test::make_picture(Content::natural, 99, 67), test::make_picture(Content::noise, 99, 67)});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(ReconstructParity, Batches) {
  for (const int batch : {2, 5, 31, 64}) {
    std::vector<test::Picture> pictures;
    for (int i = 0; i < batch; ++i) {
      const Content content = test::kContents[static_cast<std::size_t>(i) % test::kContents.size()];
      pictures.push_back(test::make_picture(content, 160, 96, static_cast<std::uint32_t>(i + 1)));
    }
    expect_parity_for_presets({160, 96}, pictures);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace cu264::parity
