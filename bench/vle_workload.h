// One input on the device, many times its file's size, and the encoders' times on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/corpora.h"
#include "bench/vle_scans.h"
#include "entropy/vle/code_table.h"
#include "entropy/vle/published/published_encoder.h"

namespace cu264::bench {

struct BenchEncoder {
  std::string name;
  const vle::PublishedEncoder* published;  // null where `device` is all there is
  vle::DeviceEncoder device;
};

// The published ones, what one writes with CUB, and what else the library has.
std::vector<BenchEncoder> bench_encoders();

// Milliseconds, medians.
struct EncodeTimes {
  double kernel = 0;  // what the papers count
  double whole = 0;   // with zeroing the output and the scan's state
};

struct CpuTimes {
  double serial = 0, parallel = 0;
};

class VleWorkload {
 public:
  // The file repeated to at least `bytes`; its own Huffman code, or `longest_code` bits for every symbol if
  // not 0.
  VleWorkload(const CorpusFile& file, std::size_t bytes, int forced_length = 0);
  ~VleWorkload();

  std::size_t size() const;         // bytes of input
  std::size_t coded_bytes() const;  // of output

  // No more runs than fit in a second.
  EncodeTimes time(const BenchEncoder& encoder, int threads, int runs);
  // Launches it once.
  void run_once(const BenchEncoder& encoder);
  // Encodes on the CPU and keeps the serial coder's stream to compare with.
  CpuTimes time_cpu();
  // Whether the last stream on the device is the CPU's, or, without that, the first that was asked
  // about.
  bool is_expected();
  // A device copy that reads and writes as many bytes as an encoder must.
  double copy_milliseconds(int runs);
  double histogram_milliseconds(int runs);
  // Of the input as words.
  std::vector<ScanTimes> time_scans(int runs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "NVIDIA H200, CUDA 13.0, sm_90"
std::string device_description();

}  // namespace cu264::bench
