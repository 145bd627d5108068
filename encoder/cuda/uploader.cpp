#include "encoder/cuda/uploader.h"

#include <string>
#include <utility>

#include "common/cuda/callers_stream.h"
#include "encoder/cuda/convert_rgb.h"
#include "encoder/frame_layout.h"

namespace cu264::encoder::cuda {
namespace {

// A plane in memory order, even if its pitch is negative.
struct Rows {
  const std::uint8_t* lowest = nullptr;
  std::size_t pitch = 0;
  std::size_t bytes = 0;  // bytes of a row
  std::size_t count = 0;
};

Rows rows_of(const Frame& frame, int plane) {
  Rows rows;
  rows.count = static_cast<std::size_t>(plane_side(frame.format, plane, frame.height));
  rows.bytes = static_cast<std::size_t>(row_bytes(frame.format, plane, frame.width));
  const std::ptrdiff_t pitch = frame.pitch[plane];
  const bool bottom_up = pitch < 0;
  rows.pitch = static_cast<std::size_t>(bottom_up ? -pitch : pitch);
  rows.lowest = frame.plane[plane] + (bottom_up ? pitch * static_cast<std::ptrdiff_t>(rows.count - 1) : 0);
  return rows;
}

// The frame's planes once its rows have been copied to `d_to` in the order of memory.
SourcePicture staged(const Frame& frame, const PackedLayout& layout, const std::uint8_t* d_to) {
  SourcePicture picture;
  for (int plane = 0; plane < plane_count(frame.format); ++plane) {
    const std::ptrdiff_t pitch = layout.pitch[plane],
                         last = plane_side(frame.format, plane, frame.height) - 1;
    const bool bottom_up = frame.pitch[plane] < 0;
    picture.plane[plane] = d_to + layout.offset[plane] + (bottom_up ? pitch * last : 0);
    picture.pitch[plane] = bottom_up ? -pitch : pitch;
  }
  return picture;
}

SourcePicture in_place(const Frame& frame) {
  SourcePicture picture;
  for (int plane = 0; plane < plane_count(frame.format); ++plane) {
    picture.plane[plane] = frame.plane[plane];
    picture.pitch[plane] = frame.pitch[plane];
  }
  return picture;
}

// Returns whether a plane begins where the rows of the previous one end, so that both are one piece of
// memory.
bool follows(const Frame& frame, int plane) {
  const std::ptrdiff_t pitch = frame.pitch[plane - 1],
                       rows = plane_side(frame.format, plane - 1, frame.height);
  return pitch > 0 && frame.plane[plane] == frame.plane[plane - 1] + pitch * rows;
}

}  // namespace

// Reading a pointer to host memory or to another device would be a fault that destroys the whole context.
void check_on_device(const Frame& frame, int device) {
  for (int plane = 0; plane < plane_count(frame.format); ++plane) {
    if (plane > 0 && follows(frame, plane)) continue;
    // Any context of the device can read memory that another one of them has allocated.
    const MemoryPlace place = place_of(frame.plane[plane]);
    if (place.managed || (place.on_device && place.device == device)) continue;
    throw Error(ErrorCode::bad_input,
                "plane " + std::to_string(plane) + " of a frame is not in the memory of device " +
                    std::to_string(device),
                "set Frame::memory and Config::devices to where the frames are");
  }
}

Uploader::Uploader(const StreamParams& params, std::uint8_t* d_rgb, int device, bool urgent)
    : matrix_(core::make_colour_matrix(params.input.matrix_coefficients, params.input.full_range)),
      buffer_bytes_(upload_bytes(params)),
      device_(device),
      d_rgb_(d_rgb),
      stream_(std::make_shared<const Stream>(urgent ? Stream::Priority::high : Stream::Priority::normal)) {}

std::size_t Uploader::buffer_bytes(const StreamParams& params) {
  return kUploadBuffers * upload_bytes(params);
}

void Uploader::make_buffers() {
  memory_ = take_pinned(kUploadBuffers * buffer_bytes_);
  for (int i = 0; i < kUploadBuffers; ++i) {
    buffers_[i].memory = memory_.get() + static_cast<std::size_t>(i) * buffer_bytes_;
  }
}

PixelFormat Uploader::format_on_device(PixelFormat format) {
  return is_rgb(format) ? PixelFormat::i420 : format;
}

UploadedFrame Uploader::upload(const Frame& frame, Written written, std::uint8_t* d_staging) {
  const bool rgb = is_rgb(frame.format);
  if (frame.memory == MemoryKind::device) {
    if (!written) {
      check_on_device(frame, device_);
      written = marker_.mark(static_cast<cudaStream_t>(frame.stream));
    }
    if (!rgb) return {in_place(frame), std::move(written)};
    written->hold_back(*stream_);
    return {convert(frame, in_place(frame), d_staging), uploaded()};
  }
  std::uint8_t* const d_to = rgb ? d_rgb_ : d_staging;
  const SourcePicture picture =
      frame.memory == MemoryKind::pinned ? copy_pinned(frame, d_to) : copy_host(frame, d_to);
  return {rgb ? convert(frame, picture, d_staging) : picture, uploaded()};
}

const Written& Uploader::uploaded() {
  if (!uploaded_ || !uploaded_->open()) uploaded_ = marker_.open_mark(stream_);
  return uploaded_;
}

void Uploader::close_mark() {
  if (uploaded_) uploaded_->close();
}

SourcePicture Uploader::copy_pinned(const Frame& frame, std::uint8_t* d_to) {
  const PackedLayout layout = packed_layout(frame.format, frame.width, frame.height);
  for (int plane = 0; plane < plane_count(frame.format); ++plane) {
    const Rows rows = rows_of(frame, plane);
    std::uint8_t* const d_plane = d_to + layout.offset[plane];
    const auto pitch = static_cast<std::size_t>(layout.pitch[plane]);
    // If both sides have the same pitch, the plane is copied in one piece: copying short rows one by one does
    // not reach the rate of the bus.
    check_cuda(rows.pitch == pitch
                   ? cudaMemcpyAsync(d_plane, rows.lowest, pitch * (rows.count - 1) + rows.bytes,
                                     cudaMemcpyHostToDevice, stream_->get())
                   : cudaMemcpy2DAsync(d_plane, pitch, rows.lowest, rows.pitch, rows.bytes, rows.count,
                                       cudaMemcpyHostToDevice, stream_->get()),
               "uploading a frame");
  }
  return staged(frame, layout, d_to);
}

SourcePicture Uploader::copy_host(const Frame& frame, std::uint8_t* d_to) {
  const PackedLayout layout = packed_layout(frame.format, frame.width, frame.height);
  if (!memory_) make_buffers();
  UploadBuffer& buffer = buffers_[next_buffer_];
  next_buffer_ = (next_buffer_ + 1) % kUploadBuffers;
  buffer.copied.wait();
  const Frame copy = pack_frame(frame, buffer.memory);
  check_cuda(cudaMemcpyAsync(d_to, buffer.memory, layout.bytes, cudaMemcpyHostToDevice, stream_->get()),
             "uploading a frame");
  buffer.copied.record(stream_->get());
  return staged(copy, layout, d_to);
}

SourcePicture Uploader::convert(const Frame& frame, const SourcePicture& rgb, std::uint8_t* d_staging) {
  const PackedLayout layout = packed_layout(PixelFormat::i420, frame.width, frame.height);
  core::RgbPicture from{frame.format, frame.width, frame.height, {}, {}, frame.float_range};
  ConvertedPlanes planes;
  SourcePicture picture;
  for (int plane = 0; plane < 3; ++plane) {
    from.plane[plane] = rgb.plane[plane], from.pitch[plane] = rgb.pitch[plane];
    planes.plane[plane] = d_staging + layout.offset[plane], planes.pitch[plane] = layout.pitch[plane];
    picture.plane[plane] = planes.plane[plane], picture.pitch[plane] = planes.pitch[plane];
  }
  launch_ingest(from, matrix_, planes, stream_->get());
  return picture;
}

}  // namespace cu264::encoder::cuda
