// Times compressing and expanding a file through the library, and reading it:
//
//   bench_vle_stream FILE FOLDER [cuda|cpu]
//
// It times reading FILE with nothing else done, compressing it to /dev/null and to FOLDER, and expanding the
// result. There are five runs of each in one process, so that the first one shows what opening the backend
// costs. "in source" is the time spent in read(), "in sink" that in write(). A FOLDER in memory excludes the
// storage.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "cu264/vle.h"

namespace {

namespace vle = cu264::vle;
using cu264::BackendChoice;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class File {
 public:
  File(const std::string& name, int flags) : descriptor_(open(name.c_str(), flags | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) throw std::runtime_error(name + " cannot be opened");
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::size_t read(std::span<std::uint8_t> memory) {
    const double start = now();
    std::size_t filled = 0;
    while (filled < memory.size()) {
      const ssize_t got = ::read(descriptor_, memory.data() + filled, memory.size() - filled);
      if (got < 0) throw std::runtime_error("read failed");
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    seconds += now() - start;
    return filled;
  }

  void write(std::span<const std::uint8_t> bytes) {
    const double start = now();
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0) throw std::runtime_error("write failed");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    seconds += now() - start;
  }

  double seconds = 0;  // time spent in the calls

 private:
  int descriptor_;
};

void print(const std::string& what, double bytes, double seconds, double in_source, double in_sink) {
  std::printf("| %s | %.3f | %.2f | %.3f | %.3f |\n", what.c_str(), seconds, bytes / seconds / 1e9, in_source,
              in_sink);
}

void read_only(const std::string& name) {
  File input(name, O_RDONLY);
  std::vector<std::uint8_t> memory(std::size_t{1} << 22);
  const double start = now();
  double bytes = 0;
  while (const std::size_t got = input.read(memory)) bytes += static_cast<double>(got);
  print("read", bytes, now() - start, input.seconds, 0);
}

void stream(bool expand, const std::string& from, const std::string& to, BackendChoice backend) {
  File input(from, O_RDONLY), output(to, O_WRONLY | O_CREAT | O_TRUNC);
  vle::StreamOptions options;
  options.backend = backend;
  const double start = now();
  const vle::Source source = [&](std::span<std::uint8_t> memory) { return input.read(memory); };
  const vle::Sink sink = [&](std::span<const std::uint8_t> bytes) { output.write(bytes); };
  const vle::StreamReport report =
      expand ? vle::expand(source, sink, options) : vle::compress(source, sink, options);
  const std::string what =
      std::string(expand ? "expand" : "compress") + (to == "/dev/null" ? " to nowhere, " : ", ");
  print(what + report.backend, static_cast<double>(report.totals.original), now() - start, input.seconds,
        output.seconds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: bench_vle_stream FILE FOLDER [cuda|cpu]\n", stderr);
    return 1;
  }
  try {
    constexpr int kRuns = 5;
    const std::string file = argv[1], coded = std::string(argv[2]) + "/bench_vle_stream.vle";
    const bool on_cpu = argc > 3 && std::string(argv[3]) == "cpu";
    const BackendChoice backend = on_cpu ? BackendChoice::cpu : BackendChoice::cuda;
    std::puts("| | s | GB/s of the original | s in source | s in sink |\n|---|---:|---:|---:|---:|");
    for (int run = 0; run < kRuns; ++run) read_only(file);
    for (int run = 0; run < kRuns; ++run) stream(false, file, "/dev/null", backend);
    for (int run = 0; run < kRuns; ++run) stream(false, file, coded, backend);
    for (int run = 0; run < kRuns; ++run) stream(true, coded, "/dev/null", backend);
    unlink(coded.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_vle_stream: %s\n", error.what());
    return 1;
  }
  return 0;
}
