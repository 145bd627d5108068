#include "encoder/cuda/device_layout.h"

#include <algorithm>

#include "common/cuda/arena.h"
#include "encoder/cuda/inter/chain_memory.h"
#include "encoder/cuda/inter/reconstruct_p.h"
#include "encoder/cuda/published_stages.h"
#include "encoder/cuda/search/reconstruct.h"
#include "encoder/cuda/tuned.h"
#include "encoder/frame_layout.h"
#include "entropy/cabac/cabac_batch.h"

namespace cu264::encoder::cuda {
namespace {

std::size_t macroblocks_of(const StreamParams& params) {
  return static_cast<std::size_t>(params.format.mb_width) * params.format.mb_height;
}

constexpr std::size_t kMacroblockSamples = core::MacroblockLayout::kSamples;

bool may_be(const StreamParams& params, PixelFormat format) {
  return params.input.format ? *params.input.format == format : !is_rgb(format);
}

bool converts(const StreamParams& params) {
  return params.input.format && is_rgb(*params.input.format);
}

std::size_t level_bytes(const StreamParams& params, int batch) {
  return static_cast<std::size_t>(batch) * macroblocks_of(params) * core::kLevelsPerMacroblock *
         sizeof(std::int16_t);
}

std::vector<ChainView> take_chains(const StreamParams& params, int count, Arena& arena) {
  std::vector<ChainView> chains;
  chains.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    chains.push_back(
        take_chain(arena, params.format.mb_width, params.format.mb_height, params.pacing.codes_again));
  }
  return chains;
}

// Levels, streams and what a batch is made with: the two pieces at the top of device_layout.h.
void lay_out_cavlc(const StreamParams& p, int batch, Arena& arena, DeviceMemory& m) {
  m.stream_bytes = static_cast<std::size_t>(batch) *
                   entropy::max_packed_bytes(p.format.mb_width, p.format.mb_height, p.format.slices);
  const std::size_t after_stream = aligned(m.stream_bytes, Arena::kAlignment);
  const std::size_t work_bytes =
      std::max(entropy::coded_bytes(batch, p.format.mb_width, p.format.mb_height, p.format.slices),
               reconstruct_scratch_bytes(batch, p.format.mb_width, p.format.mb_height));
  std::uint8_t* pieces[kBatchesInFlight];
  for (std::uint8_t*& piece : pieces)
    piece = arena.take(std::max(level_bytes(p, batch), after_stream + work_bytes));
  for (int i = 0; i < kBatchesInFlight; ++i) {
    DeviceMemory::Batch& b = m.batch[i];
    b.stream = pieces[i];
    b.levels = reinterpret_cast<std::int16_t*>(pieces[i]);
    b.coded = b.reconstruct_scratch = pieces[1 - i] + after_stream;
  }
}

void lay_out_cabac(const StreamParams& p, int batch, Arena& arena, DeviceMemory& m) {
  void* const levels = arena.take(level_bytes(p, batch));
  void* const scratch = arena.take(reconstruct_scratch_bytes(batch, p.format.mb_width, p.format.mb_height));
  m.cabac_scratch = arena.take(entropy::cabac_scratch_bytes(batch, p.format.mb_width, p.format.mb_height,
                                                            p.format.slices, p.format.inter));
  m.stream_bytes = entropy::cabac_stream_bytes(batch, p.format.mb_width, p.format.mb_height, p.format.slices);
  for (DeviceMemory::Batch& b : m.batch) {
    b.levels = static_cast<std::int16_t*>(levels);
    b.reconstruct_scratch = scratch;
    b.stream = arena.take(m.stream_bytes);
  }
}

}  // namespace

std::size_t upload_bytes(const StreamParams& params) {
  std::size_t most = 0;
  for (int format = 0; format < kPixelFormats; ++format) {
    if (!may_be(params, static_cast<PixelFormat>(format))) continue;
    most = std::max(
        most,
        packed_layout(static_cast<PixelFormat>(format), params.format.width, params.format.height).bytes);
  }
  return most;
}

std::size_t staged_bytes(const StreamParams& params) {
  return std::max(packed_layout(PixelFormat::i420, params.format.width, params.format.height).bytes,
                  packed_layout(PixelFormat::nv12, params.format.width, params.format.height).bytes);
}

DeviceMemory lay_out_device(const StreamParams& params, int batch, std::uint8_t* base, std::size_t& bytes) {
  Arena arena(base);
  const std::size_t pictures = static_cast<std::size_t>(batch), mbs = pictures * macroblocks_of(params);
  DeviceMemory m;
  m.pictures = batch;
  if (params.decisions.aq) {
    m.qp_offsets.sums = arena.take<MacroblockSums>(mbs);
    m.qp_offsets.means = arena.take<std::int32_t>(pictures);
    m.qp_offsets.previous =
        arena.take<std::int8_t>(macroblocks_of(params) * static_cast<std::size_t>(params.execution.streams));
    m.qp_offsets.offsets = arena.take<std::int8_t>(mbs);
  }
  if (params.decisions.edge_detector) {
    const EdgeGuide guide(*params.decisions.edge_detector, params.format.width, params.format.height, batch);
    m.edge_guide = {arena.take(guide.scratch_bytes()), arena.take(guide.map_bytes())};
  }
  m.macroblocks = arena.take<core::MacroblockRecord>(mbs);
  m.total_coeff = arena.take(mbs * core::kTotalCoeffStride);
  if (params.outputs.reconstruction || params.format.inter)
    m.reconstruction = arena.take(mbs * kMacroblockSamples);
  if (params.format.inter) {
    m.motion = arena.take<core::MotionRecord>(mbs);
    m.chains = take_chains(params, first_chains(params, batch), arena);
    m.inter_scratch = arena.take(inter_scratch_bytes(batch, params.format.mb_width, params.format.mb_height));
  }
  if (params.protection.marks) m.mark_frame = arena.take(params.protection.marks->frame().size());
  const entropy::EntropyKernel* const kernel = entropy_kernel_of(params);
  if (params.protection.cipher && params.protection.cipher->parts().modes && kernel != nullptr) {
    m.encrypted_macroblocks = arena.take<core::MacroblockRecord>(mbs);
  }
  if (!params.format.cabac) {
    m.pack_scratch =
        arena.take(entropy::pack_scratch_bytes(batch, params.format.mb_width, params.format.mb_height,
                                               params.format.slices, kernel, packer_of(params)));
  }
  if (converts(params)) m.rgb = arena.take(upload_bytes(params));
  const StreamParams& p = params;
  m.staged_bytes = staged_bytes(p);
  for (DeviceMemory::Batch& b : m.batch) {
    b.sources = arena.take<SourcePicture>(pictures);
    b.params = arena.take<core::PictureParams>(pictures);
    b.staging = arena.take(pictures * m.staged_bytes);
    if (params.format.inter) b.chains = arena.take<ChainView>(pictures);
    if (params.protection.marks) b.marks = arena.take<std::uint32_t>(mbs);
    b.slice_headers =
        arena.take<core::SliceHeaderBits>(pictures * static_cast<std::size_t>(params.format.slices));
    if (params.format.cabac) b.pictures = arena.take<entropy::PackedPicture>(pictures);
  }
  if (params.format.cabac) {
    lay_out_cabac(params, batch, arena, m);
  } else {
    lay_out_cavlc(params, batch, arena, m);
  }
  bytes = arena.bytes();
  return m;
}

PinnedMemory lay_out_pinned(const StreamParams& params, int batch, std::uint8_t* base, std::size_t& bytes) {
  Arena arena(base);
  const std::size_t pictures = static_cast<std::size_t>(batch), mbs = pictures * macroblocks_of(params);
  PinnedMemory m;
  m.window_bytes = params.outputs.device_output
                       ? 0
                       : std::min(mbs * tuned::kWindowBytesPerMacroblock, tuned::kMaxWindowBytes);
  for (PinnedMemory::Batch& b : m.batch) {
    b.sources = arena.take<SourcePicture>(pictures);
    b.params = arena.take<core::PictureParams>(pictures);
    b.pictures = arena.take<entropy::PackedPicture>(pictures);
    b.window = arena.take(m.window_bytes);
    if (params.format.inter) b.chains = arena.take<ChainView>(pictures);
    if (params.outputs.edge_maps) {
      b.edges = arena.take(pictures * static_cast<std::size_t>(params.format.width) *
                           static_cast<std::size_t>(params.format.height));
    }
    if (!params.outputs.reconstruction) continue;
    b.macroblocks = arena.take<core::MacroblockRecord>(mbs);
    b.reconstruction = arena.take(mbs * kMacroblockSamples);
  }
  bytes = arena.bytes();
  return m;
}

int first_chains(const StreamParams& params, int batch) {
  const int gop = params.execution.gop;
  return gop > 0 ? (batch + gop - 1) / gop + 1 : 1;
}

std::vector<ChainView> lay_out_chains(const StreamParams& params, int count, std::uint8_t* base,
                                      std::size_t& bytes) {
  Arena arena(base);
  std::vector<ChainView> chains = take_chains(params, count, arena);
  bytes = arena.bytes();
  return chains;
}

std::size_t later_chain_bytes(const StreamParams& params, int batch) {
  std::size_t bytes = 0;
  if (params.format.inter)
    lay_out_chains(params, params.execution.streams - first_chains(params, batch), nullptr, bytes);
  return bytes;
}

MemoryRequirement memory_of_backend(const StreamParams& params, int batch) {
  MemoryRequirement required;
  required.batch = batch;
  lay_out_device(params, batch, nullptr, required.device);
  lay_out_pinned(params, batch, nullptr, required.pinned);
  return required;
}

}  // namespace cu264::encoder::cuda
