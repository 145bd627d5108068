// The parts of what a library tells of its build. CMake defines CU264_COMMIT_TEXT, "commit ..., " or "", and
// CU264_CUDA_TEXT (cmake/BuildText.cmake).
#pragma once

#include "cu264/version.h"

#define CU264_TEXT_(x) #x
#define CU264_TEXT(x) CU264_TEXT_(x)
#define CU264_VERSION_TEXT \
  CU264_TEXT(CU264_VERSION_MAJOR) "." CU264_TEXT(CU264_VERSION_MINOR) "." CU264_TEXT(CU264_VERSION_PATCH)

#if defined(__clang__)
#define CU264_COMPILER_TEXT "clang " __clang_version__
#else
#define CU264_COMPILER_TEXT "gcc " __VERSION__
#endif
