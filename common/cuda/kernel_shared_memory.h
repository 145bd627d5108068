// How much of a multiprocessor's shared memory kernels may take. CUDA keeps these settings with the kernel,
// for all threads of the process. If each launch made its own setting, it could undo the setting that another
// thread's launch needs. So each setting is made once for a kernel and a context (a caller's too, where a
// function works on a caller's stream alone), with a value that suits every launch. Nothing else sets
// attributes of kernels (scripts/check-layout).
#pragma once

namespace cu264 {

// Launches of the kernel on the current device may take as much dynamic shared memory as the device has.
// Launches that take less are not affected. Any number of threads may call this at once; every call but the
// first is cheap.
void allow_shared_memory(const void* kernel);

// The share of a multiprocessor's cache that the kernel wants as shared memory, in percent: the same in every
// call. CUDA takes it as a hint and always gives a block the shared memory that it needs.
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
