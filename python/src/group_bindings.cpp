#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "group_session.h"

namespace cu264::python {

using namespace nb::literals;

void bind_group(nb::module_& m) {
  nb::class_<GroupSession>(m, "GroupSession", "Streams that are encoded in common batches.")
      .def(
          "__init__",
          [](GroupSession* group, const Options& options, int batches_in_flight, std::int64_t longest_wait_us,
             int queue) {
            new (group) GroupSession(options, {batches_in_flight, longest_wait_us, queue});
          },
          "options"_a, "batches_in_flight"_a, "longest_wait_us"_a, "queue"_a)
      .def("open", &GroupSession::open, "format"_a)
      .def("submit", &GroupSession::submit, "stream"_a, "frames"_a, "pts"_a, "duration"_a, "key"_a,
           "qp"_a.none(), "timeout"_a.none())
      .def("receive", &GroupSession::receive, "stream"_a, "timeout"_a.none())
      .def("receive_any", &GroupSession::receive_any, "timeout"_a.none())
      .def("ready_descriptor", &GroupSession::ready_descriptor)
      .def("flush", &GroupSession::flush, "stream"_a)
      .def("close", &GroupSession::close, "stream"_a)
      .def(
          "headers", [](const GroupSession& g, GroupSession::Stream s) { return bytes_of(g.headers(s)); },
          "stream"_a)
      .def(
          "backend", [](const GroupSession& g, GroupSession::Stream s) { return g.info(s).backend; },
          "stream"_a)
      .def(
          "warnings", [](const GroupSession& g, GroupSession::Stream s) { return g.info(s).warnings; },
          "stream"_a)
      .def(
          "dropped", [](const GroupSession& g, GroupSession::Stream s) { return g.info(s).dropped; },
          "stream"_a);
}

}  // namespace cu264::python
