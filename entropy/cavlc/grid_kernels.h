// The kernels behind the functions of cu264/cavlc.h on device memory. The arguments have been checked.
// Asynchronous on `stream` (a cudaStream_t); they throw cu264::Error if a launch is refused.
#pragma once

#include <cstddef>

#include "cu264/cavlc.h"

namespace cu264::cavlc {

std::size_t encode_scratch_bytes(const Grids& grids);
void launch_encode_grids(const DeviceEncode& call, void* d_scratch, void* stream);

std::size_t decode_scratch_bytes(const Grids& grids);
void launch_decode_grids(const DeviceDecode& call, void* d_scratch, void* stream);

}  // namespace cu264::cavlc
