#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings.h"
#include "cu264/encoder.h"
#include "edge_detector.h"

namespace cu264::python {
namespace {

using namespace nb::literals;

canny::Partition partition_of(const std::string& name) {
  if (name == "columns") return canny::Partition::columns;
  if (name == "rows") return canny::Partition::rows;
  if (name == "frame") return canny::Partition::frame;
  throw nb::value_error(("partition is \"" + name + "\", but must be columns, rows or frame").c_str());
}

}  // namespace

void bind_edges(nb::module_& m) {
  using canny::Params;
  nb::class_<Params>(m, "EdgeParams")
      .def(
          "__init__",
          [](Params* params, int sigma_tenths, const std::optional<std::vector<int>>& candidates,
             const std::string& partition, bool density_scaling,
             const std::optional<std::tuple<int, int>>& fixed, int noise_floor) {
            new (params) Params();
            params->sigma_tenths = sigma_tenths, params->partition = partition_of(partition);
            if (candidates) params->candidates = *candidates;
            params->density_scaling = density_scaling, params->noise_floor = noise_floor;
            if (fixed) params->fixed = canny::ThresholdPair{std::get<0>(*fixed), std::get<1>(*fixed)};
          },
          "sigma_tenths"_a, "candidates"_a.none(), "partition"_a, "density_scaling"_a, "fixed"_a.none(),
          "noise_floor"_a);
  nb::class_<EdgeDetector>(m, "EdgeDetector")
      .def(
          "__init__",
          [](EdgeDetector* detector, const Params& params, int width, int height, const std::string& backend,
             int device, int threads, int batch) {
            Config parsed;
            parsed.set("backend", backend);
            new (detector) EdgeDetector(params, width, height, {parsed.backend, threads, device, batch});
          },
          "params"_a, "width"_a, "height"_a, "backend"_a, "device"_a, "threads"_a, "batch"_a)
      .def("detect", &EdgeDetector::detect, "pictures"_a, "out"_a)
      .def_prop_ro("backend", &EdgeDetector::backend);
}

}  // namespace cu264::python
