// cu264 devices: what an encode can run on here.
#include <cstdio>
#include <thread>

#include "app/verbs.h"
#include "cu264/encoder.h"

namespace cu264::app {
namespace {

void try_open(BackendChoice backend) {
  Config config;
  config.width = config.height = 16;
  config.backend = backend;
  config.threads = 1;
  const Encoder opened(config);
}

void print_backend(const char* name, BackendChoice backend, const std::string& detail) {
  try {
    try_open(backend);
    std::printf("%s  usable%s\n", name, detail.c_str());
  } catch (const Error& error) {
    std::printf("%s  not usable: %s\n", name, error.what());
  }
}

// The instruction set that the CPU backend picks for its search.
const char* instruction_set() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd")) {
    return "x86-64 with AVX-512";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma")) {
    return "x86-64 with AVX2";
  }
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "generic";
#endif
}

}  // namespace

ExitCode devices_verb(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "--help") {
    std::puts("cu264 devices: lists the backends, and why one cannot be used here. It has no options.");
    return ExitCode::done;
  }
  if (!arguments.empty()) {
    throw Error(ErrorCode::invalid_argument, "devices takes no '" + arguments[0] + "'", "it has no options");
  }
  print_backend("cpu ", BackendChoice::cpu,
                ": " + std::to_string(std::thread::hardware_concurrency()) + " cores, " + instruction_set());
  print_backend("cuda", BackendChoice::cuda, "");
  return ExitCode::done;
}

}  // namespace cu264::app
