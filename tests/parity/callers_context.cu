#include "tests/parity/callers_context.h"

#include <cudaTypedefs.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "encoder/frame_layout.h"
#if !defined(__CUDACC__)
#include "tests/emulator/late_work.h"
#endif

namespace cu264::parity {
namespace {

void check(CUresult status, const char* doing) {
  if (status != CUDA_SUCCESS)
    throw std::runtime_error(std::string(doing) + ": error " + std::to_string(static_cast<int>(status)));
}

template <class Function>
void find(Function& function, const char* name, [[maybe_unused]] unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
  cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
#else
  cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (found == nullptr) throw std::runtime_error(std::string("no ") + name);
  function = reinterpret_cast<Function>(found);
}

struct Driver {
  PFN_cuCtxCreate_v3020 create_context;
  PFN_cuCtxDestroy_v4000 destroy_context;
  PFN_cuCtxGetCurrent_v4000 current_context;
  PFN_cuMemAlloc_v3020 allocate;
  PFN_cuMemFree_v3020 free;
  PFN_cuMemcpyHtoDAsync_v3020 upload;
  PFN_cuMemcpyDtoHAsync_v3020 download;
  PFN_cuMemcpyDtoDAsync_v3020 copy;
  PFN_cuMemsetD8Async_v3020 set;
  PFN_cuStreamCreate_v2000 create_stream;
  PFN_cuStreamDestroy_v4000 destroy_stream;
  PFN_cuStreamSynchronize_v2000 synchronise;

  Driver() {
    find(create_context, "cuCtxCreate", 3020);
    find(destroy_context, "cuCtxDestroy", 4000);
    find(current_context, "cuCtxGetCurrent", 4000);
    find(allocate, "cuMemAlloc", 3020);
    find(free, "cuMemFree", 3020);
    find(upload, "cuMemcpyHtoDAsync", 3020);
    find(download, "cuMemcpyDtoHAsync", 3020);
    find(copy, "cuMemcpyDtoDAsync", 3020);
    find(set, "cuMemsetD8Async", 3020);
    find(create_stream, "cuStreamCreate", 2000);
    find(destroy_stream, "cuStreamDestroy", 4000);
    find(synchronise, "cuStreamSynchronize", 2000);
  }
};

const Driver& driver() {
  static const Driver functions;
  return functions;
}

CUdeviceptr address(const std::uint8_t* d_memory) {
  return reinterpret_cast<CUdeviceptr>(d_memory);
}

#if defined(__CUDACC__)
constexpr std::size_t kDelayBytes = std::size_t{1} << 28;

// Gives the stream about a millisecond of work.
void keep_busy(std::uint8_t* d_delay, cudaStream_t stream) {
  for (int i = 0; i < 16; ++i)
    check(driver().set(address(d_delay), static_cast<unsigned char>(i), kDelayBytes, stream), "a delay");
}

void set_prompt(cudaStream_t) {}
#else
constexpr std::size_t kDelayBytes = 1;

void keep_busy(std::uint8_t*, cudaStream_t stream) {
  emulator::make_late(stream);
}

void set_prompt(cudaStream_t stream) {
  emulator::make_late(stream, false);
}
#endif

}  // namespace

CUcontext context_of_thread() {
  CUcontext context = nullptr;
  check(driver().current_context(&context), "asking for the current context");
  return context;
}

CallersContext::CallersContext() {
  check(driver().create_context(&context_, 0, 0), "making a context");
  check(driver().create_stream(&stream_, CU_STREAM_NON_BLOCKING), "making a stream");
  d_delay_ = allocate(kDelayBytes);
}

CallersContext::~CallersContext() {
  for (const cudaStream_t stream : {stream_, cudaStream_t{}}) {
    driver().synchronise(stream);
    set_prompt(stream);
  }
  driver().destroy_stream(stream_);
  for (const CUdeviceptr memory : allocations_) driver().free(memory);
  driver().destroy_context(context_);
}

std::uint8_t* CallersContext::allocate(std::size_t bytes) {
  CUdeviceptr memory = 0;
  check(driver().allocate(&memory, bytes), "allocating memory");
  allocations_.push_back(memory);
  return reinterpret_cast<std::uint8_t*>(memory);
}

void CallersContext::upload(std::uint8_t* d_to, const void* from, std::size_t bytes) const {
  check(driver().upload(address(d_to), from, bytes, stream_), "uploading");
  synchronise(stream_);
}

std::vector<std::uint8_t> CallersContext::download(const std::uint8_t* d_from, std::size_t bytes) const {
  std::vector<std::uint8_t> out(bytes);
  check(driver().download(out.data(), address(d_from), bytes, stream_), "downloading");
  synchronise(stream_);
  return out;
}

void CallersContext::synchronise(cudaStream_t stream) const {
  check(driver().synchronise(stream), "waiting for a stream");
}

void CallersContext::copy_late(std::uint8_t* d_to, const std::uint8_t* d_from, std::size_t bytes,
                               cudaStream_t stream) const {
  keep_busy(d_delay_, stream);
  check(driver().copy(address(d_to), address(d_from), bytes, stream), "copying");
}

ContextClip::ContextClip(CallersContext& context, const std::vector<FramePlanes>& pictures)
    : context_(context) {
  for (const FramePlanes& picture : pictures) {
    Planes& planes = frames_.emplace_back();
    planes.frame.format = picture.format;
    planes.frame.memory = MemoryKind::device;
    planes.frame.width = picture.width, planes.frame.height = picture.height;
    for (int p = 0; p < encoder::plane_count(picture.format); ++p) {
      planes.bytes[p] = picture.plane[p].size();
      planes.d_from[p] = context.allocate(planes.bytes[p]);
      context.upload(planes.d_from[p], picture.plane[p].data(), planes.bytes[p]);
      planes.frame.plane[p] = context.allocate(planes.bytes[p]);
      planes.frame.pitch[p] = picture.pitch[p];
      blank_.resize(std::max(blank_.size(), planes.bytes[p]));
    }
  }
}

Frame ContextClip::write(std::size_t i, cudaStream_t stream) const {
  const Planes& planes = frames_[i];
  context_.synchronise(stream);
  set_prompt(context_.stream());
  const int count = encoder::plane_count(planes.frame.format);
  for (int p = 0; p < count; ++p) {
    context_.upload(const_cast<std::uint8_t*>(planes.frame.plane[p]), blank_.data(), planes.bytes[p]);
  }
  for (int p = 0; p < count; ++p) {
    context_.copy_late(const_cast<std::uint8_t*>(planes.frame.plane[p]), planes.d_from[p], planes.bytes[p],
                       stream);
  }
  Frame frame = planes.frame;
  frame.stream = stream;
  frame.pts = static_cast<std::int64_t>(3 * i + 1);
  return frame;
}

}  // namespace cu264::parity
