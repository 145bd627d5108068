// Opens what encodes: a backend, as Config asks for it, and the pipeline in front of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cu264/encoder.h"
#include "encoder/frame_holder.h"
#include "encoder/pipeline.h"

namespace cu264::encoder {

// An encoder's pipeline, the name of its backend, and the reason for that choice.
struct OpenedPipeline {
  std::unique_ptr<Pipeline> pipeline;
  std::string name;
  std::string reason;
  int batch = 1;
};

// A build without CUDA has only the CPU backend.
OpenedPipeline open_pipeline(const Config& config, const StreamParams& params);

// Prepares a pipeline, all of whose pictures have been collected, for another size or another preset. It
// keeps its memory where that is large enough. If this throws, there may no longer be a pipeline.
void reopen_pipeline(const Config& config, const StreamParams& params, OpenedPipeline& opened);

// Pipelines for a StreamGroup (lane.h): which kind of them, and one of them with what belongs to it.
inline constexpr int kNoDevice = -1;  // the cpu backend's
struct LaneChoice {
  std::string name;
  std::string reason;
  std::vector<int> devices;  // of the cuda backend
};
LaneChoice choose_lanes(BackendChoice backend, const std::vector<int>& devices);

struct OpenedLane {
  std::unique_ptr<Pipeline> pipeline;
  std::unique_ptr<FrameHolder> holder;
  int device = kNoDevice;
  int batch = 1;            // pictures with the backend at once
  bool batches = false;     // whether they begin together
  std::size_t streams = 1;  // the most streams
};
// `shared`: for many streams. A device's best batch is divided by `side_by_side`.
OpenedLane open_lane(const LaneChoice& choice, StreamParams params, int device, bool shared,
                     int side_by_side);

}  // namespace cu264::encoder
