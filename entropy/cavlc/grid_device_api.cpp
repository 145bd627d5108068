// The functions of cu264/cavlc.h on device memory. In a build without CUDA they throw an error.
#include <cstdint>
#include <string>

#include "cu264/cavlc.h"
#include "cu264/status.h"
#include "entropy/cavlc/grid_checks.h"
#include "entropy/cavlc/grid_kernels.h"
#include "entropy/scan/device_request.h"

namespace cu264::cavlc {

#if defined(CU264_WITH_CUDA)

namespace {

void check_alignment(const void* pointer, std::size_t alignment, const char* what) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0) return;
  throw Error(ErrorCode::invalid_argument,
              std::string(what) + " is not aligned to " + std::to_string(alignment) + " bytes");
}

}  // namespace

void device_encode(void* d_scratch, std::size_t& scratch_size, const DeviceEncode& call, void* stream) {
  check_grids(call.grids);
  if (scan::is_size_query(d_scratch, scratch_size, encode_scratch_bytes(call.grids))) return;
  check_alignment(call.d_levels, 16, "d_levels");
  check_alignment(call.d_stream, 4, "d_stream");
  if (call.capacity % 4 != 0)
    throw Error(ErrorCode::invalid_argument, "the capacity of the stream is not a multiple of 4 bytes");
  launch_encode_grids(call, d_scratch, stream);
}

void device_decode(void* d_scratch, std::size_t& scratch_size, const DeviceDecode& call, void* stream) {
  check_grids(call.grids);
  if (scan::is_size_query(d_scratch, scratch_size, decode_scratch_bytes(call.grids))) return;
  check_alignment(call.d_levels, 16, "d_levels");
  check_alignment(call.d_stream, 4, "d_stream");
  launch_decode_grids(call, d_scratch, stream);
}

#else

void device_encode(void*, std::size_t&, const DeviceEncode&, void*) {
  scan::refuse_without_cuda();
}
void device_decode(void*, std::size_t&, const DeviceDecode&, void*) {
  scan::refuse_without_cuda();
}

#endif

}  // namespace cu264::cavlc
