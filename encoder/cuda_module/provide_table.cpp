// The only thing that libcu264_cuda.so.0 exports.
#include "encoder/cuda_module/build_identity.h"
#include "encoder/cuda_module/module_table.h"

extern "C" __attribute__((visibility("default"))) const cu264::encoder::cuda::ModuleTable*
cu264_cuda_module() {
  using namespace cu264::encoder;
  static const std::string build = cuda::build_identity();
  static const cuda::ModuleTable table{build.c_str(),
                                       CU264_CUDA_TEXT,
                                       cuda::open_device,
                                       cuda::open_devices,
                                       cuda::make_device_analyser,
                                       cuda::make_device_frame_holder,
                                       cuda::pictures_of_devices,
                                       cuda::choose_batch,
                                       cuda::memory_required,
                                       cuda::list_devices,
                                       cuda::release_cached_memory,
                                       cuda::device_name,
                                       cuda::probed_device_name};
  return &table;
}
