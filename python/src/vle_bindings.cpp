#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bindings.h"
#include "cu264/vle.h"
#include "encoder_session.h"

namespace cu264::python {
namespace {

using namespace nb::literals;

vle::StreamOptions options_of(const std::string& backend, int device, int threads) {
  Config parsed;
  parsed.set("backend", backend);
  vle::StreamOptions options;
  options.backend = parsed.backend, options.device = device, options.threads = threads;
  return options;
}

// Python's files, which the library reads and writes on threads of its own
vle::Source source_of(const nb::object& file) {
  return [file](std::span<std::uint8_t> to) -> std::size_t {
    const AcquiredGil acquired;
    std::size_t filled = 0;
    while (filled < to.size()) {  // a pipe gives less than it was asked for
      const nb::object read = file.attr("read")(to.size() - filled);
      nb::bytes bytes;
      if (!nb::try_cast(read, bytes)) throw nb::type_error("read() of the source must return bytes");
      if (bytes.size() > to.size() - filled) throw nb::value_error("read() of the source returned too much");
      if (bytes.size() == 0) break;
      const std::span<const std::uint8_t> from = span_of(bytes);
      std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(filled));
      filled += from.size();
    }
    return filled;
  };
}

vle::Sink sink_of(const nb::object& file) {
  return [file](std::span<const std::uint8_t> from) {
    const AcquiredGil acquired;
    while (!from.empty()) {
      const nb::object count = file.attr("write")(bytes_of(from));
      if (count.is_none()) return;  // files of other kinds than Python's own write everything
      const auto written = nb::cast<std::size_t>(count);
      if (written == 0 || written > from.size()) throw nb::value_error("write() of the target took no bytes");
      from = from.subspan(written);
    }
  };
}

using Coder = vle::StreamReport (*)(const vle::Source&, const vle::Sink&, const vle::StreamOptions&);
using MemoryCoder = std::vector<std::uint8_t> (*)(std::span<const std::uint8_t>, const vle::StreamOptions&);

template <MemoryCoder Code>
nb::bytes code_bytes(const nb::bytes& data, const std::string& backend, int device, int threads) {
  std::vector<std::uint8_t> made;
  {
    const std::span<const std::uint8_t> bytes = span_of(data);
    const vle::StreamOptions options = options_of(backend, device, threads);
    const ReleasedGil released;
    made = Code(bytes, options);
  }
  return bytes_of(made);
}

template <Coder Code>
std::tuple<std::uint64_t, std::uint64_t> code_file(const nb::object& source, const nb::object& target,
                                                   const std::string& backend, int device, int threads) {
  const vle::StreamOptions options = options_of(backend, device, threads);
  const vle::Source read = source_of(source);
  const vle::Sink write = sink_of(target);
  const ReleasedGil released;
  const vle::StreamTotals totals = Code(read, write, options).totals;
  return {totals.original, totals.container};
}

std::tuple<nb::bytes, std::uint64_t> encode(const vle::CodeTable& table, const nb::bytes& data) {
  std::vector<std::uint8_t> stream;
  std::uint64_t bits = 0;
  {
    const std::span<const std::uint8_t> bytes = span_of(data);
    const ReleasedGil released;
    stream.resize(vle::stream_bytes(vle::stream_bits(table, vle::histogram(bytes))));
    bits = vle::encode(table, bytes, stream);
  }
  return {bytes_of(stream), bits};
}

nb::bytes decode(const vle::CodeTable& table, const nb::bytes& stream, std::uint64_t bits, std::size_t size) {
  std::vector<std::uint8_t> data;
  {
    const std::span<const std::uint8_t> bytes = span_of(stream);
    const ReleasedGil released;
    if (size > bits) throw Error(ErrorCode::bad_input, "the stream does not hold so many symbols");
    data.resize(size);
    vle::decode(table, bytes, bits, data);
  }
  return bytes_of(data);
}

}  // namespace

void bind_vle(nb::module_& m) {
  m.def("vle_compress", &code_bytes<vle::compress>, "data"_a, "backend"_a, "device"_a, "threads"_a);
  m.def("vle_expand", &code_bytes<vle::expand>, "data"_a, "backend"_a, "device"_a, "threads"_a);
  m.def("vle_compress_file", &code_file<vle::compress>, "source"_a, "target"_a, "backend"_a, "device"_a,
        "threads"_a);
  m.def("vle_expand_file", &code_file<vle::expand>, "source"_a, "target"_a, "backend"_a, "device"_a,
        "threads"_a);
  m.def(
      "vle_histogram", [](const nb::bytes& data) { return vle::histogram(span_of(data)); }, "data"_a);
  nb::class_<vle::CodeTable>(m, "CodeTable", "A Huffman code of bytes.")
      .def(
          "__init__",
          [](vle::CodeTable* table, const vle::Histogram& counts, int longest) {
            new (table) vle::CodeTable(vle::make_code_table(counts, longest));
          },
          "counts"_a, "longest"_a = vle::kShortCode,
          "The best code for 256 counts whose codes have at most `longest` bits, 1 to 32.")
      .def_prop_ro(
          "codes", [](const vle::CodeTable& table) { return table.code; }, "list of int: right-aligned.")
      .def_prop_ro(
          "lengths", [](const vle::CodeTable& table) { return table.length; },
          "list of int: bits; 0 for a byte without a code.")
      .def("encode", &encode, "data"_a,
           "The bits of `data` as bytes, filled from the highest bit on, and their number.")
      .def("decode", &decode, "stream"_a, "bits"_a, "size"_a,
           "The `size` bytes that `bits` bits of `stream` stand for.");
}

}  // namespace cu264::python
