// The memory of the CUDA backend on one device: one piece of device memory and one of page-locked host
// memory, both taken when the encoder opens and laid out here. Buffers for frames from the host are taken
// when the first one comes (uploader.h).
//
// Batches follow one another on the device, so buffers between two stages exist once. Buffers that the host
// fills or empties while the device is at work exist for each batch in flight. The largest parts share
// memory:
//
//   batch 0's piece: its levels, then its stream | after its stream: what batch 1 is made with
//   batch 1's piece: its levels, then its stream | after its stream: what batch 0 is made with
//
// So while the host still reads the stream of one batch, everything that the other batch needs lies beside
// it. A batch's stream overwrites the levels of the same batch, which are no longer needed by then.
//
// With CABAC, the levels and everything else that a batch is made with exist once, because the stages of all
// batches follow one another on the device. Only the stream of a batch has memory of its own, which also
// holds what codes its chunks until the packer writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cu264/encoder.h"
#include "encoder/adaptive_quantisation/device_edge_guide.h"
#include "encoder/adaptive_quantisation/device_qp_offsets.h"
#include "encoder/cuda/batch.h"
#include "encoder/cuda/inter/chain_view.h"
#include "encoder/packed_frame.h"
#include "encoder/stream_params.h"
#include "entropy/pack/pack_batch.h"

namespace cu264::encoder::cuda {

inline constexpr int kBatchesInFlight = 2;  // one is on the device, the host fills and empties the other

struct DeviceMemory {
  int pictures = 0;                               // of a full batch
  QpOffsetMemory qp_offsets{};                    // null pointers without adaptive quantisation
  EdgeGuideMemory edge_guide;                     // null pointers unless edges guide it
  core::MacroblockRecord* macroblocks = nullptr;  // as in BatchView
  std::uint8_t* total_coeff = nullptr;
  std::uint8_t* reconstruction = nullptr;  // null unless Outputs::reconstruction, or there are P pictures
  std::uint8_t* mark_frame = nullptr;      // null without Protection::marks
  // Where there are P pictures.
  core::MotionRecord* motion = nullptr;  // as in BatchView
  std::vector<ChainView> chains;
  void* inter_scratch = nullptr;
  // Null unless modes are encrypted for a kernel other than the production coder.
  core::MacroblockRecord* encrypted_macroblocks = nullptr;
  void* pack_scratch = nullptr;   // null with CABAC
  void* cabac_scratch = nullptr;  // null without CABAC
  std::uint8_t* rgb = nullptr;    // one RGB frame from the host before its conversion
  struct Batch {
    SourcePicture* sources = nullptr;       // [picture]
    core::PictureParams* params = nullptr;  // [picture]
    std::uint8_t* staging = nullptr;        // [picture][staged_bytes]: frames that are not read in place
    std::uint32_t* marks = nullptr;         // [picture][mb]; null without Protection::marks
    core::SliceHeaderBits* slice_headers = nullptr;  // [picture][slice]
    std::int16_t* levels = nullptr;                  // as in BatchView; valid until the stream is written
    void* reconstruct_scratch = nullptr;
    void* coded = nullptr;  // for entropy::PackMemory; overwrites reconstruct_scratch. Null with CABAC
    entropy::PackedPicture* pictures = nullptr;  // null without CABAC: CAVLC's packer writes to the host's
    std::uint8_t* stream = nullptr;              // [stream_bytes]
    ChainView* chains = nullptr;                 // [picture]; null without P pictures
  } batch[kBatchesInFlight];
  std::size_t staged_bytes = 0;
  std::size_t stream_bytes = 0;
};

struct PinnedMemory {
  struct Batch {
    SourcePicture* sources = nullptr;
    core::PictureParams* params = nullptr;
    entropy::PackedPicture* pictures = nullptr;
    std::uint8_t* window = nullptr;                 // [window_bytes]: a part of the stream
    core::MacroblockRecord* macroblocks = nullptr;  // null unless Outputs::reconstruction
    std::uint8_t* reconstruction = nullptr;
    std::uint8_t* edges = nullptr;  // [picture][height][width]; null unless Outputs::edge_maps
    ChainView* chains = nullptr;    // null without P pictures
  } batch[kBatchesInFlight];
  std::size_t window_bytes = 0;
};

// The layout from address `base` on, and the bytes that it takes. With a null base only `bytes` has a
// meaning. The memory for edge detection depends on the current device.
DeviceMemory lay_out_device(const StreamParams& params, int batch, std::uint8_t* base, std::size_t& bytes);
PinnedMemory lay_out_pinned(const StreamParams& params, int batch, std::uint8_t* base, std::size_t& bytes);

// The bytes of the largest frame that the encoder may be given.
std::size_t upload_bytes(const StreamParams& params);

// The bytes of the largest frame as the kernels read it.
std::size_t staged_bytes(const StreamParams& params);

// The chains of P pictures that a backend has memory for when it opens: as many as make the GOPs of a batch
// independent of each other. Where there are more streams, each has one of its own: those come with streams.
int first_chains(const StreamParams& params, int batch);

// The layout of `count` chains from address `base` on, as of lay_out_device().
std::vector<ChainView> lay_out_chains(const StreamParams& params, int count, std::uint8_t* base,
                                      std::size_t& bytes);

// The memory of the chains that streams may bring.
std::size_t later_chain_bytes(const StreamParams& params, int batch);

// Returns the memory that one backend takes on the current device, without buffers for frames from the host.
MemoryRequirement memory_of_backend(const StreamParams& params, int batch);

}  // namespace cu264::encoder::cuda
