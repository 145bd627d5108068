// Measures what the papers measured, and prints lines of JSON. bench/reproduce makes its pages from them.
//
//   bench_papers --list                      names the experiments of this build
//   bench_papers EXPERIMENT [ARGUMENT ...]
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/papers/experiments.h"

int main(int argc, char** argv) {
  using cu264::bench::Experiment;
  std::vector<Experiment> experiments = cu264::bench::cpu_experiments();
#if defined(CU264_WITH_CUDA)
  for (const Experiment& experiment : cu264::bench::gpu_experiments()) experiments.push_back(experiment);
#endif
  const std::string wanted = argc > 1 ? argv[1] : "";
  if (wanted == "--list") {
    for (const Experiment& experiment : experiments)
      std::printf("%s %s\n", experiment.name, experiment.arguments);
    return 0;
  }
  for (const Experiment& experiment : experiments) {
    if (wanted != experiment.name) continue;
    try {
      experiment.run({argv + 2, argv + argc});
      return 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "bench_papers %s: %s\n", experiment.name, error.what());
      return 2;
    }
  }
  std::fprintf(stderr, "usage: bench_papers EXPERIMENT [ARGUMENT ...], or --list\n");
  return 1;
}
