#include "encoder/frame_check.h"

#include <string>

#include "encoder/config.h"
#include "encoder/frame_layout.h"

namespace cu264::encoder {
namespace {

std::string size_text(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

void check_format(const Frame& frame, std::optional<PixelFormat> format, const std::string& name) {
  const char* const own = name_of(frame.format);  // throws if it is none of ours
  if (format && *format != frame.format) {
    throw Error(ErrorCode::bad_input, name + " is " + own + ", but this encoder takes " + name_of(*format),
                "convert the frame, or open another encoder");
  }
  if (!format && is_rgb(frame.format)) {
    throw Error(ErrorCode::bad_input,
                name + " is " + own + ", but the stream's headers do not tell of a conversion",
                "set Config::input_format before the encoder opens");
  }
}

void check_plane(const Frame& frame, int plane, const std::string& where) {
  if (frame.plane[plane] == nullptr) {
    throw Error(ErrorCode::invalid_argument, where + ": no samples", "set Frame::plane");
  }
  const std::ptrdiff_t pitch = frame.pitch[plane];
  const std::ptrdiff_t bytes = row_bytes(frame.format, plane, frame.width);
  if (pitch < bytes && -pitch < bytes) {
    throw Error(ErrorCode::invalid_argument,
                where + ": pitch " + std::to_string(pitch) + " is less than the row's " +
                    std::to_string(bytes) + " bytes",
                "set Frame::pitch");
  }
  const int alignment = number_bytes(frame.format);
  if (reinterpret_cast<std::uintptr_t>(frame.plane[plane]) % static_cast<unsigned>(alignment) != 0 ||
      pitch % alignment != 0) {
    throw Error(ErrorCode::invalid_argument,
                where + ": numbers are not aligned to " + std::to_string(alignment) + " bytes",
                "align the plane and its pitch");
  }
}

}  // namespace

void check_frame(const Frame& frame, const Config& config, std::optional<PixelFormat> format,
                 bool reads_device_memory, std::uint64_t index) {
  const std::string name = "frame " + std::to_string(index);
  if (frame.memory == MemoryKind::device && !reads_device_memory) {
    throw Error(ErrorCode::unsupported, name + " lies in device memory, which the cpu backend cannot read",
                "copy it to the host, or use the cuda backend");
  }
  if (frame.width != config.width || frame.height != config.height) {
    throw Error(ErrorCode::bad_input,
                name + " is " + size_text(frame.width, frame.height) + ", but the encoder was opened for " +
                    size_text(config.width, config.height),
                "scale the frame, or open another encoder");
  }
  if (frame.qp && (*frame.qp < 0 || *frame.qp > 51)) {
    throw Error(ErrorCode::invalid_argument, name + " has the QP " + std::to_string(*frame.qp),
                "set Frame::qp to 0..51, or leave it out");
  }
  if (frame.duration < 0) {
    throw Error(ErrorCode::invalid_argument, name + " lasts " + std::to_string(frame.duration) + " units",
                "set Frame::duration to what is positive, or to 0");
  }
  if (frame.added_bytes < 0 || frame.added_bytes > kMaxFrameBytes) {
    throw Error(ErrorCode::invalid_argument,
                name + " has " + std::to_string(frame.added_bytes) + " added bytes",
                "set Frame::added_bytes to 0.." + std::to_string(kMaxFrameBytes));
  }
  check_format(frame, format, name);
  for (int plane = 0; plane < plane_count(frame.format); ++plane) {
    check_plane(frame, plane, name + ", plane " + std::to_string(plane));
  }
}

}  // namespace cu264::encoder
