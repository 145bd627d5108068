// Tools of the benchmarks of the whole encoder: clips of raw I420, their frames repeated in memory, the copy
// rates of the machine, and rows that are printed as tables and kept as JSON.
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
  std::string name;  // the file name without its folder
  int width = 0;
  int height = 0;
  std::vector<std::vector<std::uint8_t>> frames;  // I420 without padding

  std::size_t luma_bytes() const { return static_cast<std::size_t>(width) * height; }
  std::size_t frame_bytes() const { return luma_bytes() * 3 / 2; }
};

// Reads a clip. Both sides must be even. Throws std::runtime_error.
Clip read_clip(const std::string& path, const std::string& size);

// Repeats each frame four times, as the quarters of a frame of twice the width and height.
Clip tiled(const Clip& clip);

// Copies of a clip's frames one after another, which together are far larger than a GPU's cache. Each copy is
// moved by another distance around the edges, so that no two frames are the same: warps that search the same
// picture run the same code at the same time, up to twice as fast as those of different ones.
class FramePool {
 public:
  // `memory` is pinned or device.
  FramePool(const Clip& clip, MemoryKind memory, int at_least = 0);

  int size() const { return copies_; }
  // The frame of copy `i` modulo size().
  Frame frame(std::uint64_t i) const;

 private:
  int width_, height_, copies_;
  std::size_t frame_bytes_;
  MemoryKind memory_;
  DeviceAllocation d_samples_;
  PinnedAllocation pinned_samples_;
};

// Bytes per second. On the device a byte counts twice, because it is read and written.
struct CopyRates {
  double device = 0, to_device = 0, to_host = 0;
};
CopyRates measure_copies();

double median(std::vector<double> values);

// The median time in milliseconds for which `launch`, which enqueues work on CUDA's default stream, keeps
// the device busy.
double device_milliseconds(int runs, const std::function<void()>& launch);

// The peak signal-to-noise ratio of 8-bit samples, in dB.
double psnr(const std::uint8_t* a, const std::uint8_t* b, std::size_t samples);

class StopWatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// A named number or text of a row.
struct Field {
  Field(const char* its_name, const std::string& value) : name(its_name), text(value), quoted(true) {}
  Field(const char* its_name, int value) : name(its_name), text(std::to_string(value)) {}
  Field(const char* its_name, double value, int decimals = 0);

  std::string name;
  std::string text;
  bool quoted = false;
};

class Report {
 public:
  // Prints the row. If another table begins with it, the names of its columns are printed first.
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
