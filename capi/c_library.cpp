// What C programs ask the library itself.
#include <string>

#include "capi/boundary.h"
#include "cu264/encoder.h"
#include "encoder/build_text.h"
#include "encoder/cuda_module/open_module.h"

const char* cu264_version(void) {
  return CU264_VERSION_TEXT;
}

const char* cu264_build_info(void) {
  static const std::string text = "cu264 " CU264_VERSION_TEXT " (" CU264_COMMIT_TEXT +
                                  cu264::encoder::cuda::module_text() + ", " CU264_COMPILER_TEXT ")";
  return text.c_str();
}

void cu264_release_cached_memory(void) {
  cu264::capi::guarded([] { cu264::release_cached_memory(); });
}
