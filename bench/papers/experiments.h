// The measurements that bench/reproduce asks for. Each prints lines of JSON (json_row.h) and throws
// std::exception.
#pragma once

#include <string>
#include <vector>

namespace cu264::bench {

struct Experiment {
  const char* name;
  const char* arguments;
  void (*run)(const std::vector<std::string>& arguments);
};

// Those that need no GPU, and the others, which builds without CUDA lack.
std::vector<Experiment> cpu_experiments();
std::vector<Experiment> gpu_experiments();

// The inputs of CUVLE's tables I and II and of PAVLE's figures: bits a symbol, and MiB.
inline constexpr double kEntropies[] = {0, 0.5, 1, 2.2, 4, 6, 8};
inline constexpr double kMebibytes[] = {0.25, 1, 4, 16, 64, 256};

}  // namespace cu264::bench
