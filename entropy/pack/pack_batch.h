// Stages `code` and `pack` on the GPU: a batch of coded pictures becomes one contiguous byte stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/device_batch.h"
#include "core/slice_header.h"
#include "entropy/cavlc/code_batch.h"
#include "entropy/cavlc/entropy_kernel.h"

namespace cu264::entropy {

struct PackJob;

// The result of one picture: its NAL units in Annex B form are stream[offset, offset + size).
struct PackedPicture {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t header_bits = 0;    // macroblock headers and mb_skip_run
  std::uint64_t residual_bits = 0;  // levels and I_PCM samples
  std::uint32_t intra4x4_mbs = 0;
  std::uint32_t intra8x8_mbs = 0;
  std::uint32_t intra16x16_mbs = 0;
  std::uint32_t pcm_mbs = 0;
  std::uint32_t inter_mbs = 0;  // P_Skip included
  // If not zero, nothing was written: the stream's capacity is too small (1), or a macroblock exceeds the
  // limit of 3200 bits (2).
  std::uint32_t failure = 0;
};

// Device memory of launch_code_and_pack. A launch owns all of it until it ends.
struct PackMemory {
  void* scratch = nullptr;  // pack_scratch_bytes(); made ready by launch_prepare_pack
  void* coded = nullptr;    // coded_bytes()
  // May overlap the batch's levels: it is written after they have been coded.
  std::uint8_t* stream = nullptr;
  std::uint64_t capacity = 0;  // bytes of `stream`
};

// Stage `code` of the production coder: launch_code, or a function that does the same with other symbols.
using LaunchCode = std::function<void(const core::BatchView&, const CodeScratch& scratch,
                                      const GroupBits& bits, cudaStream_t stream)>;

// A packer that can take the place of the production packer. Through this interface the encoder can use a
// packer that this module does not know.
struct Packer {
  const char* name;
  // Bytes of the packer's own memory for batches of up to `pictures`. The memory is aligned to 256 and not
  // initialised.
  std::size_t (*scratch_bytes)(int pictures, int mb_width, int mb_height, int slices);
  // Codes with `kernel` or, if that is null, with `code`, and packs: leaves what launch_code_and_pack leaves
  // without a packer. Asynchronous on `stream`; throws cu264::Error if a launch is refused.
  void (*launch)(const PackJob& job, const EntropyKernel* kernel, const LaunchCode& code, void* own,
                 cudaStream_t stream);
};

// Bytes of scratch for batches of up to `pictures`, with the memory of `kernel` and `packer`, if any. Each
// part is aligned to 256.
std::size_t pack_scratch_bytes(int pictures, int mb_width, int mb_height, int slices,
                               const EntropyKernel* kernel = nullptr, const Packer* packer = nullptr);

// Bytes for what the coder leaves to the packer.
std::size_t coded_bytes(int pictures, int mb_width, int mb_height, int slices);

// Writes tables into the scratch. Call it once, before the scratch is first used. Asynchronous on `stream`.
// Throws cu264::Error if the launch is refused.
void launch_prepare_pack(void* scratch, cudaStream_t stream);

// The most bytes that a picture can take in the stream.
std::size_t max_packed_bytes(int mb_width, int mb_height, int slices);

// `d_headers` is [picture][slice]. Pictures follow one another in the stream without gaps. If there is a
// `kernel`, it takes the place of `code`, and a `packer` that of the production packer; the scratch must have
// been measured for both. A kernel codes no P pictures: with BatchView::motion there must be none, while any
// packer will do. Asynchronous on `stream`. Throws cu264::Error if a launch is refused.
void launch_code_and_pack(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                          const PackMemory& memory, PackedPicture* d_pictures, cudaStream_t stream,
                          const EntropyKernel* kernel = nullptr, const LaunchCode& code = launch_code,
                          const Packer* packer = nullptr);

}  // namespace cu264::entropy
