#include "common/cuda/kernel_shared_memory.h"

#include <cuda_runtime_api.h>

#include <mutex>
#include <set>
#include <tuple>

#include "common/cuda/error_check.h"

namespace cu264 {
namespace {

// The settings that were made. They are never destroyed, because threads may launch kernels until the process
// ends.
struct Settings {
  std::mutex mutex;
  std::set<std::tuple<const void*, int, cudaFuncAttribute>> made;

  static Settings& instance() {
    static Settings* const settings = new Settings;
    return *settings;
  }
};

// Sets the attribute to value(device) unless that has been done for the kernel and the current device. A
// thread that arrives meanwhile waits, so that its launch finds what it needs.
template <class Value>
void set_once(const void* kernel, cudaFuncAttribute attribute, const Value& value) {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current device");
  Settings& settings = Settings::instance();
  const std::lock_guard lock(settings.mutex);
  const std::tuple setting(kernel, device, attribute);
  if (settings.made.count(setting) != 0) return;
  check_cuda(cudaFuncSetAttribute(kernel, attribute, value(device)), "setting a kernel's shared memory");
  settings.made.insert(setting);
}

// What the device offers a block, less what the kernel always takes.
int most_dynamic_bytes(const void* kernel, int device) {
  int most = 0;
  check_cuda(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "asking for the device's shared memory");
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "asking for a kernel's shared memory");
  return most - static_cast<int>(attributes.sharedSizeBytes);
}

}  // namespace

void allow_shared_memory(const void* kernel) {
  set_once(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
           [&](int device) { return most_dynamic_bytes(kernel, device); });
}

void prefer_shared_memory(const void* kernel, int percent) {
  set_once(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, [&](int) { return percent; });
}

void forget_shared_memory_settings() {
  Settings& settings = Settings::instance();
  const std::lock_guard lock(settings.mutex);
  settings.made.clear();
}

}  // namespace cu264
