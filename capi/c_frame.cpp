#include "capi/c_frame.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "capi/boundary.h"

namespace cu264::capi {
namespace {

// Without these members there is no picture.
constexpr std::size_t kMinFrameSize = offsetof(cu264_frame, pts);

static_assert(CU264_FORMAT_I420 == static_cast<int>(PixelFormat::i420));
static_assert(CU264_FORMAT_NV12 == static_cast<int>(PixelFormat::nv12));
static_assert(CU264_FORMAT_GRAY8 == static_cast<int>(PixelFormat::gray8));
static_assert(CU264_FORMAT_RGB24 == static_cast<int>(PixelFormat::rgb24));
static_assert(CU264_FORMAT_BGR24 == static_cast<int>(PixelFormat::bgr24));
static_assert(CU264_FORMAT_RGBA32 == static_cast<int>(PixelFormat::rgba32));
static_assert(CU264_FORMAT_RGB_PLANAR == static_cast<int>(PixelFormat::rgb_planar));
static_assert(CU264_FORMAT_RGB_FLOAT_PLANAR == static_cast<int>(PixelFormat::rgb_float_planar));
static_assert(CU264_FORMAT_RGB_FLOAT == static_cast<int>(PixelFormat::rgb_float));
static_assert(CU264_FORMAT_RGB_HALF_PLANAR == static_cast<int>(PixelFormat::rgb_half_planar));
static_assert(CU264_FORMAT_RGB_HALF == static_cast<int>(PixelFormat::rgb_half));
static_assert(CU264_FORMAT_RGB_BFLOAT16_PLANAR == static_cast<int>(PixelFormat::rgb_bfloat16_planar));
static_assert(CU264_FORMAT_RGB_BFLOAT16 == static_cast<int>(PixelFormat::rgb_bfloat16));
static_assert(CU264_FORMAT_BGRA32 == static_cast<int>(PixelFormat::bgra32));
static_assert(CU264_MEMORY_HOST == static_cast<int>(MemoryKind::host));
static_assert(CU264_MEMORY_PINNED == static_cast<int>(MemoryKind::pinned));
static_assert(CU264_MEMORY_DEVICE == static_cast<int>(MemoryKind::device));
static_assert(CU264_FLOAT_ZERO_TO_ONE == static_cast<int>(FloatRange::zero_to_one));
static_assert(CU264_FLOAT_MINUS_ONE_TO_ONE == static_cast<int>(FloatRange::minus_one_to_one));

// Converts a value that must be one of an enumeration's, which end with `last`.
template <class Enum>
Enum value_of(int32_t given, int32_t last, const char* what) {
  if (given < 0 || given > last) {
    throw Error(ErrorCode::invalid_argument, std::string(what) + " is " + std::to_string(given),
                "use 0 to " + std::to_string(last) + ", which cu264/cu264.h names");
  }
  return static_cast<Enum>(given);
}

}  // namespace

Frame frame_of(const cu264_frame* frame) {
  const cu264_frame own = read_struct(frame, kMinFrameSize, "cu264_frame");
  Frame read;
  read.format = value_of<PixelFormat>(own.format, CU264_FORMAT_BGRA32, "cu264_frame.format");
  read.memory = value_of<MemoryKind>(own.memory, CU264_MEMORY_DEVICE, "cu264_frame.memory");
  read.float_range =
      value_of<FloatRange>(own.float_range, CU264_FLOAT_MINUS_ONE_TO_ONE, "cu264_frame.float_range");
  read.width = own.width, read.height = own.height;
  std::copy(std::begin(own.plane), std::end(own.plane), read.plane);
  std::copy(std::begin(own.pitch), std::end(own.pitch), read.pitch);
  read.pts = own.pts;
  read.user_data = own.user_data;
  read.stream = own.stream;
  read.added_bytes = own.added_bytes;
  if (own.has_qp != 0) read.qp = own.qp;
  read.key = own.key != 0;
  read.duration = own.duration;
  return read;
}

}  // namespace cu264::capi
