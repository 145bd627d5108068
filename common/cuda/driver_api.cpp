#include "common/cuda/driver_api.h"

#include <cuda_runtime_api.h>

#include <string>

#include "common/cuda/error_check.h"
#include "cu264/status.h"

namespace cu264 {
namespace {

// `version` is the CUDA in which the function got the parameters that its type has.
template <class Function>
void find(Function& function, const char* name, [[maybe_unused]] unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  check_cuda(cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result),
             "asking for the driver's functions");
#else
  check_cuda(cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result),
             "asking for the driver's functions");
#endif
  if (found == nullptr || result != cudaDriverEntryPointSuccess) {
    throw Error(ErrorCode::device_unavailable, std::string("the NVIDIA driver has no ") + name,
                "update the driver, or use the cpu backend");
  }
  function = reinterpret_cast<Function>(found);
}

DriverApi load() {
  DriverApi api;
  find(api.init, "cuInit", 2000);
  find(api.get_device, "cuDeviceGet", 2000);
  find(api.retain_primary_context, "cuDevicePrimaryCtxRetain", 7000);
  find(api.get_current_context, "cuCtxGetCurrent", 4000);
  find(api.push_context, "cuCtxPushCurrent", 4000);
  find(api.pop_context, "cuCtxPopCurrent", 4000);
  find(api.get_device_of_context, "cuCtxGetDevice", 2000);
  find(api.get_context_id, "cuCtxGetId", 12000);
  find(api.get_stream_context, "cuStreamGetCtx", 9020);
  find(api.wait_for_event, "cuStreamWaitEvent", 3020);
  find(api.create_event, "cuEventCreate", 2000);
  find(api.record_event, "cuEventRecord", 2000);
  find(api.destroy_event, "cuEventDestroy", 4000);
  find(api.get_pointer_attributes, "cuPointerGetAttributes", 7000);
  check_driver(api.init(0), "starting CUDA's driver");
  return api;
}

}  // namespace

const DriverApi& driver_api() {
  static const DriverApi api = load();
  return api;
}

void check_driver(CUresult status, const char* doing) {
  check_cuda(static_cast<cudaError_t>(status), doing);
}

}  // namespace cu264
