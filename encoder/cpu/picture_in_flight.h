// A picture of the CPU backend from its frame to its access unit: its memory, and the stages after
// reconstruction.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include <tbb/task_group.h>

#include "core/picture_params.h"
#include "encoder/backend.h"
#include "encoder/cpu_picture.h"
#include "encoder/stream_params.h"
#include "entropy/cavlc/slice_coder.h"

namespace cu264::encoder {

// A slice that is being encoded. The payload's memory is large enough for the worst case and is not
// initialised, so pages that no slice fills are never touched.
struct SliceWork {
  std::unique_ptr<std::uint8_t[]> payload;
  std::size_t capacity = 0;
  std::size_t size = 0;
  entropy::SliceStats stats;
  std::exception_ptr error;
};

// A picture in flight: its memory, its parameters and its results.
struct PictureInFlight {
  CpuPicture picture;
  core::PictureParams params;
  bool replaces = false;  // Job::replaces
  std::vector<SliceWork> slices;
  std::vector<std::uint8_t> nal_units;
  std::vector<std::uint8_t> edges;  // with Outputs::edge_maps
  CodedAccessUnit unit;
  std::atomic<int> slices_left = 0;
  std::atomic<bool> done = false;
  tbb::task_group tasks;  // one for each slice, but any task may take any slice, by ticket

  // Takes the memory of a picture of the stream.
  void resize(const StreamParams& stream);
};

// Codes a slice that is reconstructed. What goes wrong is in its `error`.
void code_slice(PictureInFlight& work, int index, const StreamParams& params);

// Makes the access unit once the last slice has been coded. What goes wrong is in the unit.
void finish_picture(PictureInFlight& work, const StreamParams& params);

}  // namespace cu264::encoder
