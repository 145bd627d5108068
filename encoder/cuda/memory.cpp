#include "encoder/cuda/memory.h"

#include <algorithm>

#include "common/cuda/arena.h"
#include "common/cuda/handles.h"
#include "common/cuda/kernel_shared_memory.h"
#include "common/cuda/memory_cache.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/cuda/measure_picture.h"
#include "encoder/cuda/probe_device.h"
#include "encoder/cuda/published_stages.h"
#include "encoder/cuda/qp_offset_relay.h"
#include "encoder/cuda/reconstruct.h"
#include "encoder/frame_layout.h"
#include "encoder/pictures_held.h"
#include "entropy/cabac/cabac_batch.h"

namespace cu264::encoder::cuda {
namespace {

std::size_t macroblocks_of(const StreamParams& params) {
  return static_cast<std::size_t>(params.format.mb_width) * params.format.mb_height;
}

constexpr std::size_t kMacroblockSamples = 384;

// A window holds the stream of a single picture of up to 4 bits for each luma sample. Of larger batches it
// holds a part: while the host reads one half, which takes longer, the other half is copied.
constexpr std::size_t kWindowBytesPerMacroblock = 128, kMostWindowBytes = std::size_t{8} << 20;

bool may_be(const StreamParams& params, PixelFormat format) {
  return params.input.format ? *params.input.format == format : !is_rgb(format);
}

// This large a batch must be for a multiprocessor to be busy, measured at 1080p on an H200.
struct BusyMultiprocessor {
  int rows;         // macroblock rows of the batch
  int macroblocks;  // that can be searched at the same time, on average
  int round;        // rows that are begun together (RowKernelShape), or 1: the last round need not be full
};

BusyMultiprocessor busy_multiprocessor(const StreamParams& params) {
  const bool fast = params.decisions.preset == Preset::fast;
  if (params.format.transform_8x8_mode)
    return fast ? BusyMultiprocessor{83, 80, 28} : BusyMultiprocessor{80, 60, 32};
  return fast ? BusyMultiprocessor{83, 50, 1} : BusyMultiprocessor{80, 50, 28};
}

// Where rate and distortion decide, the rows that a thread block takes together are best of as many pictures,
// all at one height, and two batches at once are better than one of twice the size: while few rows of one are
// left, the other fills the device. Returns that number, or 1 if neither is so.
int rows_together(const StreamParams& params) {
  return params.decisions.preset == Preset::fast ? 1 : busy_multiprocessor(params).round;
}

// Whole pictures come back from the device, which is for checks, where memory matters more than time.
bool gives_pictures(const StreamParams& params) {
  return params.outputs.reconstruction || params.outputs.edge_maps;
}

// Tells whether the device's pictures are divided into two batches. CABAC of one batch fills the device
// beside the last rows of the other's search. Rate control has too few pictures in flight for two such
// batches.
bool divides(const StreamParams& params) {
  const bool in_fast =
      params.format.transform_8x8_mode && params.format.cabac && !params.pacing.controls_rate;
  return !gives_pictures(params) && (params.decisions.preset != Preset::fast || in_fast);
}

bool converts(const StreamParams& params) {
  return params.input.format && is_rgb(*params.input.format);
}

// The frames that rate control holds at once, in front of so many backends.
std::size_t held_frames(const StreamParams& params, int batch, std::size_t backends) {
  if (!params.pacing.controls_rate) return 0;
  const int inner = kBatchesInFlight * batch * static_cast<int>(backends);
  return static_cast<std::size_t>(pictures_in_pipeline(inner, batch, params));
}

std::size_t level_bytes(const StreamParams& params, int batch) {
  return static_cast<std::size_t>(batch) * macroblocks_of(params) * core::kLevelsPerMacroblock *
         sizeof(std::int16_t);
}

// Levels, streams and what a batch is made with: the two pieces at the top of memory.h.
void lay_out_cavlc(const StreamParams& p, int batch, Arena& arena, DeviceMemory& m) {
  m.stream_bytes = static_cast<std::size_t>(batch) *
                   entropy::max_packed_bytes(p.format.mb_width, p.format.mb_height, p.format.slices);
  const std::size_t behind_stream = aligned(m.stream_bytes, Arena::kAlignment);
  const std::size_t work_bytes =
      std::max(entropy::coded_bytes(batch, p.format.mb_width, p.format.mb_height, p.format.slices),
               reconstruct_scratch_bytes(batch, p.format.mb_width, p.format.mb_height));
  std::uint8_t* pieces[kBatchesInFlight];
  for (std::uint8_t*& piece : pieces)
    piece = arena.take(std::max(level_bytes(p, batch), behind_stream + work_bytes));
  for (int i = 0; i < kBatchesInFlight; ++i) {
    DeviceMemory::Batch& b = m.batch[i];
    b.stream = pieces[i];
    b.levels = reinterpret_cast<std::int16_t*>(pieces[i]);
    b.coded = b.reconstruct_scratch = pieces[1 - i] + behind_stream;
  }
}

void lay_out_cabac(const StreamParams& p, int batch, Arena& arena, DeviceMemory& m) {
  void* const levels = arena.take(level_bytes(p, batch));
  void* const scratch = arena.take(reconstruct_scratch_bytes(batch, p.format.mb_width, p.format.mb_height));
  m.cabac_scratch =
      arena.take(entropy::cabac_scratch_bytes(batch, p.format.mb_width, p.format.mb_height, p.format.slices));
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
  if (params.outputs.reconstruction) m.reconstruction = arena.take(mbs * kMacroblockSamples);
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
  m.window_bytes =
      params.outputs.device_output ? 0 : std::min(mbs * kWindowBytesPerMacroblock, kMostWindowBytes);
  for (PinnedMemory::Batch& b : m.batch) {
    b.sources = arena.take<SourcePicture>(pictures);
    b.params = arena.take<core::PictureParams>(pictures);
    b.pictures = arena.take<entropy::PackedPicture>(pictures);
    b.window = arena.take(m.window_bytes);
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

MemoryRequirement measure(const StreamParams& params, int batch) {
  MemoryRequirement required;
  required.batch = batch;
  lay_out_device(params, batch, nullptr, required.device);
  lay_out_pinned(params, batch, nullptr, required.pinned);
  return required;
}

int pictures_of_device(const StreamParams& params, int multiprocessors, std::size_t free_bytes) {
  constexpr int kLargest = 288, kLargestWithPictures = 16;
  const BusyMultiprocessor busy = busy_multiprocessor(params);
  const int for_rows = busy.rows * multiprocessors / params.format.mb_height;
  // A slice's wavefront takes `steps` steps, so a picture has mbs / steps macroblocks in flight on average:
  // 44 at 1080p, and few in narrow pictures.
  const int slice_rows = (params.format.mb_height + params.format.slices - 1) / params.format.slices;
  const int steps = params.format.mb_width + slice_rows - 1;
  const int mbs = static_cast<int>(macroblocks_of(params));
  const int for_steps = (busy.macroblocks * multiprocessors * steps + mbs - 1) / mbs;
  // Where rows are begun in rounds and the last one is not full, a tenth more or fewer rows can cost 5 %.
  const int round = busy.round * multiprocessors;
  const int rounds = (std::max(for_rows, for_steps) * params.format.mb_height + round - 1) / round;
  const int wanted = rounds * round / params.format.mb_height;
  int batch = std::clamp(wanted, 1, gives_pictures(params) ? kLargestWithPictures : kLargest);
  const auto needed = [&] {
    return measure(params, batch).device + held_frames(params, batch, 1) * piece_bytes(staged_bytes(params));
  };
  while (batch > 1 && needed() > free_bytes / 2) batch = (batch + 1) / 2;
  return batch;
}

int pictures_of_devices(const StreamParams& params, const std::vector<int>& devices) {
  int batch = params.execution.batch;
  for (const int device : devices) {
    probe_device(device);
    if (params.execution.batch != 0) continue;
    const DeviceGuard guard(device);
    int multiprocessors = 0;
    std::size_t free_bytes = 0, total = 0;
    check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
               "asking for the device's properties");
    check_cuda(cudaMemGetInfo(&free_bytes, &total), "asking for the device's memory");
    free_bytes += memory_cache_state(device).kept_bytes;
    const int suits = pictures_of_device(params, multiprocessors, free_bytes);
    batch = batch == 0 ? suits : std::min(batch, suits);
  }
  return batch;
}

int choose_batch(const StreamParams& params, const std::vector<int>& devices) {
  const int pictures = pictures_of_devices(params, devices);
  const int together = rows_together(params);
  if (params.execution.batch != 0 || pictures == 1 || !divides(params)) return pictures;
  const int half = (pictures + together) / (2 * together) * together;
  // A batch of large pictures has few of them, and two batches of far fewer are slower.
  return 2 * half >= pictures - pictures / 10 ? half : pictures;
}

int overlapping_batches(const StreamParams& params, int batch) {
  constexpr int kMost = 4;
  // On an H200. Where two batches are better than one, two somewhat larger ones are, too.
  constexpr int kRowsOfLargeDevice = 11000, kRowsOfHalf = 7000, kRowsOfHalfInFast = 10000;
  // With the 8x8 transform two batches, each of which fills the device, are faster than one. They take twice
  // the memory, so only callers who choose the batch get them. Rate control has too few pictures in flight
  // for two such batches.
  constexpr int kRowsOfHalfInHigh = 15000;
  if (gives_pictures(params)) return 1;
  const int rows = batch * params.format.mb_height, together = rows_together(params);
  // What choose_batch() halves is such a multiple.
  if (params.execution.batch == 0) {
    const int most = params.decisions.preset == Preset::fast ? kRowsOfHalfInFast : kRowsOfHalf;
    return divides(params) && batch > 1 && batch % together == 0 && rows <= most ? 2 : 1;
  }
  const bool in_high = params.format.transform_8x8_mode && !params.pacing.controls_rate;
  const int for_two = in_high ? kRowsOfHalfInHigh : kRowsOfHalf;
  return std::clamp(kRowsOfLargeDevice / rows, rows <= for_two ? 2 : 1, kMost);
}

namespace {

// The most that one of the devices needs. Only what edges are found with differs between them.
MemoryRequirement measure_on(const std::vector<int>& devices, const StreamParams& params, int batch) {
  if (!params.decisions.edge_detector) return measure(params, batch);
  MemoryRequirement most;
  for (const int device : devices) {
    probe_device(device);
    const DeviceGuard guard(device);
    const MemoryRequirement required = measure(params, batch);
    if (required.device > most.device) most = required;
  }
  return most;
}

}  // namespace

MemoryRequirement memory_required(const StreamParams& params, const std::vector<int>& devices) {
  MemoryRequirement required = measure_on(
      devices, params, params.execution.batch != 0 ? params.execution.batch : choose_batch(params, devices));
  const auto backends = static_cast<std::size_t>(overlapping_batches(params, required.batch));
  required.device = piece_bytes(required.device) * backends;
  required.pinned = piece_bytes(required.pinned) * backends;
  const std::size_t uploads = piece_bytes(kUploadBuffers * upload_bytes(params));
  if (const std::size_t frames = held_frames(params, required.batch, devices.size() * backends)) {
    // The analyser is on the first device. Frames for several devices stay on the host besides.
    required.device += frames * piece_bytes(staged_bytes(params)) +
                       piece_bytes(MeasureInput::kMostPictures * sizeof(MeasureSums));
    if (converts(params)) required.device += piece_bytes(upload_bytes(params));
    required.pinned += piece_bytes(frames * sizeof(core::PictureMeasure));
    required.pinned += devices.size() > 1 ? frames * piece_bytes(upload_bytes(params)) : uploads;
  } else {
    required.pinned += uploads * backends;
  }
  if (params.decisions.aq && params.decisions.aq->remembers && devices.size() * backends > 1)
    required.pinned += relay_bytes(params);
  return required;
}

void release_cached_memory() {
  release_memory_cache();
  forget_shared_memory_settings();
}

}  // namespace cu264::encoder::cuda
