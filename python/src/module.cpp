// The module cu264._core: what the package's Python code is written with. It is not meant for programs.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "bindings.h"
#include "cu264/device.h"
#include "cu264/version.h"
#include "encoder_session.h"
#include "file_output.h"
#include "mp4_file.h"
#include "released_gil.h"

namespace cu264::python {
namespace {

using namespace nb::literals;

void translate_error(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const io::OutputError& error) {
    const std::string text = error.what();
    const std::size_t name = std::min(text.find(": cannot"), text.size());
    const std::size_t rest = std::min(name + 2, text.size());
    PyErr_SetObject(PyExc_OSError,
                    nb::make_tuple(error.system_error(), text.substr(rest), text.substr(0, name)).ptr());
  } catch (const Error& error) {
    PyObject* type = PyExc_RuntimeError;
    switch (error.code()) {
      case ErrorCode::invalid_argument:
      case ErrorCode::bad_input:
        type = PyExc_ValueError;
        break;
      case ErrorCode::bad_output:
        type = PyExc_OSError;
        break;
      case ErrorCode::out_of_memory:
        type = PyExc_MemoryError;
        break;
      default:
        break;
    }
    PyErr_SetString(type, in_our_words(error.what()).c_str());
  }
}

Mp4Audio audio_of(const std::string& codec, const nb::bytes& config, int sample_rate, int channels) {
  if (codec != "aac" && codec != "opus") {
    throw nb::value_error(("audio codec \"" + codec + "\" is not one of aac and opus").c_str());
  }
  return {codec == "aac" ? Mp4Audio::Codec::aac : Mp4Audio::Codec::opus, vector_of(config), sample_rate,
          channels};
}

Range range_of(const std::string& name) {
  return name == "bytes" ? Range::bytes : name == "minus_one_to_one" ? Range::minus_one_to_one : Range::unit;
}

// A view keeps its packet, whose bytes nobody changes.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Packet& packet = *nb::inst_ptr<Packet>(self);
  void* const bytes = const_cast<std::uint8_t*>(packet.data.data());  // read-only, as the 1 below says
  return PyBuffer_FillInfo(view, self, bytes, static_cast<Py_ssize_t>(packet.data.size()), 1, flags);
}

PyType_Slot kPacketSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

void bind_encoder(nb::module_& m) {
  nb::class_<FrameArray>(m, "FrameArray", "A caller's array as pictures; no sample is copied.")
      .def(
          "__init__",
          [](FrameArray* frames, nb::handle array, std::optional<std::string> layout,
             std::optional<std::string> pixel_format, const std::string& range,
             std::optional<std::string> known, bool single) {
            new (frames) FrameArray(array, {std::move(layout), std::move(pixel_format), range_of(range),
                                            std::move(known), single});
          },
          "array"_a.none(), "layout"_a.none(), "pixel_format"_a.none(), "range"_a = "unit",
          "known"_a.none() = nb::none(), "single"_a = false)
      .def_prop_ro("floating", &FrameArray::floating)
      .def_prop_ro("picture_layout", &FrameArray::picture_layout)
      .def("clipped", &FrameArray::clipped,
           "The part of some samples of floating-point numbers that is clearly outside the range.")
      .def("__len__", [](const FrameArray& frames) { return frames.count(); })
      .def_prop_ro("width", &FrameArray::width)
      .def_prop_ro("height", &FrameArray::height)
      .def_prop_ro("format", &FrameArray::format)
      .def_prop_ro(
          "device",
          [](const FrameArray& frames) -> std::optional<int> {
            return frames.on_device() ? std::optional<int>(frames.device()) : std::nullopt;
          },
          "The CUDA device that holds the frames; None for host memory.")
      .def("copy", &FrameArray::copy,
           "Copies frames on a device there; their owner may then overwrite them.");

  nb::class_<Packet>(
      m, "Packet", nb::type_slots(kPacketSlots),
      "A coded picture. Its bytes are also there without a copy, read-only, as the buffer of the "
      "packet: memoryview(packet), file.write(packet).")
      .def_prop_ro(
          "data", [](const Packet& packet) { return bytes_of(packet.data); },
          "bytes: a copy of the access unit, in Annex B form.")
      .def_prop_ro(
          "size", [](const Packet& packet) { return packet.data.size(); }, "int: bytes of data.")
      .def_ro("pts", &Packet::pts, "int: presentation time, in units of the time base.")
      .def_ro("index", &Packet::index, "int: number of the picture, from 0.")
      .def_ro("keyframe", &Packet::key,
              "bool: whether it is an IDR picture; the others are P pictures, which gop asks for.")
      .def_prop_ro(
          "qp", [](const Packet& packet) { return packet.stats.qp; }, "int: quantiser of the picture.")
      .def("__repr__", [](const Packet& packet) {
        return "Packet(index=" + std::to_string(packet.index) + ", pts=" + std::to_string(packet.pts) +
               ", size=" + std::to_string(packet.data.size()) + ")";
      });

  nb::class_<StreamFormat>(m, "StreamFormat", "The settings that an encoder is opened with.")
      .def(
          "__init__",
          [](StreamFormat* format, Options options, std::tuple<int, int> time_base) {
            new (format)
                StreamFormat{std::move(options), {std::get<0>(time_base), std::get<1>(time_base)}, {}, {}};
          },
          "options"_a, "time_base"_a)
      .def(
          "check", [](const StreamFormat& format) { config_of(format); },
          "Raises ValueError for a bad option.")
      .def(
          "automatic_batch",
          [](const StreamFormat& format) { return memory_required(config_of(format)).batch; },
          nb::call_guard<ReleasedGil>());

  nb::class_<EncoderSession>(m, "EncoderSession")
      .def(nb::init<const StreamFormat&>(), "format"_a)
      .def("send", &EncoderSession::send, "frames"_a, "pts"_a, "qps"_a = std::vector<std::optional<int>>(),
           "durations"_a = Durations(), "keys"_a = std::vector<bool>())
      .def("send_without_waiting", &EncoderSession::send_without_waiting, "frames"_a, "pts"_a, "first"_a,
           "Sends as far as there is room, and returns the index of the first frame that was not sent.")
      .def("receive_ready", &EncoderSession::receive_ready)
      .def("ready_descriptor", &EncoderSession::ready_descriptor)
      .def("wait_for_full_batches", &EncoderSession::wait_for_full_batches)
      .def("end_clip", &EncoderSession::end_clip)
      .def("reconfigure", &EncoderSession::reconfigure, "changes"_a)
      .def("flush", &EncoderSession::flush)
      .def("take", &EncoderSession::take)
      .def_prop_ro("coded", &EncoderSession::coded)
      .def("report_to", &EncoderSession::report_to, "progress"_a.none())
      .def("write_to", &EncoderSession::write_to, "file"_a, "duration"_a,
           "Packets go to this file from now on, as soon as they come.")
      .def_prop_ro("headers", [](const EncoderSession& s) { return bytes_of(s.headers()); })
      .def_prop_ro("waiting", &EncoderSession::waiting)
      .def_prop_ro("dropped", [](const EncoderSession& s) { return s.info().dropped; })
      .def_prop_ro("backend", [](const EncoderSession& s) { return s.info().backend; })
      .def_prop_ro("backend_reason", [](const EncoderSession& s) { return s.info().backend_reason; })
      .def_prop_ro("profile", [](const EncoderSession& s) { return s.info().profile; })
      .def_prop_ro("cabac", [](const EncoderSession& s) { return s.info().cabac; })
      .def_prop_ro("batch", [](const EncoderSession& s) { return s.info().batch; })
      .def_prop_ro("warnings", [](const EncoderSession& s) { return s.info().warnings; });
}

void bind_file(nb::module_& m) {
  nb::class_<FileOutput>(m, "FileOutput", "A file that is complete or absent, or a pipe or device.")
      .def(
          "__init__",
          [](FileOutput* file, const std::filesystem::path& path) { new (file) FileOutput(path.string()); },
          "path"_a, nb::sig("def __init__(self, path: str | os.PathLike[str]) -> None"))
      .def(
          "write",
          [](FileOutput& file, const nb::bytes& data) {
            const std::span<const std::uint8_t> bytes = span_of(data);
            const ReleasedGil released;
            file.write(bytes);
            return bytes.size();
          },
          "data"_a)
      .def("seek", &FileOutput::seek, "offset"_a, "whence"_a = SEEK_SET)
      .def("tell", [](FileOutput& file) { return file.seek(0, SEEK_CUR); })
      .def("seekable", &FileOutput::seekable)
      .def("commit", &FileOutput::commit, nb::call_guard<ReleasedGil>(), "Gives the file its name.")
      .def("discard", &FileOutput::discard, nb::call_guard<ReleasedGil>(), "Closes and removes the file.")
      .def("remove_temporary", &FileOutput::remove_temporary)
      .def_prop_ro("closed", &FileOutput::closed)
      .def_prop_ro("regular", &FileOutput::regular, "bool: neither a pipe nor a device.");
}

void bind_mp4(nb::module_& m) {
  nb::class_<Mp4Audio>(m, "AudioTrack")
      .def(
          "__init__",
          [](Mp4Audio* audio, const std::string& codec, const nb::bytes& config, int sample_rate,
             int channels) { new (audio) Mp4Audio(audio_of(codec, config, sample_rate, channels)); },
          "codec"_a, "config"_a, "sample_rate"_a, "channels"_a);
  nb::class_<Mp4File>(m, "Mp4")
      .def(
          "__init__",
          [](Mp4File* file, const nb::bytes& headers, std::tuple<int, int> time_base, bool fragmented,
             double fragment_seconds, nb::object output, const std::optional<Mp4Audio>& audio) {
            Mp4Config config;
            config.headers = vector_of(headers);
            config.time_base = {std::get<0>(time_base), std::get<1>(time_base)};
            config.fragmented = fragmented, config.fragment_seconds = fragment_seconds;
            config.audio = audio;
            new (file) Mp4File(config, std::move(output));
          },
          "headers"_a, "time_base"_a, "fragmented"_a, "fragment_seconds"_a, "output"_a.none(),
          "audio"_a.none())
      .def(
          "write",
          [](Mp4File& file, const std::vector<const Packet*>& packets, std::int64_t duration) {
            const ReleasedGil released;
            for (const Packet* packet : packets) file.writer().write(packet->data, packet->pts, duration);
          },
          "packets"_a, "duration"_a)
      .def(
          "write_audio",
          [](Mp4File& file, const nb::bytes& packet, std::int64_t pts, std::int64_t duration) {
            const auto* const data = static_cast<const std::uint8_t*>(packet.data());
            file.writer().write_audio({data, packet.size()}, pts, duration);
          },
          "packet"_a, "pts"_a, "duration"_a)
      .def(
          "end_fragment", [](Mp4File& file) { file.writer().end_fragment(); }, nb::call_guard<ReleasedGil>())
      .def(
          "finish", [](Mp4File& file) { file.writer().finish(); }, nb::call_guard<ReleasedGil>())
      .def("take", &Mp4File::take, nb::sig("def take(self) -> bytes"));
}

}  // namespace

NB_MODULE(_core, m) {
  nb::register_exception_translator(translate_error);
  nb::set_leak_warnings(false);  // daemon threads keep what they use until the process is gone
  forget_threads_in_children();
  m.def("end_other_threads", &end_other_threads);
#ifdef CU264_WITH_CUDA
  m.attr("with_cuda") = true;
#else
  m.attr("with_cuda") = false;
#endif
  bind_encoder(m);
  bind_file(m);
  bind_mp4(m);
  bind_group(m);
  bind_edges(m);
  bind_protection(m);
  bind_options(m);
  bind_vle(m);
  m.def("version", &version);
  m.def("build_info", &build_info);
}

}  // namespace cu264::python
