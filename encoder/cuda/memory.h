// All the memory of the CUDA backend on one device: one allocation there and one of page-locked host memory,
// both made at open and laid out here.
//
// Batches follow one another on the device, so what lives between two stages exists once. What the host fills
// or empties while the device is at work exists for each batch in flight. The largest parts share memory:
//
//   batch 0's piece: its levels, then its stream | behind its stream: what batch 1 is made with
//   batch 1's piece: its levels, then its stream | behind its stream: what batch 0 is made with
//
// While one batch's stream is still there for the host, all that the other one needs is beside it; and when
// that one's own stream is written nobody needs its levels any more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cu264/encoder.h"
#include "encoder/adaptive_quantisation/device_qp_offsets.h"
#include "encoder/cuda/batch.h"
#include "encoder/stages.h"
#include "entropy/pack/pack_batch.h"

namespace cu264::encoder::cuda {

inline constexpr int kBatchesInFlight = 2;  // one on the device, one that the host fills and empties
inline constexpr int kUploadSlots = 4;      // frames on their way from pageable memory

// Where a frame's planes lie in a piece of memory of our own.
struct StagedLayout {
  std::size_t offset[3] = {};
  std::ptrdiff_t pitch[3] = {};
  std::size_t bytes = 0;
};
StagedLayout staged_layout(PixelFormat format, int width, int height);

struct DeviceMemory {
  core::SliceHeaderBits* slice_headers = nullptr;  // [picture][slice]
  QpOffsetMemory qp_offsets{};                     // nulls without adaptive quantisation
  core::MacroblockRecord* macroblocks = nullptr;   // as BatchView
  std::uint8_t* total_coeff = nullptr;
  std::uint8_t* reconstruction = nullptr;  // null unless StageParams::reconstruction
  std::uint8_t* mark_frame = nullptr;      // null without StageParams::marks
  // Null unless modes are encrypted for StageParams::entropy_kernel.
  core::MacroblockRecord* encrypted_macroblocks = nullptr;
  void* pack_scratch = nullptr;
  std::uint8_t* rgb = nullptr;  // one frame from the host before its conversion
  struct Batch {
    SourcePicture* sources = nullptr;       // [picture]
    core::PictureParams* params = nullptr;  // [picture]
    std::uint8_t* staging = nullptr;  // [picture][staged_bytes]: frames that are not used where they are
    std::uint32_t* marks = nullptr;   // [picture][mb]; null without StageParams::marks
    std::int16_t* levels = nullptr;   // as BatchView; until the stream is written
    void* reconstruct_scratch = nullptr;
    void* coded = nullptr;  // entropy::PackMemory; overwrites reconstruct_scratch
    entropy::PackedPicture* pictures = nullptr;
    std::uint8_t* stream = nullptr;  // [stream_bytes]
  } batch[kBatchesInFlight];
  std::size_t staged_bytes = 0;
  std::size_t stream_bytes = 0;
};

struct PinnedMemory {
  std::uint8_t* upload[kUploadSlots] = {};
  struct Batch {
    SourcePicture* sources = nullptr;
    core::PictureParams* params = nullptr;
    entropy::PackedPicture* pictures = nullptr;
    std::uint8_t* window = nullptr;                 // [window_bytes] of the stream
    core::MacroblockRecord* macroblocks = nullptr;  // null unless StageParams::reconstruction
    std::uint8_t* reconstruction = nullptr;
  } batch[kBatchesInFlight];
  std::size_t window_bytes = 0;
};

// The layout from address `base` on, and the bytes it takes; a null base measures.
DeviceMemory lay_out_device(const StageParams& params, int batch, std::uint8_t* base, std::size_t& bytes);
PinnedMemory lay_out_pinned(const StageParams& params, int batch, std::uint8_t* base, std::size_t& bytes);

MemoryRequirement measure(const StageParams& params, int batch);

// Pictures that fill the device without taking more than half of its free memory.
int choose_batch(const StageParams& params, int multiprocessors, std::size_t free_bytes);

}  // namespace cu264::encoder::cuda
