#include "cu264/version.h"

#include "encoder/build_text.h"

namespace cu264 {

const char* version() noexcept {
  return CU264_VERSION_TEXT;
}

const char* build_info() noexcept {
  return "cu264 " CU264_VERSION_TEXT " (" CU264_COMMIT_TEXT CU264_CUDA_TEXT ", " CU264_COMPILER_TEXT ")";
}

}  // namespace cu264
