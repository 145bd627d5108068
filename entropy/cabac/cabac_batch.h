// The stages `code` and `pack` of CABAC on the GPU (docs/cabac.md). They are cut in parts, so that what takes
// long but little of the device may run beside the search of later batches:
//
//   launch_cabac_items     on the stream of the search: all that reads what the search has left, and the
//                          arithmetic coder where it is parallel inside the slices
//   launch_cabac_pack      behind it: the packer. If slices are left that must be coded serially, it writes
//                          nothing and tells so (kStringsMissing); then the batch needs
//   launch_cabac_strings   on another stream: the arithmetic coder where it is serial, and the packer
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/device_batch.h"
#include "core/slice_header.h"
#include "entropy/pack/pack_batch.h"

namespace cu264::entropy {

// Device memory, aligned to 256. It need not be initialised.
struct CabacMemory {
  void* scratch = nullptr;  // cabac_scratch_bytes(): belongs to launch_cabac_items until it ends
  void* work = nullptr;     // cabac_work_bytes(): belongs to the batch from launch_cabac_items on. The coded
                            // stream, at cabac_stream(), is valid until the memory is used again
};

std::size_t cabac_scratch_bytes(int pictures, int mb_width, int mb_height, int slices);
std::size_t cabac_work_bytes(int pictures, int mb_width, int mb_height, int slices);

// Where in CabacMemory::work the coded stream lies, and the most bytes that it may have.
struct CabacStream {
  std::uint8_t* bytes;
  std::size_t capacity;
};
CabacStream cabac_stream(int pictures, int mb_width, int mb_height, int slices, void* work);

// A lane codes a whole slice or a chunk of one; the bytes are the same. Some slices are never coded
// in chunks (is_coded_in_chunks).
enum class ArithmeticWay { automatic, by_slice, in_chunks };

// All are asynchronous on `stream` and throw cu264::Error if a launch is refused. Behind the first, the
// arrays of the batch that the search has written may be overwritten; its parameters, its sources and
// `d_headers` ([picture][slice], without cabac_alignment_one_bit) are read by the others too. PackedPicture
// tells all bits of the slices as residual_bits.
void launch_cabac_items(const core::BatchView& batch, const CabacMemory& memory, cudaStream_t stream,
                        ArithmeticWay way = ArithmeticWay::automatic);
void launch_cabac_pack(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                       const CabacMemory& memory, PackedPicture* d_pictures, cudaStream_t stream);
void launch_cabac_strings(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                          const CabacMemory& memory, PackedPicture* d_pictures, cudaStream_t stream,
                          ArithmeticWay way = ArithmeticWay::automatic);

}  // namespace cu264::entropy
