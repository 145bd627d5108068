// The steps of `pack` and the device memory through which they pass their results.
//
//   bit offsets   every group's position in its slice and its number of emulation prevention bytes; every
//                 slice's offset in the stream
//   write         start codes, NAL unit headers and escaped payloads
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/cabac_encoder.h"
#include "core/device_batch.h"
#include "entropy/cavlc/group_bits.h"
#include "entropy/pack/pack_batch.h"

namespace cu264::entropy {

struct SliceRecord {
  core::SliceHeaderBits header;
  std::uint64_t bits = 0;    // bits of the RBSP without trailing bits
  std::uint64_t offset = 0;  // where its NAL unit begins in the stream
  std::uint32_t header_bits = 0;
  std::uint32_t escapes = 0;
  std::uint32_t mbs[core::kMacroblockKinds] = {};  // numbers of macroblocks by MacroblockKind
  std::uint32_t broken = 0;                        // a macroblock had too many bits
  std::uint32_t lost = 0;                          // the whole picture is: PackedPicture::failure
  std::uint32_t prefix_bytes = 0;                  // start code and NAL unit header
  std::uint32_t nal_unit_header = 0;               // its byte
  std::uint32_t zero_words = 0;                    // cabac_zero_word after the RBSP

  // rbsp_trailing_bits begins with a one (H.264 7.3.2.11).
  __host__ __device__ std::uint64_t rbsp_bytes() const { return bits / 8 + 1; }
  __host__ __device__ std::uint64_t nal_bytes() const {
    return prefix_bytes + rbsp_bytes() + escapes + zero_words * std::uint64_t{core::kCabacZeroWordBytes};
  }
};

// Whether a picture consists of P slices.
__device__ inline bool is_p_picture(const core::BatchView& batch, int picture) {
  return batch.motion != nullptr && !batch.params[picture].key;
}

// Sets what comes before the payload of a picture's slice.
__device__ inline void set_prefix(SliceRecord& record, const core::BatchView& batch, int picture, int slice) {
  constexpr std::uint32_t kNalRefIdc = 3 << 5, kIdrSlice = 5, kOtherSlice = 1;  // nal_unit_type, table 7-1
  record.prefix_bytes = slice == 0 ? 5 : 4;  // zero_byte comes before a picture's first NAL unit (B.1.2)
  record.nal_unit_header = kNalRefIdc | (is_p_picture(batch, picture) ? kOtherSlice : kIdrSlice);
}

// The place of a group's bits in memory and their position in the slice; see GroupRecord.
struct alignas(16) GroupOffset {
  std::uint64_t position = 0;  // in bits from the start of the slice's RBSP
  // Where they begin, in units of four words. Of a group of P_Skip macroblocks that has no bits: how many
  // such groups end with it.
  std::uint32_t words = 0;
  std::int32_t before = 0;  // bits; 0: there is no such group, or it has no bits
  std::int32_t after = 0;   // bits after the alignment
  std::int32_t bytes = 0;   // bytes that the group completes
  std::uint32_t slice = 0;
  std::uint32_t index = 0;  // in the slice
};

struct PackScratch {
  std::uint32_t* finished_slices = nullptr;  // how many slices are done; zero between launches
  std::uint32_t* unknown = nullptr;          // [picture][slice][i]: groups whose escapes must be counted
  GroupBits coded;
  CodeScratch code{};
  void* kernel = nullptr;            // the memory of an EntropyKernel
  GroupOffset* groups = nullptr;     // [picture][slice][group]
  std::uint32_t* escapes = nullptr;  // [picture][slice][group]
  SliceRecord* slices = nullptr;     // [picture][slice]
};

struct PackJob {
  core::BatchView batch;
  GroupLayout layout;
  const core::SliceHeaderBits* headers = nullptr;  // [picture][slice]
  PackScratch scratch;
  std::uint8_t* stream = nullptr;
  std::uint64_t capacity = 0;
  PackedPicture* pictures = nullptr;
  std::uint32_t groups = 0;  // number of groups in the layout
  // When writing, each warp takes 1 << warp_groups_log2 consecutive groups: one if there are too few for all
  // multiprocessors.
  int warp_groups_log2 = 0;

  unsigned blocks_of(unsigned warps) const {
    const std::uint32_t groups_a_block = warps << warp_groups_log2;
    return (groups + groups_a_block - 1) / groups_a_block;
  }
  __device__ const core::SliceHeaderBits& header(int picture, int slice) const {
    return headers[static_cast<std::size_t>(picture) * batch.slices + slice];
  }
  __device__ SliceRecord& slice(int picture, int slice) const {
    return scratch.slices[static_cast<std::size_t>(picture) * batch.slices + slice];
  }
};

// Codes into job.scratch.coded with `kernel` or, if that is null, with `code`.
void launch_code_of(const PackJob& job, const EntropyKernel* kernel, const LaunchCode& code,
                    cudaStream_t stream);
void launch_bit_offsets(const PackJob& job, cudaStream_t stream);
void launch_write(const PackJob& job, cudaStream_t stream);

}  // namespace cu264::entropy
