#include "frame_array.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "device_memory.h"
#include "released_gil.h"

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
                                    {PixelFormat::bgra32, "bgra32"},
                                    {PixelFormat::rgb_planar, "rgb-planar"},
                                    {PixelFormat::rgb_float_planar, "rgb-float-planar"},
                                    {PixelFormat::rgb_float, "rgb-float"},
                                    {PixelFormat::rgb_half_planar, "rgb-half-planar"},
                                    {PixelFormat::rgb_half, "rgb-half"},
                                    {PixelFormat::rgb_bfloat16_planar, "rgb-bfloat16-planar"},
                                    {PixelFormat::rgb_bfloat16, "rgb-bfloat16"}};

}  // namespace

FrameArray::FrameArray(nb::handle object, const ArrayReading& reading) : array_(import_array(object)) {
  const std::optional<std::string>& colour = reading.colour;
  const bool ycbcr = colour == "nv12" || colour == "i420";
  if (colour && !ycbcr && colour != "rgb" && colour != "bgr" && colour != "gray") {
    refuse("pixel_format is \"" + *colour + "\", but must be rgb, bgr, gray, nv12 or i420");
  }
  const std::string layout = reading.layout ? *reading.layout : default_layout(reading, ycbcr);
  const Dimensions d = dimensions(layout, ycbcr);
  const bool gray = d.c.size == 1;
  if (colour && !ycbcr && gray != (colour == "gray")) {
    refuse("pixel_format is \"" + *colour + "\", but the frames, a " + array_.describe() + ", have " +
           std::to_string(d.c.size) + " channels");
  }
  std::copy_if(layout.begin(), layout.end(), std::back_inserter(picture_layout_),
               [&](char name) { return name != 'T' && (name != 'C' || !gray); });
  count_ = d.t.size, frame_stride_ = d.t.stride;
  first_.width = static_cast<int>(std::min<std::int64_t>(d.w.size, 1 << 20));
  first_.height = static_cast<int>(std::min<std::int64_t>(d.h.size, 1 << 20));
  first_.memory = array_.on_device ? MemoryKind::device : MemoryKind::host;
  first_.stream = array_.stream;
  floating_ = array_.number != Number::uint8;
  const bool to_bytes = reading.range == Range::bytes && array_.number != Number::uint8;
  first_.float_range =
      reading.range == Range::minus_one_to_one ? FloatRange::minus_one_to_one : FloatRange::zero_to_one;
  if (ycbcr) {
    set_ycbcr(d, colour == "nv12");
  } else if (to_bytes) {
    gather(d, colour == "bgr", true);
  } else {
    set_rgb(d, colour == "bgr");
  }
}

std::string FrameArray::default_layout_of_three(const ArrayReading& reading) const {
  const auto& shape = array_.shape;
  if (reading.colour == "gray") return "THW";
  // A last dimension of 3 wins over a first one, because pictures three samples wide are rare.
  if (shape[2] == 3 || shape[2] == 4) return "HWC";
  if (reading.single && are_channels(shape[0])) return "CHW";
  if (shape[0] != 3 && shape[0] != 4) return "THW";
  if (reading.colour) return "CHW";
  refuse("a " + array_.describe() + " may be one picture (layout=\"CHW\") or " + std::to_string(shape[0]) +
         " gray ones (layout=\"THW\"): say which");
}

std::string FrameArray::default_layout(const ArrayReading& reading, bool ycbcr) const {
  const auto& shape = array_.shape;
  const std::string remedy = " (say layout=, in letters T, H, W and C)";
  if (ycbcr) {
    if (shape.size() == 2) return "HW";
    if (shape.size() == 3) return "THW";
    refuse("frames of nv12 or i420 must have shape (T, H * 3 / 2, W) or (H * 3 / 2, W), not a " +
           array_.describe());
  }
  if (reading.known && shape.size() == reading.known->size()) return *reading.known;
  if (reading.known && shape.size() == reading.known->size() + 1) return "T" + *reading.known;
  switch (shape.size()) {
    case 2:
      return "HW";
    case 3:
      return default_layout_of_three(reading);
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

FrameArray::Dimensions FrameArray::dimensions(const std::string& layout, bool ycbcr) const {
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
  const bool taken = packed && (number == 1 || (channels == 3 && !bgr));
  if (packed && !taken && !array_.on_device) return gather(d, bgr, false);
  if (packed && !taken) {
    refuse("pixels of " + std::to_string(channels) +
           " channels in this order are taken in host memory only: a " + array_.describe() +
           " on a device must be planes of R, G and B (layout=\"TCHW\")");
  }
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
    if (channels == 4)
      first_.format = bgr ? PixelFormat::bgra32 : PixelFormat::rgba32;
    else
      first_.format = bgr ? PixelFormat::bgr24 : interleaved(array_.number);
    first_.plane[0] = array_.data, first_.pitch[0] = pitch;
    return;
  }
  first_.format = planar(array_.number);
  for (int c = 0; c < 3; ++c) {  // gray has the same samples in all three
    const std::int64_t channel = channels == 1 ? 0 : bgr ? 2 - c : c;
    first_.plane[c] = array_.data + channel * d.c.stride, first_.pitch[c] = pitch;
  }
}

// Copies samples of any order into planes of R, G and B in host memory; gray has one.
void FrameArray::gather(const Dimensions& d, bool bgr, bool to_bytes) {
  if (array_.on_device) {
    refuse(
        "value_range=(0, 255) is for floating-point numbers in host memory: on a device give uint8 (torch: "
        "frames.round().clamp(0, 255).to(torch.uint8))");
  }
  const std::int64_t from_bytes = bytes_of(array_.number), number = to_bytes ? 1 : from_bytes;
  const std::int64_t planes = d.c.size == 1 ? 1 : 3, plane = d.h.size * d.w.size * number;
  gathered_.resize(static_cast<std::size_t>(d.t.size * planes * plane));
  const auto gather_plane = [&](std::int64_t index) {
    const std::int64_t c = planes == 1 ? 0 : bgr ? 2 - index % planes : index % planes;
    const std::uint8_t* const from = array_.data + index / planes * d.t.stride + c * d.c.stride;
    std::uint8_t* to = gathered_.data() + index * plane;
    for (std::int64_t y = 0; y < d.h.size; ++y) {
      for (std::int64_t x = 0; x < d.w.size; ++x, to += number) {
        const std::uint8_t* const at = from + y * d.h.stride + x * d.w.stride;
        if (!to_bytes) {
          std::memcpy(to, at, static_cast<std::size_t>(number));
          continue;
        }
        const float value = to_float(at, array_.number);  // NaN is black
        *to = value > 0 ? static_cast<std::uint8_t>(std::min(value, 255.0F) + 0.5F) : std::uint8_t{0};
      }
    }
  };
  {
    const ReleasedGil released;
    tbb::parallel_for(std::int64_t{0}, d.t.size * planes, gather_plane);
  }
  if (to_bytes) array_.number = Number::uint8;
  array_.owner = nb::object(), array_.data = gathered_.data();
  first_.format = planar(array_.number);
  for (std::int64_t c = 0; c < 3; ++c) {
    first_.plane[c] = gathered_.data() + (planes == 1 ? 0 : c * plane), first_.pitch[c] = d.w.size * number;
  }
  frame_stride_ = planes * plane;
}

double FrameArray::clipped() const {
  if (array_.number == Number::uint8 || count_ == 0) return 0;
  constexpr std::int64_t kPictures = 4, kRows = 8, kColumns = 64;
  constexpr float kClearly = 0.02F;
  const float least = first_.float_range == FloatRange::minus_one_to_one ? -1 : 0;
  const std::int64_t number = bytes_of(array_.number), pictures = std::min(count_, kPictures);
  const std::int64_t asked = array_.on_device ? 1 : kRows;  // each row on a device is a copy
  std::int64_t bytes = 0, rows = 0, outside = 0, seen = 0;
  plane_rows(0, bytes, rows);
  std::vector<std::uint8_t> copied(array_.on_device ? static_cast<std::size_t>(bytes) : 0);
  const std::int64_t values = bytes / number, step = std::max<std::int64_t>(1, values / kColumns);
  for (std::int64_t p = 0; p < pictures; ++p) {
    const Frame from = frame(p * count_ / pictures);
    for (std::int64_t r = 0; r < asked; ++r) {
      const std::uint8_t* row = from.plane[0] + (2 * r + 1) * rows / (2 * asked) * from.pitch[0];
      if (array_.on_device) {
        copy_to_host(copied.data(), row, copied.size(), array_.device, array_.stream);
        row = copied.data();
      }
      for (std::int64_t i = 0; i < values; i += step, ++seen) {
        const float value = to_float(row + i * number, array_.number);
        outside += value < least - kClearly || value > 1 + kClearly ? 1 : 0;
      }
    }
  }
  return static_cast<double>(outside) / static_cast<double>(seen);
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
  // The planes of I420 lie one after another, so their rows are half a row of the array.
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
  const bool four = first_.format == PixelFormat::rgba32 || first_.format == PixelFormat::bgra32;
  const std::int64_t channels = !packed ? 1 : four ? 4 : 3;
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
                array_.device, array_.stream);
    }
  }
  synchronise(array_.device, array_.stream);
  for (int p = 0; p < planes; ++p) {
    std::int64_t bytes = 0, rows = 0;
    plane_rows(p, bytes, rows);
    first_.plane[p] = device_copy_.get() + offset[p], first_.pitch[p] = bytes;
  }
  frame_stride_ = size;
  array_.owner = nb::object();
}

}  // namespace cu264::python
