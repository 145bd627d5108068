#include "encoder/cuda/batch_size.h"

#include <algorithm>

#include "common/cuda/error_check.h"
#include "common/cuda/handles.h"
#include "common/cuda/memory_cache.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/cuda/device_layout.h"
#include "encoder/cuda/probe_device.h"
#include "encoder/cuda/tuned.h"

namespace cu264::encoder::cuda {
namespace {

tuned::BusyMultiprocessor busy_multiprocessor(const StreamParams& params) {
  return tuned::busy_multiprocessor(params.decisions.preset != Preset::fast,
                                    params.format.transform_8x8_mode);
}

// Where rate and distortion decide, two things help. The rows that a thread block takes together should come
// from as many pictures, all at the same height. And two batches at once are better than one of twice the
// size, because when few rows of one are left the other fills the device. Returns that number of pictures, or
// 1 where neither applies.
int pictures_of_round(const StreamParams& params) {
  return params.decisions.preset == Preset::fast ? 1 : busy_multiprocessor(params).round;
}

// Whole pictures come back from the device. That is for checks, where memory matters more than time.
bool gives_pictures(const StreamParams& params) {
  return params.outputs.reconstruction || params.outputs.edge_maps;
}

// Tells whether the device's pictures are divided into two batches. CABAC of one batch fills the device next
// to the last rows of the other's search. Rate control has too few pictures in flight for two such batches.
bool divides(const StreamParams& params) {
  const bool in_fast =
      params.format.transform_8x8_mode && params.format.cabac && !params.pacing.controls_rate;
  return !gives_pictures(params) && !params.format.inter &&
         (params.decisions.preset != Preset::fast || in_fast);
}

}  // namespace

int pictures_of_device(const StreamParams& params, int multiprocessors, std::size_t free_bytes) {
  const tuned::BusyMultiprocessor busy = busy_multiprocessor(params);
  const int for_rows = busy.rows * multiprocessors / params.format.mb_height;
  // A slice's wavefront takes `steps` steps, so a picture has mbs / steps macroblocks in flight on average:
  // 44 at 1080p, and few in narrow pictures.
  const int slice_rows = (params.format.mb_height + params.format.slices - 1) / params.format.slices;
  const int steps = params.format.mb_width + slice_rows - 1;
  const int mbs = params.format.mb_width * params.format.mb_height;
  const int for_steps = (busy.macroblocks * multiprocessors * steps + mbs - 1) / mbs;
  // Where rows start in rounds and the last round is not full, a tenth more or fewer rows can cost 5 %.
  const int round = busy.round * multiprocessors;
  const int rounds = (std::max(for_rows, for_steps) * params.format.mb_height + round - 1) / round;
  const int wanted = rounds * round / params.format.mb_height;
  int batch = std::clamp(wanted, 1, gives_pictures(params) ? tuned::kMaxBatchWithPictures : tuned::kMaxBatch);
  const auto needed = [&] {
    return memory_of_backend(params, batch).device + later_chain_bytes(params, batch) +
           memory_of_analyser(params, batch, 1, 1).device;
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
  const int together = pictures_of_round(params);
  if (params.execution.batch != 0 || pictures == 1 || !divides(params)) return pictures;
  const int half = (pictures + together) / (2 * together) * together;
  // A batch of large pictures has few of them, and two batches with far fewer each are slower.
  return 2 * half >= pictures - pictures / 10 ? half : pictures;
}

// P pictures refer to pictures of the batch before, which the same backend must have coded.
int overlapping_batches(const StreamParams& params, int batch) {
  if (gives_pictures(params) || params.format.inter) return 1;
  const int rows = batch * params.format.mb_height, together = pictures_of_round(params);
  // What choose_batch() halves is such a multiple.
  if (params.execution.batch == 0) {
    const int most = params.decisions.preset == Preset::fast ? tuned::kRowsOfHalfInFast : tuned::kRowsOfHalf;
    return divides(params) && batch > 1 && batch % together == 0 && rows <= most ? 2 : 1;
  }
  // With the 8x8 transform two batches take twice the memory, so only callers who choose the batch get them.
  // Rate control has too few pictures in flight for two such batches.
  const bool in_high = params.format.transform_8x8_mode && !params.pacing.controls_rate;
  const int for_two = in_high ? tuned::kRowsOfHalfInHigh : tuned::kRowsOfHalf;
  return std::clamp(tuned::kRowsOfLargeDevice / rows, rows <= for_two ? 2 : 1, tuned::kMaxBatchesSideBySide);
}

}  // namespace cu264::encoder::cuda
