// cu264 devices: lists what an encode can run on.
#include <cstdio>
#include <thread>

#include "app/common_options.h"
#include "app/verbs.h"
#include "cu264/device.h"
#include "cu264/status.h"

namespace cu264::app {
namespace {

// Returns the name of the instruction set that the CPU backend picks for its search.
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

void print_cuda(const DeviceInfo& device) {
  std::printf("cuda  %s: device %d, %s, compute capability %d.%d, %d multiprocessors, %zu MiB%s%s\n",
              device.usable ? "usable" : "not usable", device.index, device.name.c_str(),
              device.compute_major, device.compute_minor, device.multiprocessors, device.memory >> 20,
              device.problem.empty() ? "" : ": ", device.problem.c_str());
}

}  // namespace

VerbHelp devices_help() {
  return {"devices",
          "list what it can run on",
          {},
          {"devices"},
          {"Lists the backends, and why one cannot be used here."},
          {},
          {{"Options", {kHelpOption}}}};
}

ExitCode devices_verb(const std::vector<std::string>& arguments) {
  const ParsedOptions parsed(arguments, devices_help().options(), "devices");
  if (parsed.has("help")) return std::fputs(help_text(devices_help()).c_str(), stdout), ExitCode::done;
  if (!parsed.words().empty()) usage("devices takes no '" + parsed.words()[0] + "'", "it has no files");
  std::printf("cpu   usable: %u cores, %s\n", std::thread::hardware_concurrency(), instruction_set());
  try {
    for (const DeviceInfo& device : cuda_devices()) print_cuda(device);
  } catch (const Error& error) {
    std::printf("cuda  not usable: %s\n", error.what());
  }
  return ExitCode::done;
}

}  // namespace cu264::app
