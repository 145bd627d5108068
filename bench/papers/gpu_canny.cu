// GUD-Canny on the GPU: the published form and the library's, one picture at a time, with and without the
// transfers from and to page-locked host memory.
#include <algorithm>
#include <functional>
#include <memory>

#include "bench/papers/gpu_experiments.h"
#include "bench/papers/json_row.h"
#include "bench/papers/pgm.h"
#include "common/cuda/error_check.h"
#include "cu264/canny.h"
#include "support/device_array.cuh"
#include "vision/cuda/canny_plan.h"
#include "vision/detector_backend.h"
#include "vision/published/published_canny.h"

namespace cu264::bench {
namespace {

using test::DeviceArray;
using vision::Partition;
using vision::cuda::CannyPlan;
using vision::cuda::PublishedPlan;

constexpr int kRuns = 31;

class Events {
 public:
  explicit Events(int count) : events_(static_cast<std::size_t>(count)) {
    for (cudaEvent_t& event : events_) check_cuda(cudaEventCreate(&event), "creating an event");
  }
  ~Events() {
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  cudaEvent_t* data() { return events_.data(); }
  void record(int i) { check_cuda(cudaEventRecord(events_[static_cast<std::size_t>(i)]), "event"); }
  double milliseconds(int from, int to) const {
    float time = 0;
    check_cuda(cudaEventElapsedTime(&time, events_[static_cast<std::size_t>(from)],
                                    events_[static_cast<std::size_t>(to)]),
               "event");
    return time;
  }

 private:
  std::vector<cudaEvent_t> events_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct PinnedBytes {
  explicit PinnedBytes(std::size_t size) { check_cuda(cudaMallocHost(&data, size), "cudaMallocHost"); }
  ~PinnedBytes() { cudaFreeHost(data); }
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;
  std::uint8_t* data = nullptr;
};

// Medians: the kernels alone, the two transfers, and all three in turn.
struct Times {
  double kernels, transfers, total;
};

class PictureBench {
 public:
  explicit PictureBench(const GrayPicture& picture)
      : picture_(picture),
        host_picture_(picture.samples.size()),
        host_edges_(picture.samples.size()),
        d_picture_(picture.samples.size()),
        d_edges_(picture.samples.size()) {
    std::copy(picture.samples.begin(), picture.samples.end(), host_picture_.data);
  }

  void run(const char* set, const std::vector<int>& candidates, Partition partition, const char* name) {
    canny::Params chosen;
    chosen.candidates = candidates;
    vision::CannyParams params = vision::canny_params(chosen);
    params.partition = partition;
    const vision::cuda::DeviceLimits limits = vision::cuda::device_limits(0);

    const PublishedPlan published(params, picture_.width, picture_.height, limits);
    const DeviceArray<std::uint8_t> scratch(published.scratch_bytes());
    Events marks(PublishedPlan::kSteps + 1);
    std::vector<double> steps[PublishedPlan::kSteps];
    const auto launch = [&](const cudaEvent_t* at) {
      published.launch({d_picture_.data(), picture_.width}, scratch.data(), {d_edges_.data(), picture_.width},
                       nullptr, at, nullptr);
    };
    const Times times = time([&] { launch(nullptr); });
    for (int i = 0; i < kRuns; ++i) {
      launch(marks.data());
      check_cuda(cudaDeviceSynchronize(), "kernels");
      for (int s = 0; s < PublishedPlan::kSteps; ++s) steps[s].push_back(marks.milliseconds(s, s + 1));
    }
    JsonRow row = row_of(set, name, "published", times);
    for (int s = 0; s < PublishedPlan::kSteps; ++s)
      row.number(PublishedPlan::step_name(s), median(std::move(steps[s])));
    row.print();

    const CannyPlan plan(params, picture_.width, picture_.height, 1, limits);
    const DeviceArray<std::uint8_t> plan_scratch(plan.scratch_bytes());
    const auto pixels = static_cast<std::ptrdiff_t>(picture_.samples.size());
    const Times own = time([&] {
      plan.launch({d_picture_.data(), picture_.width, pixels, nullptr}, 1, plan_scratch.data(),
                  {d_edges_.data(), picture_.width, pixels}, nullptr, {}, nullptr);
    });
    row_of(set, name, "library", own).print();
  }

 private:
  Times time(const std::function<void()>& kernels) {
    Events events(4);
    std::vector<double> alone, transfers, total;
    const std::size_t bytes = picture_.samples.size();
    for (int i = -3; i < kRuns; ++i) {
      events.record(0);
      check_cuda(cudaMemcpyAsync(d_picture_.data(), host_picture_.data, bytes, cudaMemcpyHostToDevice),
                 "copy");
      events.record(1);
      kernels();
      events.record(2);
      check_cuda(cudaMemcpyAsync(host_edges_.data, d_edges_.data(), bytes, cudaMemcpyDeviceToHost), "copy");
      events.record(3);
      check_cuda(cudaDeviceSynchronize(), "kernels");
      if (i < 0) continue;
      alone.push_back(events.milliseconds(1, 2));
      transfers.push_back(events.milliseconds(0, 1) + events.milliseconds(2, 3));
      total.push_back(events.milliseconds(0, 3));
    }
    return {median(std::move(alone)), median(std::move(transfers)), median(std::move(total))};
  }

  JsonRow row_of(const char* set, const char* partition, const char* form, const Times& times) const {
    JsonRow row("canny-times");
    row.text("picture", picture_.name)
        .number("width", picture_.width)
        .number("height", picture_.height)
        .text("set", set)
        .text("partition", partition)
        .text("form", form)
        .number("ms", times.kernels)
        .number("transfers_ms", times.transfers)
        .number("total_ms", times.total);
    return row;
  }

  const GrayPicture& picture_;
  PinnedBytes host_picture_, host_edges_;
  DeviceArray<std::uint8_t> d_picture_, d_edges_;
};

}  // namespace

void canny_times(const Arguments& arguments) {
  for (const std::string& path : arguments) {
    const GrayPicture picture = read_gray(path);
    PictureBench bench(picture);
    bench.run("C0.03", canny::candidates_003(), Partition::columns, "32xH");
    bench.run("C0.03", canny::candidates_003(), Partition::rows, "Wx32");
    bench.run("C0.01", canny::candidates_001(), Partition::columns, "32xH");
  }
}

}  // namespace cu264::bench
