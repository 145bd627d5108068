// One input on the device, a file repeated many times, and the encoders' times on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/corpora.h"
#include "bench/vle_scans.h"
#include "cu264/vle_types.h"
#include "entropy/vle/published/published_encoders.h"

namespace cu264::bench {

struct BenchEncoder {
  std::string name;
  const vle::PublishedEncoder* published;  // null if there is only `device`
  vle::DeviceEncoder device;
};

// The published encoders, the one written with CUB, and the library's own.
std::vector<BenchEncoder> bench_encoders();

// Medians in milliseconds.
struct EncodeTimes {
  double kernel = 0;  // the time that the papers report
  double whole = 0;   // including zeroing of the output and the scan's state
};

struct CpuTimes {
  double serial = 0, parallel = 0;
};

class VleWorkload {
 public:
  // Its own code has `longest_code` bits at most.
  // Repeats the file to at least `bytes`. It is coded with its own Huffman code or, if `forced_length` is
  // not 0, with codes of that length for every symbol.
  VleWorkload(const CorpusFile& file, std::size_t bytes, int forced_length = 0,
              int longest_code = vle::kShortCode);
  ~VleWorkload();

  std::size_t size() const;         // bytes of input
  std::size_t coded_bytes() const;  // bytes of output

  // Makes at most `runs` runs, and no more than fit in a second.
  EncodeTimes time(const BenchEncoder& encoder, int threads, int runs);
  // Launches the encoder once.
  void run_once(const BenchEncoder& encoder);
  // Encodes on the CPU and keeps the serial coder's stream for comparison.
  CpuTimes time_cpu();
  // Returns whether the last stream on the device equals the CPU's or, if there is none, the first stream for
  // which this was called.
  bool is_expected();
  // Whether the last encoder found a symbol without a code, or could not join its codes.
  bool is_missing() const;
  // The time of a device copy that reads and writes as many bytes as an encoder must.
  double copy_milliseconds(int runs);
  double histogram_milliseconds(int runs);
  // Times scans of the input, taken as words.
  std::vector<ScanTimes> time_scans(int runs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "NVIDIA H200, CUDA 13.0, sm_90"
std::string device_description();

}  // namespace cu264::bench
