// Runs a case of core_cases.h on the GPU. The CUDA runtime stays behind this header.
#pragma once

#include <string>
#include <vector>

namespace cu264::parity {

// Empty if a kernel of this build runs on a device here; otherwise why not.
std::string why_no_device();

// One thread an input. Throws cu264::Error with CUDA's own message.
template <class Case>
std::vector<typename Case::Output> on_device(const std::vector<typename Case::Input>& inputs);

}  // namespace cu264::parity
