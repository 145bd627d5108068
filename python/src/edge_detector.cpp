#include "edge_detector.h"

#include <nanobind/ndarray.h>

#include <algorithm>

#include "device_memory.h"

namespace cu264::python {
namespace {

[[noreturn]] void refuse_out(const std::string& what) {
  throw nb::value_error(
      ("out must be a writable, contiguous uint8 array of the pictures' shape on their device; " + what)
          .c_str());
}

bool is_contiguous(const CallerArray& array) {
  std::int64_t stride = 1;
  for (std::size_t i = array.shape.size(); i-- > 0; stride *= array.shape[i]) {
    if (array.shape[i] != 1 && array.strides[i] != stride) return false;
  }
  return true;
}

std::uint8_t* host_memory(nb::handle out, std::size_t size) {
  nb::ndarray<std::uint8_t, nb::c_contig, nb::device::cpu> array;
  if (!nb::try_cast(export_of(out), array, false)) refuse_out("it is another object");
  if (array.size() != size) refuse_out("it has " + std::to_string(array.size()) + " bytes");
  return array.data();
}

}  // namespace

EdgeDetector::Thresholds EdgeDetector::detect(const FrameArray& pictures, nb::handle out) {
  if (std::string(pictures.format()) != "rgb-planar") {
    throw nb::type_error("pictures must be uint8 of shape (T, H, W) or (H, W)");
  }
  const auto count = static_cast<std::size_t>(pictures.count());
  const auto size = static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
  const auto sub_images = static_cast<std::size_t>(detector_->sub_images());
  std::vector<canny::Thresholds> found(count * sub_images);
  std::uint8_t* edges = nullptr;
  CallerArray target;
  if (pictures.on_device()) {
    target = import_array(out);
    if (!target.on_device || target.device != pictures.device()) refuse_out("it is elsewhere");
    std::int64_t bytes = 1;
    for (const std::int64_t side : target.shape) bytes *= side;
    if (target.number != Number::uint8 || !is_contiguous(target) ||
        bytes != static_cast<std::int64_t>(count * size)) {
      refuse_out("it is a " + target.describe());
    }
    edges = const_cast<std::uint8_t*>(target.data);
  } else {
    edges = host_memory(out, count * size);
  }
  const MemoryKind memory = pictures.on_device() ? MemoryKind::device : MemoryKind::host;
  void* const stream = pictures.on_device() ? stream_of(pictures.device()) : nullptr;
  ReleasedGil released;
  // Both arrays may have streams of their own, which `stream` waits for.
  if (pictures.on_device()) {
    synchronise(pictures.device(), pictures.frame(0).stream);
    synchronise(target.device, target.stream);
  }
  for (std::size_t first = 0; first < count;) {
    const std::size_t some = std::min(count - first, static_cast<std::size_t>(execution_.batch));
    const Frame frame = pictures.frame(static_cast<std::int64_t>(first));
    const Frame next = pictures.frame(static_cast<std::int64_t>(first) + 1);
    const canny::Pictures from{frame.plane[0], frame.pitch[0], next.plane[0] - frame.plane[0],
                               static_cast<int>(some)};
    const canny::EdgeMaps to{edges + first * size, width_, static_cast<std::ptrdiff_t>(size)};
    canny::Thresholds* const thresholds = &found[first * sub_images];
    if (memory == MemoryKind::device) {
      const auto d_thresholds =
          allocate_on_device(some * sub_images * sizeof(canny::Thresholds), pictures.device(), stream);
      const CurrentDevice current(pictures.device());
      detector_->detect(from, to, reinterpret_cast<canny::Thresholds*>(d_thresholds.get()), memory, stream);
      copy_to_host(thresholds, d_thresholds.get(), some * sub_images * sizeof(canny::Thresholds),
                   pictures.device(), stream);
    } else {
      detector_->detect(from, to, thresholds, memory);
    }
    first += some;
    released.let_signals_in();
  }
  Thresholds result(count);
  for (std::size_t i = 0; i < found.size(); ++i) {
    result[i / sub_images].emplace_back(found[i].low, found[i].high);
  }
  return result;
}

}  // namespace cu264::python
