// Runs a case of core_cases.h on the GPU. This header needs no header of CUDA.
#pragma once

#include <string>
#include <vector>

namespace cu264::parity {

// Runs one thread for each input. Throws cu264::Error with CUDA's message.
template <class Case>
std::vector<typename Case::Output> on_device(const std::vector<typename Case::Input>& inputs);

}  // namespace cu264::parity
