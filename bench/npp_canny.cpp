#include "bench/npp_canny.h"

#include <nppi_filtering_functions.h>

#include <stdexcept>
#include <string>

#include "common/cuda/error_check.h"

namespace cu264::bench {
namespace {

constexpr Npp16s kLow = 60, kHigh = 140;  // of Sobel's magnitude; they hardly change the time

void check(NppStatus status, const char* what) {
  if (status < NPP_SUCCESS)
    throw std::runtime_error(std::string("NPP, ") + what + ": " + std::to_string(status));
}

NppStreamContext context_of(cudaStream_t stream) {
  NppStreamContext context{};
  cudaDeviceProp properties{};
  context.hStream = stream;
  check_cuda(cudaGetDevice(&context.nCudaDeviceId), "the current device");
  check_cuda(cudaGetDeviceProperties(&properties, context.nCudaDeviceId), "the device's properties");
  context.nMultiProcessorCount = properties.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context.nSharedMemPerBlock = properties.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = properties.major;
  context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
  check_cuda(cudaStreamGetFlags(stream, &context.nStreamFlags), "the stream's flags");
  return context;
}

struct DeviceBytes {
  explicit DeviceBytes(std::size_t bytes) { check_cuda(cudaMalloc(&data, bytes), "memory for NPP"); }
  ~DeviceBytes() { cudaFree(data); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  Npp8u* get() const { return static_cast<Npp8u*>(data); }

  void* data = nullptr;
};

std::size_t scratch_bytes(NppiSize size) {
  int bytes = 0;
  check(nppiFilterCannyBorderGetBufferSize(size, &bytes), "its buffer's size");
  return static_cast<std::size_t>(bytes);
}

}  // namespace

struct NppCanny::State {
  State(int width, int height, cudaStream_t stream)
      : size{width, height},
        context(context_of(stream)),
        smooth(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)),
        scratch(scratch_bytes(size)) {}

  NppiSize size;
  NppStreamContext context;
  DeviceBytes smooth, scratch;
};

NppCanny::NppCanny(int width, int height, cudaStream_t stream)
    : state_(std::make_unique<State>(width, height, stream)) {}

NppCanny::~NppCanny() = default;

void NppCanny::launch(const std::uint8_t* d_picture, std::uint8_t* d_edges) const {
  const NppiSize size = state_->size;
  check(
      nppiFilterGaussBorder_8u_C1R_Ctx(d_picture, size.width, size, {0, 0}, state_->smooth.get(), size.width,
                                       size, NPP_MASK_SIZE_5_X_5, NPP_BORDER_REPLICATE, state_->context),
      "Gaussian");
  check(nppiFilterCannyBorder_8u_C1R_Ctx(state_->smooth.get(), size.width, size, {0, 0}, d_edges, size.width,
                                         size, NPP_FILTER_SOBEL, NPP_MASK_SIZE_3_X_3, kLow, kHigh, nppiNormL2,
                                         NPP_BORDER_REPLICATE, state_->scratch.get(), state_->context),
        "Canny");
}

}  // namespace cu264::bench
