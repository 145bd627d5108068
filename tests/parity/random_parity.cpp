// Codes random streams and groups of streams on both backends and compares their bytes:
//
//   random_parity [--seconds S] [--cases N] [--seed S] [--case N | --group N] [--small] [--pipeline]
//   [--gops] [--verbose]
//
// With --pipeline the CUDA backend has the published pipeline in all cases (Config's option "pipeline"); the
// CPU backend, which has one form of each stage, says what the bytes are. Otherwise some cases have parts of
// it. With --gops all cases have P pictures.
//
// It goes on until so much time has passed or so many cases were coded, and then with --case or --group does
// that one alone. Without --seed the clock gives one, which is printed. The exit status is 0 if nothing
// differed, 1 if something did, 2 if the call is wrong and 77 if there is no GPU.
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/parity/device_test.h"
#include "tests/parity/random_case.h"
#include "tests/parity/random_run.h"

namespace {

using namespace cu264::parity;
using cu264::BackendChoice;

// Every so many cases a group follows.
constexpr int kCasesToAGroup = 8;

struct Options {
  double seconds = 60;
  int cases = INT32_MAX;
  std::optional<std::uint64_t> seed;
  std::optional<int> one_case, one_group;
  bool small = false;
  bool pipeline = false;
  bool gops = false;
  bool verbose = false;
};

Options parse(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    const auto value = [&] {
      if (i + 1 == arguments.size()) throw std::runtime_error(name + " needs a value");
      return arguments[++i];
    };
    if (name == "--seconds") {
      options.seconds = std::stod(value());
    } else if (name == "--cases") {
      options.cases = std::stoi(value());
    } else if (name == "--seed") {
      options.seed = std::stoull(value());
    } else if (name == "--case") {
      options.one_case = std::stoi(value());
    } else if (name == "--group") {
      options.one_group = std::stoi(value());
    } else if (name == "--small") {
      options.small = true;
    } else if (name == "--pipeline") {
      options.pipeline = true;
    } else if (name == "--gops") {
      options.gops = true;
    } else if (name == "--verbose") {
      options.verbose = true;
    } else {
      throw std::runtime_error("unknown option " + name);
    }
  }
  return options;
}

CaseBounds bounds_of(const Options& options) {
  CaseBounds bounds;
  if (options.small) bounds = {48, 40, 3, 3, false, 1};
  bounds.pipeline = options.pipeline, bounds.gops = options.gops;
  int devices = 1;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 1 && !options.small) bounds.devices = 2;
  return bounds;
}

struct Tally {
  int cases = 0, groups = 0, streams = 0, errors = 0, faults = 0;
};

class Comparison {
 public:
  Comparison(std::uint64_t seed, const Options& options)
      : seed_(seed), options_(options), bounds_(bounds_of(options)) {}

  void compare_case(int number) {
    const RandomCase random_case = make_case(seed_, number, bounds_);
    announce("case", number, random_case.text());
    const CodedCase cpu = code(random_case, BackendChoice::cpu);
    check(random_case, cpu, code(random_case, BackendChoice::cuda), "--case", number);
    ++tally_.cases;
  }

  void compare_group(int number) {
    const RandomGroup group = make_group(seed_, number, bounds_);
    announce("group", number, std::to_string(group.streams.size()) + " streams");
    const std::vector<CodedCase> cuda = code(group, BackendChoice::cuda);
    for (std::size_t i = 0; i < group.streams.size(); ++i) {
      check(group.streams[i], code(group.streams[i], BackendChoice::cpu), cuda[i], "--group", number);
    }
    ++tally_.groups;
  }

  const Tally& tally() const { return tally_; }

 private:
  void announce(const char* what, int number, const std::string& text) const {
    if (!options_.verbose) return;
    std::printf("%s %d: %s\n", what, number, text.c_str());
    std::fflush(stdout);
  }

  void check(const RandomCase& random_case, const CodedCase& cpu, const CodedCase& cuda, const char* option,
             int number) {
    ++tally_.streams;
    tally_.errors += !cpu.error.empty();
    std::string fault = difference(cpu, cuda);
    if (fault.empty()) fault = decoding_fault(random_case, cuda);
    if (fault.empty()) return;
    ++tally_.faults;
    std::printf("FAULT: %s\n  in %s\n  again: random_parity --seed %llu %s %d%s%s%s\n", fault.c_str(),
                random_case.text().c_str(), static_cast<unsigned long long>(seed_), option, number,
                options_.small ? " --small" : "", options_.pipeline ? " --pipeline" : "",
                options_.gops ? " --gops" : "");
    std::fflush(stdout);
  }

  std::uint64_t seed_;
  const Options& options_;
  CaseBounds bounds_;
  Tally tally_;
};

int run(const Options& options) {
  if (const std::string reason = why_no_device(); !reason.empty()) {
    std::printf("no usable CUDA device: %s\n", reason.c_str());
    return 77;
  }
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::uint64_t seed = options.seed.value_or(static_cast<std::uint64_t>(
      std::chrono::system_clock::now().time_since_epoch() / std::chrono::microseconds(1)));
  std::printf("random_parity --seed %llu%s\n", static_cast<unsigned long long>(seed),
              can_decode() ? "" : " (this build has no decoder: streams are compared, not decoded)");
  std::fflush(stdout);
  Comparison comparison(seed, options);
  if (options.one_case || options.one_group) {
    if (options.one_case) comparison.compare_case(*options.one_case);
    if (options.one_group) comparison.compare_group(*options.one_group);
  } else {
    for (int number = 0; number < options.cases; ++number) {
      if (std::chrono::duration<double>(Clock::now() - begin).count() > options.seconds) break;
      comparison.compare_case(number);
      if (number % kCasesToAGroup == 0) comparison.compare_group(number);
    }
  }
  const Tally& tally = comparison.tally();
  std::printf("%d cases, %d groups, %d streams: %d with a fault; %d end with the same error on both sides\n",
              tally.cases, tally.groups, tally.streams, tally.faults, tally.errors);
  return tally.faults != 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse({argv + 1, argv + argc}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "random_parity: %s\n", error.what());
    return 2;
  }
}
