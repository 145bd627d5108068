#include "common/cuda/kernel_shared_memory.h"

#include <cuda_runtime_api.h>

#include <mutex>
#include <optional>
#include <set>
#include <tuple>

#include "common/cuda/driver_api.h"
#include "common/cuda/handles.h"

namespace cu264 {
namespace {

// The settings that were made. They are never destroyed, because threads may launch kernels until the process
// ends.
struct Settings {
  std::mutex mutex;
  std::set<std::tuple<const void*, unsigned long long, cudaFuncAttribute>> made;

  static Settings& instance() {
    static Settings* const settings = new Settings;
    return *settings;
  }
};

// A number that no other context ever has. Without a current context the runtime takes the device's primary
// one.
unsigned long long id_of_context(int device) {
  std::optional<DeviceGuard> guard;
  if (current_context() == nullptr) guard.emplace(device);
  unsigned long long id = 0;
  check_driver(driver_api().get_context_id(nullptr, &id), "asking for the current context");
  return id;
}

// Sets the attribute to value(device) unless that has been done for the kernel and the current context. A
// thread that arrives meanwhile waits, so that its launch finds what it needs.
template <class Value>
void set_once(const void* kernel, cudaFuncAttribute attribute, const Value& value) {
  const int device = current_device();
  const std::tuple setting(kernel, id_of_context(device), attribute);
  Settings& settings = Settings::instance();
  const std::lock_guard lock(settings.mutex);
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
