// The library's version, in the numbering of semver.org. C programs may include this too.
#pragma once

#define CU264_VERSION_MAJOR 0
#define CU264_VERSION_MINOR 1
#define CU264_VERSION_PATCH 0

#ifdef __cplusplus
namespace cu264 {

// The version of the linked library, for example "0.1.0". It may differ from the macros of this header.
const char* version() noexcept;

// How the library was built, one line: version, commit if it is known, CUDA and its architectures, compiler.
const char* build_info() noexcept;

}  // namespace cu264
#endif
