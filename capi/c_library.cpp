// What C programs ask the library itself.
#include "capi/boundary.h"
#include "cu264/encoder.h"
#include "cu264/version.h"

#if defined(__clang__)
#define CU264_COMPILER "clang " __clang_version__
#else
#define CU264_COMPILER "gcc " __VERSION__
#endif

const char* cu264_version(void) {
  return cu264::version();
}

const char* cu264_build_info(void) {
  return "cu264 " CU264_VERSION_TEXT ", " CU264_CUDA_TEXT ", " CU264_COMPILER;
}

void cu264_release_cached_memory(void) {
  cu264::capi::guarded([] { cu264::release_cached_memory(); });
}
