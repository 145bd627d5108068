// The CUDA backend as a module, libcu264_cuda.so.0: one function returns this table. Library and module are
// C++ of the same build, which is why they compare `build` before anything else is read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "encoder/cuda/cuda_backend.h"

namespace cu264::encoder::cuda {

struct ModuleTable {
  const char* build;  // as build_identity(). It stays the first member in every version
  const char* cuda;   // what the kernels were compiled by and for, "CUDA 13.0.88 for 90-real"

  // The functions of cuda_backend.h.
  decltype(&cuda::open_device) open_device;
  decltype(&cuda::open_devices) open_devices;
  decltype(&cuda::make_device_analyser) make_device_analyser;
  decltype(&cuda::make_device_frame_holder) make_device_frame_holder;
  decltype(&cuda::pictures_of_devices) pictures_of_devices;
  decltype(&cuda::choose_batch) choose_batch;
  decltype(&cuda::memory_required) memory_required;
  decltype(&cuda::list_devices) list_devices;
  decltype(&cuda::release_cached_memory) release_cached_memory;
  decltype(&cuda::device_name) device_name;
  decltype(&cuda::probed_device_name) probed_device_name;
};

inline constexpr char kModuleName[] = "libcu264_cuda.so.0";
inline constexpr char kModuleEntry[] = "cu264_cuda_module";
using ModuleEntry = const ModuleTable*();

}  // namespace cu264::encoder::cuda
