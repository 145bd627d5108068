// The kernels of motion estimation between P pictures, each by itself: microseconds a picture. Chains begin
// at different pictures of the clip. The picture before stands for the reference picture. Prints Markdown.
//
//   bench_inter CLIP.yuv WxH [CHAINS ...]      CLIP.yuv: I420
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu_bench.h"
#include "common/cuda/arena.h"
#include "encoder/config.h"
#include "encoder/cuda/inter/chain_memory.h"
#include "encoder/cuda/inter/half_samples.h"
#include "encoder/cuda/inter/refine_motion.h"
#include "encoder/cuda/inter/search_motion.h"
#include "encoder/cuda/inter/take_source.h"
#include "support/device_array.cuh"

namespace cu264::bench {
namespace {

using namespace encoder::cuda;
using test::DeviceArray;

constexpr int kRuns = 21, kQp = 27;

// The second picture of each chain, with the first as its reference.
class Step {
 public:
  Step(const Clip& clip, int chains)
      : frames_(static_cast<std::size_t>(chains)),
        memory_(chain_bytes(clip) * static_cast<std::size_t>(chains)) {
    const int mb_width = encoder::macroblocks(clip.width), mb_height = encoder::macroblocks(clip.height);
    BatchView& batch = view_.batch;
    batch.pictures = chains;
    batch.width = clip.width, batch.height = clip.height;
    batch.mb_width = mb_width, batch.mb_height = mb_height;
    for (int i = 0; i < chains; ++i) {
      Arena arena(memory_.data() + chain_bytes(clip) * static_cast<std::size_t>(i));
      chains_.push_back(take_chain(arena, mb_width, mb_height));
    }
    begin(clip, 0);
    for (ChainView& chain : chains_) {
      chain.advance();
    }
    begin(clip, 1);
    for (const ChainView& chain : chains_) copy_plane(chain.before[0], chain.luma[0], mb_width, mb_height);
    launch_half_samples(view_, nullptr);
    check_cuda(cudaDeviceSynchronize(), "the first pictures");
  }

  const StepView& view() const { return view_; }

 private:
  static std::size_t chain_bytes(const Clip& clip) {
    Arena counter(nullptr);
    take_chain(counter, encoder::macroblocks(clip.width), encoder::macroblocks(clip.height));
    return counter.bytes();
  }
  static void copy_plane(const DevicePlane& from, const DevicePlane& to, int mb_width, int mb_height) {
    constexpr int kPad = core::kReferencePad;
    check_cuda(
        cudaMemcpy2D(to.at(-kPad, -kPad), static_cast<std::size_t>(to.pitch), from.at(-kPad, -kPad),
                     static_cast<std::size_t>(from.pitch), static_cast<std::size_t>(16 * mb_width + 2 * kPad),
                     static_cast<std::size_t>(16 * mb_height + 2 * kPad), cudaMemcpyDeviceToDevice),
        "copying a plane");
  }

  void begin(const Clip& clip, int index) {
    std::vector<core::SourcePicture> sources(chains_.size());
    std::vector<core::PictureParams> params(chains_.size());
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      const std::size_t frame = (5 * i + static_cast<std::size_t>(index)) % clip.frames.size();
      frames_[i] = std::make_unique<DeviceArray<std::uint8_t>>(clip.frames[frame]);
      sources[i].plane[0] = frames_[i]->data(), sources[i].pitch[0] = clip.width;
      params[i].key = index == 0, params[i].qp = kQp;
    }
    d_sources_ = std::make_unique<DeviceArray<core::SourcePicture>>(sources);
    d_params_ = std::make_unique<DeviceArray<core::PictureParams>>(params);
    d_chains_ = std::make_unique<DeviceArray<ChainView>>(chains_);
    view_.batch.sources = d_sources_->data(), view_.batch.params = d_params_->data();
    view_.chains = d_chains_->data();
    launch_take_source(view_, nullptr);
    check_cuda(cudaDeviceSynchronize(), "taking sources");
  }

  StepView view_;
  std::vector<ChainView> chains_;
  std::vector<std::unique_ptr<DeviceArray<std::uint8_t>>> frames_;
  DeviceArray<std::uint8_t> memory_;
  std::unique_ptr<DeviceArray<core::SourcePicture>> d_sources_;
  std::unique_ptr<DeviceArray<core::PictureParams>> d_params_;
  std::unique_ptr<DeviceArray<ChainView>> d_chains_;
};

void measure(const Clip& clip, int chains, Preset preset) {
  const Step made(clip, chains);
  const StepView& step = made.view();
  const PictureRange everything{0, chains};
  double all = 0;
  const auto print = [&](const char* stage, const std::function<void()>& launch) {
    const double microseconds = 1000 * device_milliseconds(kRuns, launch) / chains;
    all += microseconds;
    std::printf("| %d | %s | %s | %.2f |\n", chains, preset == Preset::fast ? "fast" : "others", stage,
                microseconds);
  };
  print("sources", [&] { launch_take_source(step, nullptr); });
  print("search, quarter size", [&] { launch_search_quarter(step, preset, everything, nullptr); });
  print("search, half size", [&] { launch_search_half(step, preset, everything, nullptr); });
  print("search, full size", [&] { launch_search_whole(step, preset, 0, everything, nullptr); });
  print("search, full size again", [&] { launch_search_whole(step, preset, 1, everything, nullptr); });
  if (preset != Preset::fast)
    print("search, 8x8 blocks", [&] { launch_search_blocks(step, preset, everything, nullptr); });
  print("half samples", [&] { launch_half_samples(step, nullptr); });
  print("refinement", [&] { launch_refine(step, preset, everything, nullptr); });
  print("merge", [&] { launch_merge(step, preset, 0, everything, nullptr); });
  print("merge again", [&] { launch_merge(step, preset, 1, everything, nullptr); });
  std::printf("| %d | %s | all | %.2f |\n", chains, preset == Preset::fast ? "fast" : "others", all);
}

// All passes, with so many pictures together.
void measure_groups(const Clip& clip, int chains, Preset preset) {
  const Step made(clip, chains);
  const StepView& step = made.view();
  for (int together = 1; together <= chains; together *= 2) {
    const auto time = [&](const std::function<void()>& launch) {
      return 1000 * device_milliseconds(kRuns, launch) / chains;
    };
    std::printf("| %d | %s | %d | %.2f | %.2f |\n", chains, preset == Preset::fast ? "fast" : "others",
                together, time([&] { launch_motion_search(step, preset, nullptr, together); }),
                time([&] { launch_motion_refinement(step, preset, nullptr, together); }));
  }
}

void run(int argc, char** argv) {
  const Clip clip = read_clip(argv[1], argv[2]);
  std::vector<int> counts;
  for (int i = 3; i < argc; ++i) counts.push_back(std::max(1, std::atoi(argv[i])));
  if (counts.empty()) counts = {1, 16, 64};
  std::printf("%s, %dx%d, QP %d\n\n| chains | presets | stage | us a picture |\n|---:|---|---|---:|\n",
              clip.name.c_str(), clip.width, clip.height, kQp);
  for (const Preset preset : {Preset::fast, Preset::balanced}) {
    for (const int chains : counts) measure(clip, chains, preset);
  }
  std::printf("\n| chains | presets | together | search, us a picture | refinement and merges |\n");
  std::printf("|---:|---|---:|---:|---:|\n");
  for (const Preset preset : {Preset::fast, Preset::balanced}) {
    for (const int chains : counts) measure_groups(clip, chains, preset);
  }
}

}  // namespace
}  // namespace cu264::bench

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: bench_inter CLIP.yuv WxH [CHAINS ...]\n");
    return 2;
  }
  try {
    cu264::bench::run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_inter: %s\n", error.what());
    return 1;
  }
}
