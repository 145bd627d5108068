// CUDA contexts: the primary one of the only device, and those that a test makes of its own (cuCtxCreate).
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace cu264::emulator {

// The calling thread's; null if there is none.
CUcontext current_context();
CUcontext primary_context();

// For calls of the runtime that need a context: where there is none they make the primary one current, as
// CUDA does. In a context of the caller's own the library has no business: the program ends with a message.
void use_context(const char* call);

// What the driver's and the runtime's calls have in common, in the current context.
namespace runtime {
cudaError_t allocate(void** memory, std::size_t bytes);
cudaError_t free_memory(void* memory);
bool is_device_memory(const void* address);
cudaError_t create_event(cudaEvent_t* event);
cudaError_t destroy_event(cudaEvent_t event);
cudaError_t record_event(cudaEvent_t event, cudaStream_t stream);
cudaError_t wait_for_event(cudaStream_t stream, cudaEvent_t event);
}  // namespace runtime

}  // namespace cu264::emulator
