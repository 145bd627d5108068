// What the benchmarks of the whole encoder share: clips of raw I420, their frames repeated in memory, the
// machine's copy rates, and rows that are printed as a table and kept as JSON.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/cuda/handles.h"
#include "cu264/frame.h"

namespace cu264::bench {

struct Clip {
  std::string name;  // the file's, without its folder
  int width = 0;
  int height = 0;
  std::vector<std::vector<std::uint8_t>> frames;  // I420 without padding

  std::size_t luma_bytes() const { return static_cast<std::size_t>(width) * height; }
  std::size_t frame_bytes() const { return luma_bytes() * 3 / 2; }
};

// Throws std::runtime_error. Sides must be even.
Clip read_clip(const std::string& path, const std::string& size);

// Each frame four times, as the quarters of one of twice the sides.
Clip tiled(const Clip& clip);

// Copies of a clip's frames one after another, together far larger than a GPU's cache.
class FramePool {
 public:
  // `memory`: pinned or device.
  FramePool(const Clip& clip, MemoryKind memory, int at_least = 0);

  int size() const { return copies_; }
  // Of the copy `i` modulo size().
  Frame frame(std::uint64_t i) const;

 private:
  int width_, height_, copies_;
  std::size_t frame_bytes_;
  MemoryKind memory_;
  DeviceAllocation d_samples_;
  PinnedAllocation pinned_samples_;
};

// Bytes a second. On the device a byte counts twice: it is read and written.
struct CopyRates {
  double device = 0, to_device = 0, to_host = 0;
};
CopyRates measure_copies();

double median(std::vector<double> values);

// Median of milliseconds that `launch`, which puts work on CUDA's default stream, keeps the device busy.
double device_milliseconds(int runs, const std::function<void()>& launch);

// Peak signal to noise ratio of 8-bit samples, in dB.
double psnr(const std::uint8_t* a, const std::uint8_t* b, std::size_t samples);

class StopWatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// A named figure or word of a row.
struct Field {
  Field(const char* name, const std::string& text) : name(name), text(text), quoted(true) {}
  Field(const char* name, int value) : name(name), text(std::to_string(value)) {}
  Field(const char* name, double value, int decimals = 0);

  std::string name;
  std::string text;
  bool quoted = false;
};

class Report {
 public:
  // Prints the row, below the names of its columns where another table begins.
  void row(const std::string& table, const std::vector<Field>& fields);
  // {"table": [{...}, ...], ...}
  std::string json() const;

 private:
  struct Table {
    std::string name, rows;
  };
  std::vector<Table> tables_;
  std::string last_;
};

// Throws std::runtime_error.
void write_file(const std::string& path, const std::string& text);

}  // namespace cu264::bench
