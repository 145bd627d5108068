// The functions of CUDA's driver API for which the runtime has no counterpart: those of contexts, and of what
// belongs to other contexts than those of the runtime. The runtime finds them, so nothing links libcuda.
#pragma once

#include <cudaTypedefs.h>

namespace cu264 {

struct DriverApi {
  PFN_cuInit_v2000 init = nullptr;
  PFN_cuDeviceGet_v2000 get_device = nullptr;
  PFN_cuDevicePrimaryCtxRetain_v7000 retain_primary_context = nullptr;
  PFN_cuCtxGetCurrent_v4000 get_current_context = nullptr;
  PFN_cuCtxPushCurrent_v4000 push_context = nullptr;
  PFN_cuCtxPopCurrent_v4000 pop_context = nullptr;
  PFN_cuCtxGetDevice_v2000 get_device_of_context = nullptr;  // of the current one
  PFN_cuCtxGetId_v12000 get_context_id = nullptr;
  PFN_cuStreamGetCtx_v9020 get_stream_context = nullptr;
  PFN_cuStreamWaitEvent_v3020 wait_for_event = nullptr;
  PFN_cuEventCreate_v2000 create_event = nullptr;
  PFN_cuEventRecord_v2000 record_event = nullptr;
  PFN_cuEventDestroy_v4000 destroy_event = nullptr;
  PFN_cuPointerGetAttributes_v7000 get_pointer_attributes = nullptr;
};

// Throws Error(device_unavailable) if there is no driver, no device, or the driver is too old.
const DriverApi& driver_api();

// As check_cuda, whose numbers of errors the driver shares.
void check_driver(CUresult status, const char* doing);

}  // namespace cu264
