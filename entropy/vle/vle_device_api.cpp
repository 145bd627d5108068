// The functions of cu264/vle.h on device memory, which call the production coders. In a build without CUDA
// they throw an error.
#include "cu264/vle.h"
#include "entropy/scan/device_request.h"
#if defined(CU264_WITH_CUDA)
#include "entropy/vle/fast.h"
#include "entropy/vle/gpu_decode.h"
#include "entropy/vle/histogram.h"
#endif

namespace cu264::vle {

#if defined(CU264_WITH_CUDA)

void device_histogram(void* d_scratch, std::size_t& scratch_size, const std::uint8_t* d_input,
                      std::size_t size, std::uint64_t* d_counts, void* stream) {
  // The histogram needs no scratch, but the caller's second call must differ from its first.
  if (d_scratch == nullptr) {
    scratch_size = 1;
    return;
  }
  launch_histogram(d_input, size, d_counts, stream);
}

void device_encode(void* d_scratch, std::size_t& scratch_size, const DeviceEncode& call, void* stream) {
  if (d_scratch == nullptr) {
    scratch_size = fast_scratch_bytes(call.size);
    return;
  }
  fast_encode({call.d_input, call.size, call.d_table, call.d_output, call.capacity, call.d_result, d_scratch,
               scratch_size, stream},
              call.d_chunk_index);
}

void device_decode(void* d_scratch, std::size_t& scratch_size, const DeviceDecode& call, void* stream) {
  if (d_scratch == nullptr) {
    scratch_size = decode_scratch_bytes(call.stream_size, call.size, call.d_chunk_index != nullptr);
    return;
  }
  decode({call.d_stream, call.stream_size, call.d_bits, call.d_table, call.d_chunk_index, call.d_output,
          call.size, call.d_result, d_scratch, scratch_size, stream});
}

#else

void device_histogram(void*, std::size_t&, const std::uint8_t*, std::size_t, std::uint64_t*, void*) {
  scan::refuse_without_cuda();
}
void device_encode(void*, std::size_t&, const DeviceEncode&, void*) {
  scan::refuse_without_cuda();
}
void device_decode(void*, std::size_t&, const DeviceDecode&, void*) {
  scan::refuse_without_cuda();
}

#endif

}  // namespace cu264::vle
