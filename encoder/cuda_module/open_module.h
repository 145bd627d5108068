// Opens libcu264_cuda.so.0, once in a process.
#pragma once

#include <string>

#include "encoder/cuda_module/module_table.h"

namespace cu264::encoder::cuda {

// Throws Error(device_unavailable) that says what is wrong with the module.
const ModuleTable& module();

// "CUDA 13.0.88 for 90-real, from /usr/lib/libcu264_cuda.so.0", or "no CUDA: " and the reason.
std::string module_text();

}  // namespace cu264::encoder::cuda
