// Entropy coding on the GPU, alone: levels of real pictures in device memory, NAL units in device memory.
//
//   bench_cavlc CLIP.yuv WIDTH HEIGHT [PICTURES] [QP ...]
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "bench/coded_clip.h"
#include "entropy/cavlc/code_batch.h"
#include "entropy/pack/pack_batch.h"
#include "tests/parity/device_array.cuh"

namespace cu264::bench {
namespace {

using parity::check;
using parity::DeviceArray;

// Median of milliseconds a launch.
float milliseconds(const std::function<void()>& launch) {
  constexpr int kRuns = 15;
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start), "event");
  check(cudaEventCreate(&stop), "event");
  std::vector<float> times;
  for (int run = 0; run < kRuns + 2; ++run) {
    check(cudaEventRecord(start), "event");
    launch();
    check(cudaEventRecord(stop), "event");
    check(cudaEventSynchronize(stop), "kernel");
    float time = 0;
    check(cudaEventElapsedTime(&time, start, stop), "event");
    if (run >= 2) times.push_back(time);
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2];
}

// The clip's pictures over and over, in device memory.
struct DeviceBatch {
  DeviceBatch(const std::vector<encoder::CpuPicture>& clip, int pictures)
      : macroblocks(repeat(clip, pictures, &encoder::CpuPicture::macroblocks)),
        levels(repeat(clip, pictures, &encoder::CpuPicture::levels)),
        total_coeff(repeat(clip, pictures, &encoder::CpuPicture::total_coeff)),
        samples(4),
        sources(std::vector<core::SourcePicture>(static_cast<std::size_t>(pictures),
                                                 {{samples.data(), samples.data(), samples.data()}, {}})) {
    view.pictures = pictures;
    view.width = view.height = 1;  // I_PCM reads one sample: its bits are as many as any others
    view.mb_width = clip[0].mb_width, view.mb_height = clip[0].mb_height;
    view.sources = sources.data();
    view.macroblocks = macroblocks.data();
    view.levels = levels.data();
    view.total_coeff = total_coeff.data();
  }

  template <class T>
  static std::vector<T> repeat(const std::vector<encoder::CpuPicture>& clip, int pictures,
                               std::vector<T> encoder::CpuPicture::*array) {
    std::vector<T> all;
    for (int i = 0; i < pictures; ++i) {
      const std::vector<T>& one = clip[static_cast<std::size_t>(i) % clip.size()].*array;
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  DeviceArray<core::MacroblockRecord> macroblocks;
  DeviceArray<std::int16_t> levels;
  DeviceArray<std::uint8_t> total_coeff, samples;
  DeviceArray<core::SourcePicture> sources;
  core::BatchView view;
};

void run(const std::string& path, int width, int height, int pictures, const std::vector<int>& qps) {
  constexpr std::size_t kCopyBytes = std::size_t{1} << 30;
  const DeviceArray<std::uint8_t> copy_from(kCopyBytes), copy_to(kCopyBytes);
  const float copy = milliseconds([&] {
    check(cudaMemcpyAsync(copy_to.data(), copy_from.data(), kCopyBytes, cudaMemcpyDeviceToDevice), "copy");
  });
  std::printf("device-to-device copy: %.0f GB/s read and written\n", 2e-6 * kCopyBytes / copy);
  std::printf("%s, %dx%d, batches of %d; microseconds a picture\n", path.c_str(), width, height, pictures);
  std::printf("%3s %12s %12s %12s\n", "QP", "bytes", "code", "code+pack");
  for (const int qp : qps) {
    const DeviceBatch batch(coded_clip(path, width, height, qp), pictures);
    const int mb_width = batch.view.mb_width, mb_height = batch.view.mb_height;
    const DeviceArray<std::uint8_t> scratch(entropy::pack_scratch_bytes(pictures, mb_width, mb_height, 1));
    const std::size_t capacity = pictures * entropy::max_packed_bytes(mb_width, mb_height, 1);
    const DeviceArray<std::uint8_t> stream(capacity);
    const DeviceArray<entropy::PackedPicture> packed(static_cast<std::size_t>(pictures));
    const DeviceArray<entropy::SliceHeaderBits> headers(
        std::vector<entropy::SliceHeaderBits>{{0xb84, 14}, {0xb85, 14}});
    const std::size_t mbs = static_cast<std::size_t>(pictures) * mb_width * mb_height;
    const DeviceArray<std::uint32_t> rows(mbs * entropy::kRowWords), lengths(mbs);
    const float code = milliseconds([&] {
      entropy::launch_code(batch.view, {rows.data(), lengths.data()}, nullptr);
    });
    const float all = milliseconds([&] {
      entropy::launch_code_and_pack(batch.view, headers.data(), 0, scratch.data(), stream.data(), capacity,
                                    packed.data(), nullptr);
    });
    const entropy::PackedPicture last = packed.download().back();
    std::printf("%3d %12.0f %12.2f %12.2f\n", qp, static_cast<double>(last.offset + last.size) / pictures,
                1e3 * code / pictures, 1e3 * all / pictures);
  }
}

}  // namespace
}  // namespace cu264::bench

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: bench_cavlc CLIP.yuv WIDTH HEIGHT [PICTURES] [QP ...]\n");
    return 1;
  }
  try {
    std::vector<int> qps;
    for (int i = 5; i < argc; ++i) qps.push_back(std::atoi(argv[i]));
    if (qps.empty()) qps = {0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50};
    cu264::bench::run(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), argc > 4 ? std::atoi(argv[4]) : 64,
                      qps);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_cavlc: %s\n", error.what());
    return 2;
  }
  return 0;
}
