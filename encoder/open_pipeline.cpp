// The choice of the backend, the pipeline in front of it, and those functions of the API that need a build
// with CUDA.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cu264/device.h"
#include "encoder/config.h"
#include "encoder/open_pipeline.h"
#include "encoder/pictures_held.h"
#if defined(CU264_WITH_CUDA)
#include "encoder/cuda/cuda_backend.h"
#endif

namespace cu264 {
namespace {

using encoder::OpenedPipeline;
using encoder::StreamParams;

#if defined(CU264_WITH_CUDA)
std::vector<int> devices_of(const Config& config) {
  return config.devices.empty() ? std::vector<int>{0} : config.devices;
}
#else
Error built_without_cuda() {
  return Error(ErrorCode::device_unavailable, "this build has no CUDA backend",
               "use the cpu backend, or build with CUDA");
}
#endif

std::unique_ptr<encoder::Analyser> cpu_analyser(const StreamParams& params, const std::vector<int>&) {
  return encoder::make_cpu_analyser(params);
}

#if defined(CU264_WITH_CUDA)
std::unique_ptr<encoder::Analyser> device_analyser(const StreamParams& params,
                                                   const std::vector<int>& devices) {
  const int batch =
      params.execution.batch != 0 ? params.execution.batch : encoder::paced_batch(64, devices.size());
  return encoder::cuda::make_device_analyser(params, devices.front(), std::max(1, batch / 4),
                                             devices.size() > 1);
}

// With rate control the size of a batch comes from there.
StreamParams with_paced_batch(StreamParams params, const std::vector<int>& devices) {
  if (!params.pacing.controls_rate) return params;
  const int batch =
      params.execution.batch != 0 ? params.execution.batch : encoder::cuda::choose_batch(params, devices);
  params.execution.batch = encoder::paced_batch(batch, devices.size());
  return params;
}
#endif

std::unique_ptr<encoder::Pipeline> open_cpu_pipeline(const StreamParams& params) {
  return std::make_unique<encoder::Pipeline>(encoder::open_cpu_backend(params), cpu_analyser, params,
                                             std::vector<int>{}, 1);
}

OpenedPipeline open_cuda([[maybe_unused]] const Config& config, [[maybe_unused]] const StreamParams& params) {
#if defined(CU264_WITH_CUDA)
  const std::vector<int> devices = devices_of(config);
  OpenedPipeline opened;
  opened.name = "cuda";
  const StreamParams own = with_paced_batch(params, devices);
  opened.batch = encoder::cuda::choose_batch(own, devices);
  opened.pipeline = std::make_unique<encoder::Pipeline>(
      encoder::cuda::open_devices(own, devices, opened.batch), device_analyser, own, devices, opened.batch);
  for (const int device : devices) {
    if (!opened.reason.empty()) opened.reason += ", ";
    opened.reason += encoder::cuda::device_name(device) + ", device " + std::to_string(device);
  }
  return opened;
#else
  throw built_without_cuda();
#endif
}

OpenedPipeline open_cpu(const Config& config, const StreamParams& params, std::string reason) {
  if (config.device_output) {
    throw Error(ErrorCode::unsupported, "the cpu backend has no device to leave packets on",
                "use the cuda backend, or clear Config::device_output");
  }
  if (params.execution.entropy_kernel != nullptr) {
    throw Error(ErrorCode::unsupported, "the cpu backend has no entropy kernels to choose from",
                "use the cuda backend, or leave entropy-kernel at production");
  }
  OpenedPipeline opened;
  opened.pipeline = open_cpu_pipeline(params);
  opened.name = "cpu", opened.reason = std::move(reason);
  return opened;
}

}  // namespace

namespace encoder {

OpenedPipeline open_pipeline(const Config& config, const StreamParams& params) {
  if (params.format.cabac && params.execution.entropy_kernel != nullptr) {
    throw Error(ErrorCode::unsupported, "the published kernels code CAVLC",
                "use the profile auto or baseline, or cavlc");
  }
  if (config.backend == BackendChoice::cpu) return open_cpu(config, params, "asked for");
  // To name a device or a kernel, or to want packets on a device, is to ask for CUDA.
  const bool wants_device =
      !config.devices.empty() || config.device_output || params.execution.entropy_kernel != nullptr;
  if (config.backend == BackendChoice::cuda || wants_device) return open_cuda(config, params);
  try {
    return open_cuda(config, params);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::device_unavailable && error.code() != ErrorCode::out_of_memory) throw;
    const std::string why = error.what();
    return open_cpu(config, params, why.substr(0, why.find(" (")));  // without the remedy
  }
}

void reopen_pipeline([[maybe_unused]] const Config& config, const StreamParams& params,
                     OpenedPipeline& opened) {
#if defined(CU264_WITH_CUDA)
  // A batch whose size was not requested may be somewhat smaller than the best, if that avoids new memory.
  if (opened.name == "cuda") {
    const StreamParams own = with_paced_batch(params, devices_of(config));
    const int best = cuda::choose_batch(own, devices_of(config));
    const int least = config.batch != 0 ? best : (3 * best + 3) / 4;
    for (int batch = best; batch >= least; --batch) {
      if (!opened.pipeline->restart(own, batch)) continue;
      opened.batch = batch;
      return;
    }
  }
#endif
  if (opened.name == "cpu" && opened.pipeline->restart(params, 1)) return;
  opened.pipeline.reset();  // the next one may take its memory
  opened = open_pipeline(config, params);
}

LaneChoice choose_lanes(BackendChoice backend, const std::vector<int>& devices) {
  if (backend == BackendChoice::cpu) return {"cpu", "asked for", {}};
  try {
#if defined(CU264_WITH_CUDA)
    LaneChoice choice{"cuda", {}, devices.empty() ? std::vector<int>{0} : devices};
    for (const int device : choice.devices) {
      if (!choice.reason.empty()) choice.reason += ", ";
      choice.reason += cuda::probed_device_name(device) + ", device " + std::to_string(device);
    }
    return choice;
#else
    throw built_without_cuda();
#endif
  } catch (const Error& error) {
    const bool may_use_cpu = backend == BackendChoice::automatic && devices.empty();
    if (!may_use_cpu || error.code() != ErrorCode::device_unavailable) throw;
    const std::string why = error.what();
    return {"cpu", why.substr(0, why.find(" (")), {}};  // without the remedy
  }
}

OpenedLane open_lane([[maybe_unused]] const LaneChoice& choice, StreamParams params,
                     [[maybe_unused]] int device, bool shared, [[maybe_unused]] int side_by_side) {
  // With P pictures every stream that may come takes memory.
  const std::size_t streams_of_lane = params.format.inter ? 64 : 256;
  OpenedLane lane;
  lane.streams = shared ? streams_of_lane : 1;
  params.execution.streams = static_cast<int>(lane.streams);
  params.execution.sleeps = true;
  params.pacing.lookahead = 0;  // each stream has its own, beside the lane's pictures
#if defined(CU264_WITH_CUDA)
  if (choice.name == "cuda") {
    const int best = cuda::pictures_of_devices(params, {device});
    lane.batch = params.execution.batch != 0 ? params.execution.batch : std::max(1, best / side_by_side);
    if (params.pacing.controls_rate) lane.batch = paced_batch(lane.batch, 1);
    lane.batches = true;
    lane.device = device;
    lane.pipeline = std::make_unique<Pipeline>(cuda::open_device(params, device, lane.batch), device_analyser,
                                               params, std::vector<int>{device}, lane.batch);
    lane.holder = cuda::make_device_frame_holder(device);
    return lane;
  }
#endif
  lane.pipeline = open_cpu_pipeline(params);
  lane.batch = lane.pipeline->capacity();
  lane.holder = make_host_frame_holder();
  return lane;
}

}  // namespace encoder

MemoryRequirement memory_required(const Config& config) {
  encoder::validate(config);
#if defined(CU264_WITH_CUDA)
  const std::vector<int> devices = devices_of(config);
  return encoder::cuda::memory_required(with_paced_batch(encoder::stream_params(config), devices), devices);
#else
  throw built_without_cuda();
#endif
}

void release_cached_memory() {
#if defined(CU264_WITH_CUDA)
  encoder::cuda::release_cached_memory();
#endif
}

std::vector<DeviceInfo> cuda_devices() {
#if defined(CU264_WITH_CUDA)
  return encoder::cuda::list_devices();
#else
  throw built_without_cuda();
#endif
}

}  // namespace cu264
