#include "bench/gpu_bench.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace cu264::bench {
namespace {

// Returns the samples moved up by dy rows and to the left by dx columns; what leaves on one side comes in on
// the other. Both are even.
std::vector<std::uint8_t> moved(const Clip& clip, const std::vector<std::uint8_t>& frame, int dx, int dy) {
  std::vector<std::uint8_t> to(frame.size());
  const std::uint8_t* from = frame.data();
  std::uint8_t* out = to.data();
  for (int p = 0; p < 3; ++p) {
    const int sampling = p == 0 ? 1 : 2;
    const int width = clip.width / sampling, height = clip.height / sampling;
    for (int y = 0; y < height; ++y, out += width) {
      const std::uint8_t* const row = from + static_cast<std::size_t>((y + dy / sampling) % height) * width;
      std::rotate_copy(row, row + dx / sampling, row + width, out);
    }
    from += static_cast<std::size_t>(width) * height;
  }
  return to;
}

}  // namespace

Clip read_clip(const std::string& path, const std::string& size) {
  Clip clip;
  clip.name = path.substr(path.find_last_of('/') + 1);
  if (std::sscanf(size.c_str(), "%dx%d", &clip.width, &clip.height) != 2 || clip.width <= 0 ||
      clip.height <= 0 || clip.width % 2 != 0 || clip.height % 2 != 0) {
    throw std::runtime_error("'" + size + "' is not a size: give WIDTHxHEIGHT, both even, after each clip");
  }
  std::ifstream file(path, std::ios::binary);
  constexpr std::size_t kMaxFrames = 64;
  std::vector<std::uint8_t> frame(clip.frame_bytes());
  while (clip.frames.size() < kMaxFrames &&
         file.read(reinterpret_cast<char*>(frame.data()), static_cast<std::streamsize>(frame.size()))) {
    clip.frames.push_back(frame);
  }
  if (clip.frames.empty())
    throw std::runtime_error("no whole frame of " + size + " can be read from " + path);
  return clip;
}

Clip tiled(const Clip& clip) {
  Clip big{clip.name + " 2x2", clip.width * 2, clip.height * 2, {}};
  for (const std::vector<std::uint8_t>& frame : clip.frames) {
    std::vector<std::uint8_t>& to = big.frames.emplace_back();
    const std::uint8_t* plane = frame.data();
    for (int p = 0; p < 3; ++p) {
      const int width = p == 0 ? clip.width : clip.width / 2, height = p == 0 ? clip.height : clip.height / 2;
      for (int y = 0; y < 2 * height; ++y) {
        const std::uint8_t* const row = plane + static_cast<std::size_t>(y % height) * width;
        for (int half = 0; half < 2; ++half) to.insert(to.end(), row, row + width);
      }
      plane += static_cast<std::size_t>(width) * height;
    }
  }
  return big;
}

FramePool::FramePool(const Clip& clip, MemoryKind memory, int at_least)
    : width_(clip.width), height_(clip.height), frame_bytes_(clip.frame_bytes()), memory_(memory) {
  constexpr std::size_t kBytes = std::size_t{512} << 20;
  copies_ = std::max(static_cast<int>((kBytes + frame_bytes_ - 1) / frame_bytes_), at_least);
  const std::size_t bytes = frame_bytes_ * static_cast<std::size_t>(copies_);
  if (memory == MemoryKind::device) {
    d_samples_ = allocate_device(bytes, 0);
  } else {
    pinned_samples_ = allocate_pinned(bytes);
  }
  const int frames = static_cast<int>(clip.frames.size());
  for (int i = 0; i < copies_; ++i) {
    constexpr int kAcross = 389, kDown = 211;  // chroma samples from copy to copy
    const int copy = i / frames;
    const auto samples = moved(clip, clip.frames[static_cast<std::size_t>(i % frames)],
                               2 * (copy * kAcross % (width_ / 2)), 2 * (copy * kDown % (height_ / 2)));
    check_cuda(cudaMemcpy(const_cast<std::uint8_t*>(frame(static_cast<std::uint64_t>(i)).plane[0]),
                          samples.data(), frame_bytes_, cudaMemcpyDefault),
               "copying the frames");
  }
}

Frame FramePool::frame(std::uint64_t i) const {
  const void* const base = memory_ == MemoryKind::device ? d_samples_.get() : pinned_samples_.get();
  const std::size_t luma = static_cast<std::size_t>(width_) * height_;
  Frame frame;
  frame.memory = memory_;
  frame.width = width_, frame.height = height_;
  frame.plane[0] =
      static_cast<const std::uint8_t*>(base) + i % static_cast<std::uint64_t>(copies_) * frame_bytes_;
  frame.plane[1] = frame.plane[0] + luma;
  frame.plane[2] = frame.plane[1] + luma / 4;
  frame.pitch[0] = width_;
  frame.pitch[1] = frame.pitch[2] = width_ / 2;
  return frame;
}

CopyRates measure_copies() {
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  constexpr int kRuns = 7;
  const DeviceAllocation d_a = allocate_device(kBytes, 0);
  const DeviceAllocation d_b = allocate_device(kBytes, 0);
  const PinnedAllocation host = allocate_pinned(kBytes);
  std::memset(host.get(), 1, kBytes);
  const auto rate = [](void* to, const void* from) {
    return kBytes / (1e-3 * device_milliseconds(kRuns, [&] {
                       check_cuda(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDefault), "copying");
                     }));
  };
  return {2 * rate(d_a.get(), d_b.get()), rate(d_a.get(), host.get()), rate(host.get(), d_a.get())};
}

double median(std::vector<double> values) {
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  return values[middle];
}

double device_milliseconds(int runs, const std::function<void()>& launch) {
  constexpr int kWarmUp = 2;
  cudaEvent_t start, stop;
  check_cuda(cudaEventCreate(&start), "making an event");
  check_cuda(cudaEventCreate(&stop), "making an event");
  std::vector<double> times;
  for (int run = 0; run < runs + kWarmUp; ++run) {
    check_cuda(cudaEventRecord(start), "recording an event");
    launch();
    check_cuda(cudaEventRecord(stop), "recording an event");
    check_cuda(cudaEventSynchronize(stop), "waiting for the device");
    float time = 0;
    check_cuda(cudaEventElapsedTime(&time, start, stop), "reading the time");
    if (run >= kWarmUp) times.push_back(time);
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return median(std::move(times));
}

double psnr(const std::uint8_t* a, const std::uint8_t* b, std::size_t samples) {
  double sum = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const int difference = a[i] - b[i];
    sum += difference * difference;
  }
  return sum == 0 ? 100 : 10 * std::log10(255.0 * 255.0 * static_cast<double>(samples) / sum);
}

Field::Field(const char* its_name, double value, int decimals) : name(its_name) {
  char digits[64];
  std::snprintf(digits, sizeof(digits), "%.*f", decimals, value);
  text = digits;
}

void Report::row(const std::string& table, const std::vector<Field>& fields) {
  const auto width = [](const Field& field) {
    return static_cast<int>(std::max(field.name.size(), field.quoted ? std::size_t{22} : std::size_t{9}));
  };
  if (table != last_) {
    std::printf("\n%s\n", table.c_str());
    for (const Field& field : fields) {
      std::printf(field.quoted ? "%-*s " : "%*s ", width(field), field.name.c_str());
    }
    std::printf("\n");
    last_ = table;
  }
  std::string object;
  for (const Field& field : fields) {
    std::printf(field.quoted ? "%-*s " : "%*s ", width(field), field.text.c_str());
    const std::string value = field.quoted ? '"' + field.text + '"' : field.text;
    object += (object.empty() ? "\"" : ", \"") + field.name + "\": " + value;
  }
  std::printf("\n");
  std::fflush(stdout);
  auto at = std::find_if(tables_.begin(), tables_.end(), [&](const Table& t) { return t.name == table; });
  if (at == tables_.end()) at = tables_.insert(at, {table, {}});
  at->rows += (at->rows.empty() ? "\n    {" : ",\n    {") + object + "}";
}

std::string Report::json() const {
  std::string text;
  for (const Table& table : tables_) {
    text += (text.empty() ? "{\n  \"" : ",\n  \"") + table.name + "\": [" + table.rows + "\n  ]";
  }
  return text + "\n}\n";
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace cu264::bench
