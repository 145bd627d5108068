// Times what rate control measures a picture with: the kernel alone, with one picture or several in a launch;
// the analyser with frames on the device and from the host; the CPU's analyser. First it checks that all
// frames have the same measure on both.
//
//   bench_measure CLIP.yuv WIDTHxHEIGHT
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu_bench.h"
#include "common/cuda/memory_cache.h"
#include "encoder/config.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/cuda/measure_picture.h"
#include "encoder/rate_control/weight_steps.h"
#include "encoder/stream_params.h"

namespace cu264::bench {
namespace {

constexpr int kRuns = 15;

Frame host_frame(const Clip& clip, std::size_t index) {
  Frame frame;
  frame.width = clip.width, frame.height = clip.height;
  const std::uint8_t* const samples = clip.frames[index % clip.frames.size()].data();
  frame.plane[0] = samples;
  frame.plane[1] = samples + clip.luma_bytes();
  frame.plane[2] = frame.plane[1] + clip.luma_bytes() / 4;
  frame.pitch[0] = clip.width, frame.pitch[1] = frame.pitch[2] = clip.width / 2;
  return frame;
}

bool same(const core::PictureMeasure& a, const core::PictureMeasure& b) {
  return a.macroblocks == b.macroblocks && a.measured == b.measured && a.activity == b.activity &&
         a.weights == b.weights && std::memcmp(a.histogram, b.histogram, sizeof a.histogram) == 0;
}

// Microseconds a picture of `analyse`, whose results are read 64 pictures later.
double analysis_microseconds(encoder::Analyser& analyser, int pictures,
                             const std::function<Frame(std::size_t)>& frame) {
  std::vector<double> times;
  for (int run = 0; run < 5; ++run) {
    std::vector<std::unique_ptr<encoder::AnalysedFrame>> held(64);
    const StopWatch watch;
    for (int i = 0; i < pictures; ++i) {
      auto& slot = held[static_cast<std::size_t>(i) % held.size()];
      if (slot) slot->measure();
      slot = analyser.analyse(frame(static_cast<std::size_t>(i)), nullptr, {});
    }
    for (auto& slot : held) {
      if (slot) slot->measure();
    }
    times.push_back(watch.seconds() * 1e6 / pictures);
  }
  return median(times);
}

int run(const std::string& path, const std::string& size) {
  const Clip clip = read_clip(path, size);
  Config config;
  config.width = clip.width, config.height = clip.height;
  encoder::StreamParams params = encoder::stream_params(config);
  params.pacing.controls_rate = true;
  params.decisions.aq = encoder::AqParams{encoder::AqMode::variance, encoder::kStrengthOne};
  const auto on_host = encoder::make_cpu_analyser(params);
  const auto on_device =
      encoder::cuda::make_device_analyser(params, 0, encoder::cuda::MeasureInput::kMaxPictures);
  for (std::size_t i = 0; i < clip.frames.size(); ++i) {
    const auto device = on_device->analyse(host_frame(clip, i), nullptr, {});
    const auto host = on_host->analyse(host_frame(clip, i), nullptr, {});
    if (same(device->measure(), host->measure())) continue;
    std::printf("frame %zu has another measure on the device\n", i);
    return 1;
  }
  std::printf("%zu frames have the same measure on both\n", clip.frames.size());

  const FramePool device_pool(clip, MemoryKind::device), pinned_pool(clip, MemoryKind::pinned);
  constexpr int kMax = encoder::cuda::MeasureInput::kMaxPictures;
  const CachedMemory sums = take_device(kMax * sizeof(encoder::cuda::MeasureSums), 0);
  const CachedMemory results = take_pinned(kMax * sizeof(core::PictureMeasure));
  auto* const d_sums = reinterpret_cast<encoder::cuda::MeasureSums*>(sums.get());
  check_cuda(cudaMemset(d_sums, 0, kMax * sizeof *d_sums), "cudaMemset");
  for (const auto& [together, launches] : {std::pair{1, 1}, {1, 64}, {4, 16}, {16, 1}, {16, 16}}) {
    encoder::cuda::MeasureInput input;
    input.width = clip.width, input.height = clip.height, input.aq_strength = encoder::kStrengthOne;
    input.pictures = together;
    const double milliseconds = device_milliseconds(kRuns, [&] {
      for (int i = 0; i < launches * together; ++i) {
        const Frame frame = device_pool.frame(static_cast<std::uint64_t>(i));
        auto& picture = input.picture[i % together];
        picture.format = frame.format;
        for (int p = 0; p < 3; ++p)
          picture.planes.plane[p] = frame.plane[p], picture.planes.pitch[p] = frame.pitch[p];
        if ((i + 1) % together != 0) continue;
        encoder::cuda::launch_measure(input, d_sums, reinterpret_cast<core::PictureMeasure*>(results.get()),
                                      nullptr);
      }
    });
    std::printf("kernel, %2d launches of %2d pictures: %.2f us a picture\n", launches, together,
                milliseconds * 1e3 / (launches * together));
  }
  const auto device_frame = [&](std::size_t i) { return device_pool.frame(i); };
  const auto pinned_frame = [&](std::size_t i) { return pinned_pool.frame(i); };
  const auto plain_frame = [&](std::size_t i) { return host_frame(clip, i); };
  std::printf("analyser, frames on the device: %.2f us a picture\n",
              analysis_microseconds(*on_device, 512, device_frame));
  std::printf("analyser, page-locked frames:   %.2f us a picture\n",
              analysis_microseconds(*on_device, 256, pinned_frame));
  std::printf("analyser, frames from the host: %.2f us a picture\n",
              analysis_microseconds(*on_device, 64, plain_frame));
  std::printf("the CPU's analyser:             %.0f us a picture\n",
              analysis_microseconds(*on_host, 8, plain_frame));
  return 0;
}

}  // namespace
}  // namespace cu264::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: bench_measure CLIP.yuv WIDTHxHEIGHT\n");
    return 1;
  }
  try {
    return cu264::bench::run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_measure: error: %s\n", error.what());
    return 1;
  }
}
