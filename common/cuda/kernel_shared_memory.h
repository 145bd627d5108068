// What kernels may take of a multiprocessor's shared memory. CUDA keeps these settings with the kernel, for
// all threads of the process. A launch that set what it needs itself would take from another thread's launch
// what that needs, so each setting is made once for a kernel and a device, to a value that holds for every
// launch. Nothing else sets attributes of kernels (scripts/check-layout).
#pragma once

namespace cu264 {

// Launches of the kernel on the current device may take as much dynamic shared memory as the device has. It
// changes nothing for those that take less. Any number of threads may call this at once; all but the first
// calls are cheap.
void allow_shared_memory(const void* kernel);

// The share of a multiprocessor's cache that the kernel wants as shared memory, in percent: the same in every
// call. CUDA takes it as a hint, and gives a block the shared memory that it needs in any case.
void prefer_shared_memory(const void* kernel, int percent);

// Makes every setting again with the next call. cudaDeviceReset undoes them.
void forget_shared_memory_settings();

template <class... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...)) {
  allow_shared_memory(reinterpret_cast<const void*>(kernel));
}
template <class... Parameters>
void prefer_shared_memory(void (*kernel)(Parameters...), int percent) {
  prefer_shared_memory(reinterpret_cast<const void*>(kernel), percent);
}

}  // namespace cu264
