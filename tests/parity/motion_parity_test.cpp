// Motion estimation on the device finds what the CPU backend's passes find: every plane, every vector, every
// SATD and every choice.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/cuda/arena.h"
#include "core/cost.h"
#include "encoder/config.h"
#include "encoder/cpu/ingest.h"
#include "encoder/cpu/p_picture.h"
#include "encoder/cpu/reconstruct_slice.h"
#include "encoder/cuda/inter/chain_memory.h"
#include "encoder/cuda/inter/half_samples.h"
#include "encoder/cuda/inter/refine_motion.h"
#include "encoder/cuda/inter/search_motion.h"
#include "encoder/cuda/inter/take_source.h"
#include "support/device_array.cuh"
#include "tests/parity/device_test.h"
#include "tests/support/moving_pictures.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

using namespace encoder;
using encoder::cuda::ChainView;
using encoder::cuda::DevicePlane;
using test::DeviceArray;

class MotionParity : public DeviceTest {};

struct MotionCase {
  int width, height;
  int slices = 1;
  Preset preset = Preset::fast;
  bool cabac = false;
  bool transform_8x8_mode = false;
  int padding = 0;   // bytes at the end of a source's rows
  int together = 0;  // pictures in a launch; 0: all
};

std::string text_of(const MotionCase& c) {
  return std::to_string(c.width) + "x" + std::to_string(c.height) + ", " + std::to_string(c.slices) +
         " slices, preset " + std::to_string(static_cast<int>(c.preset)) + (c.cabac ? ", CABAC" : "");
}

// A chain and its pictures, one after another.
struct ChainContent {
  std::vector<test::Picture> pictures;
  int qp;
};

const ForRows kOneAfterAnother = [](int count, const std::function<void(int row)>& work) {
  for (int row = 0; row < count; ++row) work(row);
};

// A chain of the CPU backend, whose reconstruction is the source with errors.
struct CpuChain {
  CpuChain(const MotionCase& c, const ChainContent& chain_content) : test_case(c), content(chain_content) {
    picture.resize(macroblocks(c.width), macroblocks(c.height), c.slices);
    picture.cabac = c.cabac, picture.transform_8x8_mode = c.transform_8x8_mode;
    memory.resize(picture.mb_width, picture.mb_height);
  }

  PPicture view() { return {picture, memory, content.qp, test_case.preset}; }

  void take(int index) {
    const test::Picture& from = content.pictures[static_cast<std::size_t>(index)];
    Frame frame;
    frame.format = PixelFormat::i420, frame.width = from.width, frame.height = from.height;
    for (int p = 0; p < 3; ++p) frame.plane[p] = from.plane(p), frame.pitch[p] = from.plane_width(p);
    ingest(frame, picture);
    picture.inter = index > 0;
    begin_picture(view(), false, kOneAfterAnother);
  }
  void estimate() {
    const auto run = [&](PPass pass, int rows) {
      for (int row = 0; row < rows; ++row) run_p_pass(view(), pass, row);
    };
    run(PPass::search_quarter, memory.region_height);
    for (const PPass pass : {PPass::search_half, PPass::search_whole, PPass::search_whole_again})
      run(pass, memory.mb_height);
    if (test_case.preset != Preset::fast) run(PPass::search_blocks, memory.mb_height);
    for (const PPass pass : {PPass::refine, PPass::merge}) run(pass, memory.mb_height);
    refined = memory.refined;
    run(PPass::merge_again, memory.mb_height);
  }
  void finish_picture() {
    const int error = 1 + content.qp / 6;
    for (int p = 0; p < 3; ++p) {
      std::uint32_t random = 7;
      for (std::size_t i = 0; i < picture.source[p].samples.size(); ++i) {
        random = random * 1664525u + 1013904223u;
        const int sample =
            picture.source[p].samples[i] + static_cast<int>(random >> 16) % (2 * error + 1) - error;
        picture.reconstruction[p].samples[i] = static_cast<std::uint8_t>(std::clamp(sample, 0, 255));
      }
    }
    keep_picture(view());
    encoder::take_reference(memory, kOneAfterAnother);
  }

  MotionCase test_case;
  ChainContent content;
  CpuPicture picture;
  GopChain memory;
  std::vector<PartitionVectors> refined;
};

// Memory of a chain on the device, poisoned at first.
struct DeviceChain {
  static std::size_t bytes_of(const CpuChain& cpu) {
    Arena counter(nullptr);
    encoder::cuda::take_chain(counter, cpu.memory.mb_width, cpu.memory.mb_height);
    return counter.bytes();
  }

  explicit DeviceChain(const CpuChain& cpu) : memory(std::vector<std::uint8_t>(bytes_of(cpu), 0xa5)) {
    Arena arena(memory.data());
    view = encoder::cuda::take_chain(arena, cpu.memory.mb_width, cpu.memory.mb_height);
  }

  void fetch() { host = memory.download(); }
  template <class T>
  const T* on_host(const T* d_array) const {
    return reinterpret_cast<const T*>(host.data() +
                                      (reinterpret_cast<const std::uint8_t*>(d_array) - memory.data()));
  }
  void put(const DevicePlane& plane, const PaddedPlane& samples) const {
    for (int y = -samples.pad; y < samples.height + samples.pad; ++y) {
      check_cuda(cudaMemcpy(plane.at(-samples.pad, y), samples.at(-samples.pad, y),
                            static_cast<std::size_t>(samples.pitch), cudaMemcpyHostToDevice),
                 "upload");
    }
  }

  DeviceArray<std::uint8_t> memory;
  ChainView view;
  std::vector<std::uint8_t> host;
};

void expect_plane(const char* name, const PaddedPlane& expected, int pad, const DeviceChain& chain,
                  const DevicePlane& plane) {
  const std::uint8_t* const found = chain.on_host(plane.samples);
  for (int y = -pad; y < expected.height + pad; ++y) {
    for (int x = -pad; x < expected.width + pad; ++x) {
      ASSERT_EQ(int{*expected.at(x, y)}, int{found[static_cast<std::ptrdiff_t>(y) * plane.pitch + x]})
          << name << " at (" << x << ", " << y << ")";
    }
  }
}

void expect_sources(const CpuChain& cpu, const DeviceChain& chain) {
  static constexpr const char* names[] = {"source", "source of half size", "source of quarter size"};
  for (int i = 0; i < ChainView::kSizes; ++i) {
    const PaddedPlane& expected = cpu.memory.source[cpu.memory.current][i];
    expect_plane(names[i], expected, expected.pad, chain, chain.view.source[i]);
  }
}

std::string text_of(core::MotionVector v) {
  return "(" + std::to_string(v.x) + ", " + std::to_string(v.y) + ")";
}

void expect_vectors(const char* name, const std::vector<core::MotionVector>& expected,
                    const DeviceChain& chain, const core::MotionVector* d_vectors) {
  const core::MotionVector* const found = chain.on_host(d_vectors);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(text_of(expected[i]), text_of(found[i])) << name << ", " << i;
}

void expect_motion(const CpuChain& cpu, const DeviceChain& chain) {
  const GopChain& memory = cpu.memory;
  const ChainView& view = chain.view;
  expect_vectors("quarter size", memory.quarter, chain, view.quarter);
  expect_vectors("half size", memory.half, chain, view.half);
  for (int pass = 0; pass < 2; ++pass)
    expect_vectors("full size", memory.whole[pass], chain, view.whole[pass]);
  const bool partitions = cpu.test_case.preset != Preset::fast;
  if (partitions) expect_vectors("8x8 blocks", memory.blocks, chain, view.blocks);
  const PartitionVectors* const refined = chain.on_host(view.refined);
  const InterChoice* const choices = chain.on_host(view.choices);
  for (std::size_t mb = 0; mb < memory.choices.size(); ++mb) {
    SCOPED_TRACE("macroblock " + std::to_string(mb));
    for (int i = 0; i < (partitions ? core::kPartitions : 1); ++i) {
      ASSERT_EQ(text_of(cpu.refined[mb].vector[i]), text_of(refined[mb].vector[i])) << "partition " << i;
      ASSERT_EQ(cpu.refined[mb].satd[i], refined[mb].satd[i]) << "partition " << i;
    }
    for (int pass = 1; pass >= 0; --pass) {
      const core::MotionRecord& found = chain.on_host(view.fields[pass])[mb];
      for (int block = 0; block < 4; ++block) {
        ASSERT_EQ(text_of(memory.fields[pass][mb].vector[block]), text_of(found.vector[block]))
            << "field " << pass << ", block " << block;
      }
    }
    const InterChoice &expected = memory.choices[mb], &found = choices[mb];
    ASSERT_EQ(static_cast<int>(expected.kind), static_cast<int>(found.kind));
    ASSERT_EQ(expected.skips, found.skips);
    ASSERT_EQ(expected.bits, found.bits);
    ASSERT_EQ(expected.satd, found.satd);
    ASSERT_EQ(expected.rd_cost, found.rd_cost);
    ASSERT_EQ(expected.intra_is_likely, found.intra_is_likely);
  }
}

// The chains' pictures as a step on the device.
class DeviceSteps {
 public:
  DeviceSteps(const MotionCase& c, const std::vector<std::unique_ptr<CpuChain>>& cpu) : case_(c), cpu_(cpu) {
    for (const auto& chain : cpu) chains_.push_back(std::make_unique<DeviceChain>(*chain));
  }

  void begin(int index) {
    const std::size_t count = cpu_.size();
    std::vector<core::SourcePicture> sources(count);
    std::vector<core::PictureParams> params(count);
    std::vector<ChainView> views;
    samples_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const test::Picture& picture = cpu_[i]->content.pictures[static_cast<std::size_t>(index)];
      // Each chain's source begins elsewhere.
      const std::size_t begin = i % 5, pitch = static_cast<std::size_t>(picture.width + case_.padding);
      std::vector<std::uint8_t> luma(begin + pitch * static_cast<std::size_t>(picture.height), 0xee);
      for (int y = 0; y < picture.height; ++y) {
        std::copy_n(picture.plane(0) + y * picture.width, picture.width,
                    luma.begin() + static_cast<std::ptrdiff_t>(begin + static_cast<std::size_t>(y) * pitch));
      }
      samples_.push_back(std::make_unique<DeviceArray<std::uint8_t>>(luma));
      sources[i].plane[0] = samples_.back()->data() + begin;
      sources[i].pitch[0] = static_cast<std::ptrdiff_t>(pitch);
      params[i].qp = static_cast<std::uint8_t>(cpu_[i]->content.qp);
      params[i].key = index == 0;
      ChainView& view = chains_[i]->view;
      if (index > 0) view.advance();
      views.push_back(view);
    }
    d_sources_ = std::make_unique<DeviceArray<core::SourcePicture>>(sources);
    d_params_ = std::make_unique<DeviceArray<core::PictureParams>>(params);
    d_views_ = std::make_unique<DeviceArray<ChainView>>(views);
    core::BatchView& batch = step_.batch;
    batch.pictures = static_cast<int>(count);
    batch.width = case_.width, batch.height = case_.height;
    batch.mb_width = cpu_[0]->picture.mb_width, batch.mb_height = cpu_[0]->picture.mb_height;
    batch.slices = case_.slices, batch.cabac = case_.cabac;
    batch.transform_8x8_mode = case_.transform_8x8_mode;
    batch.sources = d_sources_->data(), batch.params = d_params_->data();
    step_.chains = d_views_->data();
    encoder::cuda::launch_take_source(step_, nullptr);
  }
  void estimate() {
    encoder::cuda::launch_motion_search(step_, case_.preset, nullptr, case_.together);
    encoder::cuda::launch_motion_refinement(step_, case_.preset, nullptr, case_.together);
  }
  void take_reference() {
    for (std::size_t i = 0; i < chains_.size(); ++i)
      chains_[i]->put(chains_[i]->view.luma[0], cpu_[i]->memory.luma[0]);
    encoder::cuda::launch_half_samples(step_, nullptr);
  }
  const std::vector<std::unique_ptr<DeviceChain>>& fetch() {
    check_cuda(cudaDeviceSynchronize(), "the kernels");
    for (const auto& chain : chains_) chain->fetch();
    return chains_;
  }

 private:
  const MotionCase case_;
  const std::vector<std::unique_ptr<CpuChain>>& cpu_;
  std::vector<std::unique_ptr<DeviceChain>> chains_;
  std::vector<std::unique_ptr<DeviceArray<std::uint8_t>>> samples_;
  std::unique_ptr<DeviceArray<core::SourcePicture>> d_sources_;
  std::unique_ptr<DeviceArray<core::PictureParams>> d_params_;
  std::unique_ptr<DeviceArray<ChainView>> d_views_;
  encoder::cuda::StepView step_;
};

void expect_motion_parity(const MotionCase& c, const std::vector<ChainContent>& contents) {
  SCOPED_TRACE(text_of(c));
  std::vector<std::unique_ptr<CpuChain>> cpu;
  for (const ChainContent& content : contents) cpu.push_back(std::make_unique<CpuChain>(c, content));
  DeviceSteps steps(c, cpu);
  const int pictures = static_cast<int>(contents[0].pictures.size());
  for (int index = 0; index < pictures; ++index) {
    SCOPED_TRACE("picture " + std::to_string(index));
    for (const auto& chain : cpu) chain->take(index);
    steps.begin(index);
    if (index > 0) {
      for (const auto& chain : cpu) chain->estimate();
      steps.estimate();
    }
    const auto& found = steps.fetch();
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      SCOPED_TRACE("chain " + std::to_string(i));
      ASSERT_NO_FATAL_FAILURE(expect_sources(*cpu[i], *found[i]));
      if (index > 0) {
        ASSERT_NO_FATAL_FAILURE(expect_motion(*cpu[i], *found[i]));
      }
    }
    for (const auto& chain : cpu) chain->finish_picture();
    steps.take_reference();
    steps.fetch();
    static constexpr const char* names[] = {"reference", "half samples to the right", "below", "both"};
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      SCOPED_TRACE("chain " + std::to_string(i));
      for (int plane = 1; plane < core::kReferencePlanes; ++plane) {
        ASSERT_NO_FATAL_FAILURE(expect_plane(names[plane], cpu[i]->memory.luma[plane], core::kHalfSamplePad,
                                             *found[i], found[i]->view.luma[plane]));
      }
    }
  }
}

// A chain for each kind of motion, with QPs from `qps` in turn.
std::vector<ChainContent> chains_of(const MotionCase& c, const std::vector<test::Motion>& motions,
                                    const std::vector<int>& qps, int pictures) {
  std::vector<ChainContent> contents;
  for (std::size_t i = 0; i < motions.size(); ++i) {
    contents.push_back(
        {test::make_clip(motions[i], c.width, c.height, pictures,
                         static_cast<std::uint32_t>(c.width + 3 * c.height + static_cast<int>(i))),
         qps[i % qps.size()]});
  }
  return contents;
}

const std::vector<test::Motion> kAllMotions(test::kMotions.begin(), test::kMotions.end());

constexpr Preset kPresets[] = {Preset::fast, Preset::balanced};

TEST_F(MotionParity, OneMacroblock) {
  for (const Preset preset : kPresets) {
    const MotionCase c{16, 16, 1, preset};
    expect_motion_parity(c, chains_of(c, kAllMotions, {0, 20, 40, 51, 27}, 3));
  }
}

TEST_F(MotionParity, SmallPictures) {
  for (const Preset preset : kPresets) {
    for (const int slices : {1, 2, 3}) {
      const MotionCase c{48, 32 + 16 * (slices / 3), slices, preset, slices == 2, false, slices, slices + 1};
      expect_motion_parity(c, chains_of(c, kAllMotions, {51, 40, 20, 0, 30}, 3));
    }
  }
}

// Flat pictures, checkers and noise, from one to another.
TEST_F(MotionParity, ExtremePictures) {
  for (const Preset preset : kPresets) {
    const MotionCase c{64, 48, 1, preset};
    std::vector<ChainContent> contents;
    for (std::size_t first = 0; first < test::kContents.size(); ++first) {
      ChainContent& content = contents.emplace_back();
      content.qp = static_cast<int>(first) * 51 / static_cast<int>(test::kContents.size() - 1);
      for (std::size_t i = 0; i < 3; ++i) {
        const test::Content kind = test::kContents[(first + i / 2) % test::kContents.size()];
        content.pictures.push_back(
            test::make_picture(kind, c.width, c.height, static_cast<std::uint32_t>(first + i)));
      }
    }
    expect_motion_parity(c, contents);
  }
}

TEST_F(MotionParity, PicturesThatAreNoWholeMacroblocks) {
  test::QuickCases cases(5);
  for (const Preset preset : kPresets) {
    for (const int slices : {1, 2, 4}) {
      for (const bool cabac : {false, true}) {
        if (cases.leave_out()) continue;
        const MotionCase c{200, 104, slices, preset, cabac, cabac, 3 * slices};
        expect_motion_parity(c, chains_of(c, kAllMotions, {20, 0, 51, 40}, 3));
      }
    }
  }
}

TEST_F(MotionParity, ManyQps) {
  const MotionCase c{70, 50, 2, Preset::balanced, true};
  for (int first = 0; first < 52; first += 8) {
    std::vector<int> qps;
    for (int qp = first; qp < std::min(first + 8, 52); ++qp) qps.push_back(qp);
    expect_motion_parity(c, chains_of(c, kAllMotions, qps, 3));
  }
}

TEST_F(MotionParity, LargePictures) {
  for (const Preset preset : {Preset::fast, Preset::balanced, Preset::best}) {
    const MotionCase c{1920, 1080, 4, preset, true};
    expect_motion_parity(
        c, chains_of(c, {test::Motion::slow, test::Motion::fast, test::Motion::noisy}, {27}, 3));
  }
}

}  // namespace
}  // namespace cu264::parity
