// CU264_HD marks the arithmetic that both backends share.
//
// On the host such a function has internal linkage: a translation unit compiled for a newer instruction set
// then keeps its own copy, and the linker cannot hand it to code that runs on an older processor.
#pragma once

#if defined(__CUDACC__)
#define CU264_HD static __host__ __device__ inline
#define CU264_HD_MEMBER __host__ __device__ __forceinline__
#else
#define CU264_HD static inline
// Member functions cannot be static in that sense; inlining them everywhere serves the same end.
#define CU264_HD_MEMBER __attribute__((always_inline)) inline
#endif
