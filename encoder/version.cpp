#include "cu264/version.h"

#define CU264_TEXT_(x) #x
#define CU264_TEXT(x) CU264_TEXT_(x)

namespace cu264 {

const char* version() noexcept {
  return CU264_TEXT(CU264_VERSION_MAJOR) "." CU264_TEXT(CU264_VERSION_MINOR) "." CU264_TEXT(
      CU264_VERSION_PATCH);
}

}  // namespace cu264
