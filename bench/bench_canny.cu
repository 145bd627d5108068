// Edge detection on the GPU, with pictures and edge maps in device memory: the production form alone, in
// batches and as a CUDA graph; the paper's form with the share of each step; sub-images of 32 x H against W
// x 32; and NPP's Canny if the toolkit has it. Prints Markdown.
//
//   bench_canny PICTURE.pgm [PICTURE.pgm ...]
//   bench_canny --once COUNT CANDIDATES PICTURE.pgm      launches the production form twice, for a profiler
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#if defined(CU264_WITH_NPP)
#include "bench/npp_canny.h"
#endif
#include "cu264/canny.h"
#include "support/device_array.cuh"
#include "vision/cuda/canny_plan.h"
#include "vision/detector_backend.h"
#include "vision/published/published_canny.h"

namespace cu264::bench {
namespace {

using namespace vision;
using test::DeviceArray;
using vision::cuda::CannyPlan;
using vision::cuda::DeviceLimits;
using vision::cuda::PublishedPlan;

// Bytes of all inputs together, more than the L2 cache holds.
constexpr std::size_t kRotated = std::size_t{80} << 20;
constexpr int kRuns = 31;

struct PgmPicture {
  std::string name;
  int width = 0, height = 0;
  std::vector<std::uint8_t> samples;
};

PgmPicture read_pgm(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  PgmPicture picture;
  std::string magic;
  int most = 0;
  file >> magic >> picture.width >> picture.height >> most;
  file.get();
  if (!file || magic != "P5" || most != 255) throw std::runtime_error(path + ": not an 8-bit PGM");
  picture.samples.resize(static_cast<std::size_t>(picture.width) * picture.height);
  file.read(reinterpret_cast<char*>(picture.samples.data()),
            static_cast<std::streamsize>(picture.samples.size()));
  picture.name = path.substr(path.find_last_of('/') + 1);
  return picture;
}

CannyParams params_of(const std::vector<int>& candidates, Partition partition) {
  canny::Params params;
  params.candidates = candidates;
  CannyParams out = canny_params(params);
  out.partition = partition;
  return out;
}

struct Timer {
  Timer() {
    check_cuda(cudaEventCreate(&start), "event");
    check_cuda(cudaEventCreate(&stop), "event");
  }
  ~Timer() { cudaEventDestroy(start), cudaEventDestroy(stop); }
  cudaEvent_t start = nullptr, stop = nullptr;
};

double median(std::vector<float> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// The median time of launch(i) in microseconds; i counts up.
double microseconds(cudaStream_t stream, const std::function<void(int)>& launch, int runs = kRuns) {
  const Timer timer;
  std::vector<float> times;
  for (int run = -3; run < runs; ++run) {
    check_cuda(cudaEventRecord(timer.start, stream), "event");
    launch(run + 3);
    check_cuda(cudaEventRecord(timer.stop, stream), "event");
    check_cuda(cudaEventSynchronize(timer.stop), "kernel");
    float time = 0;
    check_cuda(cudaEventElapsedTime(&time, timer.start, timer.stop), "event");
    if (run >= 0) times.push_back(1e3f * time);
  }
  return median(times);
}

class Graph {
 public:
  Graph(cudaStream_t stream, const std::function<void()>& launch) {
    cudaGraph_t graph;
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    launch();
    check_cuda(cudaStreamEndCapture(stream, &graph), "capture");
    check_cuda(cudaGraphInstantiate(&executable_, graph, 0), "graph");
    cudaGraphDestroy(graph);
  }
  ~Graph() { cudaGraphExecDestroy(executable_); }
  void launch(cudaStream_t stream) const { check_cuda(cudaGraphLaunch(executable_, stream), "graph"); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

__global__ void do_nothing() {}

class Bench {
 public:
  explicit Bench(const PgmPicture& picture)
      : picture_(picture),
        pixels_(picture.samples.size()),
        copies_(static_cast<int>((kRotated + pixels_ - 1) / pixels_ + 63) / 64 * 64),
        pictures_(pixels_ * static_cast<std::size_t>(copies_)),
        edges_(pixels_ * 64) {
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
    for (int i = 0; i < copies_; ++i) {
      check_cuda(cudaMemcpy(pictures_.data() + static_cast<std::size_t>(i) * pixels_, picture.samples.data(),
                            pixels_, cudaMemcpyHostToDevice),
                 "upload");
    }
  }
  ~Bench() { cudaStreamDestroy(stream_); }

  cudaStream_t stream() const { return stream_; }

  struct Times {
    double launches, graph;
  };
  Times production(const CannyParams& params, int count, vision::cuda::Labelling labelling) {
    const CannyPlan plan(params, picture_.width, picture_.height, count, limits_, labelling);
    const DeviceArray<std::uint8_t> scratch(plan.scratch_bytes());
    const auto launch = [&](int i) {
      plan.launch(planes(i * count), count, scratch.data(), edges(), nullptr, {}, stream_);
    };
    Times times{};
    times.launches = microseconds(stream_, launch) / count;
    const Graph graph(stream_, [&] { launch(0); });
    times.graph = microseconds(stream_, [&](int) { graph.launch(stream_); }) / count;
    return times;
  }

  void twice(const CannyParams& params, int count) {
    const CannyPlan plan(params, picture_.width, picture_.height, count, limits_);
    const DeviceArray<std::uint8_t> scratch(plan.scratch_bytes());
    for (int i = 0; i < 2; ++i)
      plan.launch(planes(i * count), count, scratch.data(), edges(), nullptr, {}, stream_);
    check_cuda(cudaStreamSynchronize(stream_), "kernel");
  }

  // The paper's form takes milliseconds if the whole picture is one sub-image.
  static bool grid_is_slow(const CannyParams& params) { return params.partition == Partition::frame; }

  // The time in microseconds of all steps together, and of each step.
  std::vector<double> published(const CannyParams& params) {
    const PublishedPlan plan(params, picture_.width, picture_.height, limits_);
    const DeviceArray<std::uint8_t> scratch(plan.scratch_bytes());
    const auto launch = [&](int i, const cudaEvent_t* marks) {
      plan.launch(planes(i)[0], scratch.data(), edges()[0], nullptr, marks, stream_);
    };
    const int runs = grid_is_slow(params) ? 5 : kRuns;
    std::vector<double> times = {microseconds(
        stream_, [&](int i) { launch(i, nullptr); }, runs)};
    cudaEvent_t marks[PublishedPlan::kSteps + 1];
    for (cudaEvent_t& mark : marks) check_cuda(cudaEventCreate(&mark), "event");
    std::vector<float> steps[PublishedPlan::kSteps];
    for (int run = 0; run < runs; ++run) {
      launch(run, marks);
      check_cuda(cudaStreamSynchronize(stream_), "kernel");
      for (int s = 0; s < PublishedPlan::kSteps; ++s) {
        float time = 0;
        check_cuda(cudaEventElapsedTime(&time, marks[s], marks[s + 1]), "event");
        steps[s].push_back(1e3f * time);
      }
    }
    for (const std::vector<float>& step : steps) times.push_back(median(step));
    for (cudaEvent_t mark : marks) cudaEventDestroy(mark);
    return times;
  }

#if defined(CU264_WITH_NPP)
  // NPP has no batches: pictures are processed one after the other.
  Times npp(int count) {
    const NppCanny peer(picture_.width, picture_.height, stream_);
    const auto launch = [&](int i) {
      const vision::cuda::PicturePlanes pictures = planes(i * count);
      const vision::cuda::EdgePlanes maps = edges();
      for (int p = 0; p < count; ++p) peer.launch(pictures[p].data, maps[p].data);
    };
    Times times{};
    times.launches = microseconds(stream_, launch) / count;
    const Graph graph(stream_, [&] { launch(0); });
    times.graph = microseconds(stream_, [&](int) { graph.launch(stream_); }) / count;
    return times;
  }
#endif

  // A copy of as many bytes as any detector must read and write.
  double copy(int count) {
    return microseconds(stream_,
                        [&](int i) {
                          check_cuda(cudaMemcpyAsync(edges_.data(), planes(i * count).first,
                                                     pixels_ * static_cast<std::size_t>(count),
                                                     cudaMemcpyDeviceToDevice, stream_),
                                     "copy");
                        }) /
           count;
  }

 private:
  vision::cuda::PicturePlanes planes(int first) const {
    const auto at = static_cast<std::size_t>(first % copies_);
    return {pictures_.data() + at * pixels_, picture_.width, static_cast<std::ptrdiff_t>(pixels_), nullptr};
  }
  vision::cuda::EdgePlanes edges() const {
    return {edges_.data(), picture_.width, static_cast<std::ptrdiff_t>(pixels_)};
  }

  const PgmPicture& picture_;
  std::size_t pixels_;
  int copies_;
  DeviceArray<std::uint8_t> pictures_, edges_;
  DeviceLimits limits_ = vision::cuda::device_limits(0);
  cudaStream_t stream_ = nullptr;
};

double empty_launches(cudaStream_t stream, int kernels) {
  const Graph graph(stream, [&] {
    for (int k = 0; k < kernels; ++k) do_nothing<<<1, 32, 0, stream>>>();
  });
  return microseconds(stream, [&](int) { graph.launch(stream); });
}

struct Set {
  const char* name;
  std::vector<int> candidates;
};

void run(const std::vector<PgmPicture>& pictures) {
  const Set sets[] = {{"C0.03", canny::candidates_003()}, {"C0.01", canny::candidates_001()}};
  std::printf("Microseconds a picture, medians of %d.\n\n", kRuns);
  std::printf(
      "| picture | set | partition | one: launches | one: graph | 64: graph | labels in global memory: one | "
      "64 | published | copy of one, 64 |\n|---|---|---|---|---|---|---|---|---|---|\n");
  std::string shares;
  for (const PgmPicture& picture : pictures) {
    Bench bench(picture);
    const double copy_one = bench.copy(1), copy_64 = bench.copy(64);
    for (const Set& set : sets) {
      for (const Partition partition : {Partition::columns, Partition::rows, Partition::frame}) {
        const char* const name = partition == Partition::columns ? "32xH"
                                 : partition == Partition::rows  ? "Wx32"
                                                                 : "frame";
        const CannyParams params = params_of(set.candidates, partition);
        const Bench::Times one = bench.production(params, 1, vision::cuda::Labelling::automatic);
        const Bench::Times many = bench.production(params, 64, vision::cuda::Labelling::automatic);
        const Bench::Times global_one = bench.production(params, 1, vision::cuda::Labelling::global);
        const Bench::Times global_many = bench.production(params, 64, vision::cuda::Labelling::global);
        const std::vector<double> published = bench.published(params);
        std::printf("| %s %dx%d | %s | %s | %.1f | %.1f | %.2f | %.1f | %.2f | %.1f | %.2f, %.2f |\n",
                    picture.name.c_str(), picture.width, picture.height, set.name, name, one.launches,
                    one.graph, many.graph, global_one.graph, global_many.graph, published[0], copy_one,
                    copy_64);
        double sum = 0;
        for (int s = 0; s < PublishedPlan::kSteps; ++s) sum += published[1 + s];
        shares += "| " + picture.name + " | " + set.name + " | " + name + " |";
        for (int s = 0; s < PublishedPlan::kSteps; ++s) {
          char text[32];
          std::snprintf(text, sizeof text, " %.2f |", 100 * published[1 + s] / sum);
          shares += text;
        }
        shares += "\n";
      }
    }
    if (&picture == &pictures.back()) {
      std::printf("\nEmpty kernels in a graph: 1 in %.2f us, 5 in %.2f us, 8 in %.2f us\n",
                  empty_launches(bench.stream(), 1), empty_launches(bench.stream(), 5),
                  empty_launches(bench.stream(), 8));
    }
  }
#if defined(CU264_WITH_NPP)
  std::printf(
      "\nNPP: Gaussian 5x5 and Canny (Sobel 3x3, fixed thresholds)\n\n"
      "| picture | one: launches | one: graph | 64: launches | 64: graph |\n|---|---|---|---|---|\n");
  for (const PgmPicture& picture : pictures) {
    Bench bench(picture);
    const Bench::Times one = bench.npp(1), many = bench.npp(64);
    std::printf("| %s | %.1f | %.1f | %.2f | %.2f |\n", picture.name.c_str(), one.launches, one.graph,
                many.launches, many.graph);
  }
#endif
  std::printf("\nShares of the published form's steps, %%\n\n| picture | set | partition |");
  for (int s = 0; s < PublishedPlan::kSteps; ++s) std::printf(" %s |", PublishedPlan::step_name(s));
  std::printf("\n|---|---|---|");
  for (int s = 0; s < PublishedPlan::kSteps; ++s) std::printf("---|");
  std::printf("\n%s", shares.c_str());
}

}  // namespace
}  // namespace cu264::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_canny PICTURE.pgm [PICTURE.pgm ...]\n");
    return 1;
  }
  try {
    if (std::string(argv[1]) == "--once" && argc == 5) {
      const cu264::bench::PgmPicture picture = cu264::bench::read_pgm(argv[4]);
      const std::vector<int> set =
          std::string(argv[3]) == "C0.01" ? cu264::canny::candidates_001() : cu264::canny::candidates_003();
      cu264::bench::Bench(picture).twice(cu264::bench::params_of(set, cu264::vision::Partition::columns),
                                         std::atoi(argv[2]));
      return 0;
    }
    std::vector<cu264::bench::PgmPicture> pictures;
    for (int i = 1; i < argc; ++i) pictures.push_back(cu264::bench::read_pgm(argv[i]));
    cu264::bench::run(pictures);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_canny: %s\n", error.what());
    return 2;
  }
  return 0;
}
