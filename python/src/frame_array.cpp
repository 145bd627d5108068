#include "frame_array.h"

#include <algorithm>

#include "device_memory.h"

namespace cu264::python {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw nb::value_error(what.c_str());
}

bool are_channels(std::int64_t size) {
  return size == 1 || size == 3 || size == 4;
}

PixelFormat planar(Number number) {
  switch (number) {
    case Number::uint8:
      return PixelFormat::rgb_planar;
    case Number::half:
      return PixelFormat::rgb_half_planar;
    case Number::bfloat16:
      return PixelFormat::rgb_bfloat16_planar;
    default:
      return PixelFormat::rgb_float_planar;
  }
}

PixelFormat interleaved(Number number) {
  switch (number) {
    case Number::uint8:
      return PixelFormat::rgb24;
    case Number::half:
      return PixelFormat::rgb_half;
    case Number::bfloat16:
      return PixelFormat::rgb_bfloat16;
    default:
      return PixelFormat::rgb_float;
  }
}

struct NamedFormat {
  PixelFormat format;
  const char* name;  // as in Config's option input-format
};

constexpr NamedFormat kFormats[] = {{PixelFormat::i420, "i420"},
                                    {PixelFormat::nv12, "nv12"},
                                    {PixelFormat::rgb24, "rgb24"},
                                    {PixelFormat::bgr24, "bgr24"},
                                    {PixelFormat::rgba32, "rgba32"},
                                    {PixelFormat::rgb_planar, "rgb-planar"},
                                    {PixelFormat::rgb_float_planar, "rgb-float-planar"},
                                    {PixelFormat::rgb_float, "rgb-float"},
                                    {PixelFormat::rgb_half_planar, "rgb-half-planar"},
                                    {PixelFormat::rgb_half, "rgb-half"},
                                    {PixelFormat::rgb_bfloat16_planar, "rgb-bfloat16-planar"},
                                    {PixelFormat::rgb_bfloat16, "rgb-bfloat16"}};

}  // namespace

FrameArray::FrameArray(nb::handle object, const std::optional<std::string>& layout,
                       const std::optional<std::string>& colour, bool signed_floats)
    : array_(import_array(object)) {
  const bool ycbcr = colour == "nv12" || colour == "i420";
  if (colour && !ycbcr && colour != "rgb" && colour != "bgr" && colour != "gray") {
    refuse("pixel_format is \"" + *colour + "\", but must be rgb, bgr, gray, nv12 or i420");
  }
  const Dimensions d = dimensions(layout, ycbcr);
  const bool gray = d.c.size == 1;
  if (colour && !ycbcr && gray != (colour == "gray")) {
    refuse("pixel_format is \"" + *colour + "\", but the frames, a " + array_.describe() + ", have " +
           std::to_string(d.c.size) + " channels");
  }
  count_ = d.t.size, frame_stride_ = d.t.stride;
  first_.width = static_cast<int>(std::min<std::int64_t>(d.w.size, 1 << 20));
  first_.height = static_cast<int>(std::min<std::int64_t>(d.h.size, 1 << 20));
  first_.memory = array_.on_device ? MemoryKind::device : MemoryKind::host;
  first_.stream = array_.stream;
  first_.float_range = signed_floats ? FloatRange::minus_one_to_one : FloatRange::zero_to_one;
  ycbcr ? set_ycbcr(d, colour == "nv12") : set_rgb(d, colour == "bgr");
}

std::string FrameArray::default_layout(bool ycbcr) const {
  const auto& shape = array_.shape;
  const std::string remedy = " (say layout=, in letters T, H, W and C)";
  if (ycbcr) {
    if (shape.size() == 2) return "HW";
    if (shape.size() == 3) return "THW";
    refuse("frames of nv12 or i420 must have shape (T, H * 3 / 2, W) or (H * 3 / 2, W), not a " +
           array_.describe());
  }
  switch (shape.size()) {
    case 2:
      return "HW";
    case 3:
      // A last dimension of 3 wins over a first one, because pictures three samples wide are rare.
      if (shape[2] == 3 || shape[2] == 4) return "HWC";
      return shape[0] == 3 ? "CHW" : "THW";
    case 4:
      if (are_channels(shape[3]) && are_channels(shape[1])) {
        refuse("a " + array_.describe() + " may be THWC or TCHW" + remedy);
      }
      if (are_channels(shape[3])) return "THWC";
      if (are_channels(shape[1])) return "TCHW";
      refuse("frames must have 1, 3 or 4 channels: a " + array_.describe() + " is neither THWC nor TCHW");
    default:
      refuse("frames must have two to four dimensions (T, H, W, C or T, C, H, W), not a " +
             array_.describe());
  }
}

FrameArray::Dimensions FrameArray::dimensions(const std::optional<std::string>& given, bool ycbcr) const {
  const std::string layout = given ? *given : default_layout(ycbcr);
  Dimensions d;
  std::string seen;
  if (layout.size() != array_.shape.size()) {
    refuse("layout \"" + layout + "\" does not fit a " + array_.describe());
  }
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const char name = layout[i];
    Dimension* const to = name == 'T'   ? &d.t
                          : name == 'H' ? &d.h
                          : name == 'W' ? &d.w
                          : name == 'C' ? &d.c
                                        : nullptr;
    if (to == nullptr || seen.find(name) != std::string::npos) {
      refuse("layout \"" + layout + "\" must have each of H and W, and at most one T and C");
    }
    seen += name;
    *to = {array_.shape[i], array_.strides[i]};
  }
  if (seen.find('H') == std::string::npos || seen.find('W') == std::string::npos) {
    refuse("layout \"" + layout + "\" must have each of H and W, and at most one T and C");
  }
  if (d.h.size < 1 || d.w.size < 1) refuse("frames have no samples: a " + array_.describe());
  if (!are_channels(d.c.size) || (ycbcr && d.c.size != 1)) {
    refuse("frames have " + std::to_string(d.c.size) + " channels, but must have " +
           (ycbcr ? "none in nv12 and i420" : "1, 3 or 4"));
  }
  return d;
}

void FrameArray::set_rgb(Dimensions d, bool bgr) {
  const std::int64_t number = bytes_of(array_.number), channels = d.c.size;
  if (channels == 3 && d.c.stride == -number) {  // frames[..., ::-1], as OpenCV's users write it
    array_.data += 2 * d.c.stride;
    d.c.stride = number, bgr = !bgr;
  }
  // The stride of a dimension of one element means nothing.
  const bool packed =
      channels > 1 && d.c.stride == number && (d.w.size == 1 || d.w.stride == channels * number);
  const bool apart = !packed && (d.w.size == 1 || d.w.stride == number);
  const bool taken = packed && (channels == 3 ? !bgr || number == 1 : number == 1 && !bgr);
  if (!taken && !apart) {
    refuse(
        "the pixels of a row are not adjacent, or not in an order that is taken: make the frames contiguous "
        "RGB (torch: "
        "frames.contiguous(), NumPy: numpy.ascontiguousarray(frames)); they are an " +
        array_.describe());
  }
  const std::int64_t row = d.w.size * number * (packed ? channels : 1);
  const std::int64_t pitch = d.h.size == 1 ? row : d.h.stride;
  if (packed) {
    first_.format = channels == 4 ? PixelFormat::rgba32
                    : bgr         ? PixelFormat::bgr24
                                  : interleaved(array_.number);
    first_.plane[0] = array_.data, first_.pitch[0] = pitch;
    return;
  }
  first_.format = planar(array_.number);
  for (int c = 0; c < 3; ++c) {  // gray has the same samples in all three
    const std::int64_t channel = channels == 1 ? 0 : bgr ? 2 - c : c;
    first_.plane[c] = array_.data + channel * d.c.stride, first_.pitch[c] = pitch;
  }
}

void FrameArray::set_ycbcr(const Dimensions& d, bool nv12) {
  if (array_.number != Number::uint8) {
    throw nb::type_error(("frames of nv12 and i420 must be uint8, not a " + array_.describe()).c_str());
  }
  if (d.h.size % 3 != 0 || d.h.size / 3 * 2 % 2 != 0 || d.w.size % 2 != 0) {
    refuse("frames of nv12 and i420 must have shape (T, H * 3 / 2, W) with even H and W, not a " +
           array_.describe());
  }
  if (d.w.stride != 1) refuse("the samples of a row are not adjacent: make the frames contiguous");
  const std::int64_t height = d.h.size / 3 * 2, pitch = d.h.stride;
  first_.height = static_cast<int>(height);
  first_.plane[0] = array_.data, first_.pitch[0] = pitch;
  first_.plane[1] = array_.data + height * pitch;
  if (nv12) {
    first_.format = PixelFormat::nv12, first_.pitch[1] = pitch;
    return;
  }
  // The planes of I420 lie one behind the other, so their rows are half a row of the array.
  if (pitch != d.w.size) refuse("frames of i420 must be contiguous");
  first_.format = PixelFormat::i420;
  first_.pitch[1] = first_.pitch[2] = pitch / 2;
  first_.plane[2] = first_.plane[1] + height / 2 * (pitch / 2);
}

const char* FrameArray::format() const {
  for (const NamedFormat& named : kFormats) {
    if (named.format == first_.format) return named.name;
  }
  return "";
}

Frame FrameArray::frame(std::int64_t index) const {
  Frame frame = first_;
  for (const std::uint8_t*& plane : frame.plane) {
    if (plane != nullptr) plane += index * frame_stride_;
  }
  return frame;
}

int FrameArray::plane_count() const {
  return static_cast<int>(
      std::count_if(first_.plane, first_.plane + 3, [](const auto* plane) { return plane != nullptr; }));
}

void FrameArray::plane_rows(int plane, std::int64_t& bytes, std::int64_t& rows) const {
  const bool chroma = plane > 0 && (first_.format == PixelFormat::nv12 || first_.format == PixelFormat::i420);
  const bool half_width = chroma && first_.format == PixelFormat::i420;
  const bool packed = plane_count() == 1;
  const std::int64_t number = bytes_of(array_.number);
  const std::int64_t channels = !packed ? 1 : first_.format == PixelFormat::rgba32 ? 4 : 3;
  bytes = (half_width ? first_.width / 2 : first_.width) * number * channels;
  rows = chroma ? first_.height / 2 : first_.height;
}

void FrameArray::copy() {
  if (!array_.on_device || count_ == 0) return;
  constexpr std::int64_t kAlignment = 256;
  const bool gray = first_.plane[1] == first_.plane[0];
  std::int64_t offset[3] = {}, size = 0;
  const int planes = plane_count();
  for (int p = 0; p < planes; ++p) {
    std::int64_t bytes = 0, rows = 0;
    plane_rows(p, bytes, rows);
    offset[p] = gray ? 0 : size;
    if (!gray || p == 0) size += (bytes * rows + kAlignment - 1) / kAlignment * kAlignment;
  }
  device_copy_ = allocate_on_device(static_cast<std::size_t>(size * count_), array_.device, array_.stream);
  for (std::int64_t i = 0; i < count_; ++i) {
    const Frame from = frame(i);
    for (int p = 0; p < (gray ? 1 : planes); ++p) {
      std::int64_t bytes = 0, rows = 0;
      plane_rows(p, bytes, rows);
      if (from.pitch[p] < bytes)
        refuse("rows of the frames overlap or run backwards: make the frames contiguous");
      copy_rows(device_copy_.get() + i * size + offset[p], bytes, from.plane[p], from.pitch[p], bytes, rows,
                array_.stream);
    }
  }
  synchronise(array_.stream);
  for (int p = 0; p < planes; ++p) {
    std::int64_t bytes = 0, rows = 0;
    plane_rows(p, bytes, rows);
    first_.plane[p] = device_copy_.get() + offset[p], first_.pitch[p] = bytes;
  }
  frame_stride_ = size;
  array_.owner = nb::object();
}

}  // namespace cu264::python
