// CU264_HD marks the arithmetic that both backends share.
//
// On the host such a function has internal linkage: a translation unit compiled for a newer instruction set
// then keeps its own copy, and the linker cannot hand it to code that runs on an older processor.
//
// CU264_FLOW marks a sequence of decisions, a template whose type argument computes: for the device in CUDA
// sources, for the host in all others.
#pragma once

#if defined(__CUDACC__)
#define CU264_FLOW static __device__ inline
// Before a loop that stays a loop: the kernels are bound by the fetching of instructions.
#define CU264_ROLLED _Pragma("unroll 1")
#define CU264_HD static __host__ __device__ inline
#define CU264_HD_MEMBER __host__ __device__ __forceinline__
#else
#define CU264_FLOW static inline
#define CU264_ROLLED
#define CU264_HD static inline
// Member functions cannot be static in that sense; inlining them everywhere serves the same end.
#define CU264_HD_MEMBER __attribute__((always_inline)) inline
#endif
