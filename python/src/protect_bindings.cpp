#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bindings.h"
#include "encoder_session.h"

namespace cu264::python {
namespace {

using namespace nb::literals;

EncryptionParts parts_of(const std::vector<std::string>& names) {
  EncryptionParts parts{false, false, false, false};
  for (const std::string& name : names) {
    bool* const part = name == "signs"       ? &parts.signs
                       : name == "modes"     ? &parts.modes
                       : name == "codewords" ? &parts.codewords
                       : name == "suffixes"  ? &parts.suffixes
                                             : nullptr;
    if (part == nullptr) {
      throw nb::value_error(
          ("\"" + name + "\" cannot be encrypted; parts are signs, modes, codewords and suffixes").c_str());
    }
    *part = true;
  }
  if (!parts.any())
    throw nb::value_error("nothing is to be encrypted; parts are signs, modes, codewords and suffixes");
  return parts;
}

WatermarkScheme scheme_of(const std::string& name) {
  if (name == "t1-sign") return WatermarkScheme::t1_sign;
  if (name == "t1-parity") return WatermarkScheme::t1_parity;
  throw nb::value_error(("scheme is \"" + name + "\", but must be t1-sign or t1-parity").c_str());
}

WatermarkSpread spread_of(const std::string& name) {
  if (name == "coded") return WatermarkSpread::coded;
  if (name == "drawn") return WatermarkSpread::drawn;
  throw nb::value_error(("spread is \"" + name + "\", but must be coded or drawn").c_str());
}

ProtectionKey key_of(const nb::bytes& bytes) {
  if (bytes.size() != ProtectionKey::kBytes) {
    throw nb::value_error(("a key has 32 bytes, not " + std::to_string(bytes.size())).c_str());
  }
  return ProtectionKey(span_of(bytes).first<ProtectionKey::kBytes>());
}

void bind_key(nb::module_& m) {
  nb::class_<ProtectionKey>(m, "Key",
                            "A key of 256 secret bits; it is never shown, and wiped when it is deleted.")
      .def(
          "__init__",
          [](ProtectionKey* key, const nb::bytes& data) { new (key) ProtectionKey(key_of(data)); }, "data"_a,
          "From 32 bytes.")
      .def_static("random", &ProtectionKey::random, "A new key, from libcrypto's random number generator.")
      .def_static(
          "from_hex", [](const std::string& digits) { return ProtectionKey::from_hex(digits); }, "digits"_a,
          "From 64 hexadecimal digits.")
      .def_static(
          "from_file",
          [](const std::filesystem::path& path) {
            // The system's own error, if the file cannot be opened
            nb::module_::import_("io").attr("open")(path, "rb").attr("close")();
            return ProtectionKey::from_file(path.string());
          },
          "path"_a, nb::sig("def from_file(path: str | os.PathLike[str]) -> Key"),
          "From a file of 32 bytes or of 64 hexadecimal digits.")
      .def_static("from_environment", &ProtectionKey::from_environment,
                  "From the environment variable CU264_KEY, in hexadecimal digits.")
      .def(
          "write_new_file",
          [](const ProtectionKey& key, const std::filesystem::path& path) {
            errno = 0;
            try {
              key.write_new_file(path.string());
            } catch (const Error& error) {
              const int failed = errno;
              if (failed == 0) throw;
              PyErr_SetObject(PyExc_OSError, nb::make_tuple(failed, error.what()).ptr());
              throw nb::python_error();
            }
          },
          "path"_a, nb::sig("def write_new_file(self, path: str | os.PathLike[str]) -> None"),
          "Writes 64 hexadecimal digits to a new file that only its owner may read.")
      .def("__repr__", [](const ProtectionKey&) { return "<cu264.protect.Key>"; });
}

void bind_tools(nb::module_& m) {
  const auto process = [](StreamTool& tool, const nb::bytes& stream) {
    std::vector<std::uint8_t> made;
    {
      const std::span<const std::uint8_t> bytes = span_of(stream);
      const ReleasedGil released;
      made = tool.access_units(bytes);
    }
    return bytes_of(made);
  };
  nb::class_<StreamTool>(m, "StreamTool")
      .def("set_threads", &StreamTool::set_threads, "threads"_a)
      .def(
          "parameter_sets",
          [](StreamTool& tool, const nb::bytes& stream) { tool.parameter_sets(span_of(stream)); }, "stream"_a)
      .def("access_units", process, "stream"_a)
      .def("last_units", [](StreamTool& tool) { return bytes_of(tool.last_units()); })
      .def("finish", [](StreamTool& tool) { return bytes_of(tool.finish()); })
      .def("carriers", [](const StreamTool& tool) {
        const StreamCounts counts = tool.counts();
        return std::make_tuple(counts.carriers, counts.free_carriers);
      });
  m.def(
      "encryptor",
      [](const ProtectionKey& key, const std::vector<std::string>& parts, bool authenticate) {
        return make_encryptor(key, {parts_of(parts), authenticate});
      },
      "key"_a, "parts"_a, "authenticate"_a);
  m.def(
      "decryptor",
      [](const ProtectionKey& key, bool require_authentication) {
        return make_decryptor(key, {require_authentication});
      },
      "key"_a, "require_authentication"_a);
  m.def(
      "watermark_embedder",
      [](const ProtectionKey& key, const std::string& scheme, std::uint32_t density,
         const nb::bytes& payload) {
        return make_watermark_embedder(key, {scheme_of(scheme), density}, span_of(payload));
      },
      "key"_a, "scheme"_a, "density"_a, "payload"_a);
  m.def(
      "watermark_extractor", [](const ProtectionKey& key) { return make_watermark_extractor(key); }, "key"_a);
  m.def(
      "watermark_meter", [](const std::string& scheme) { return make_watermark_meter(scheme_of(scheme)); },
      "scheme"_a);
  m.def(
      "watermark_rooms",
      [](const StreamTool& meter, std::uint32_t density, const std::string& spread) {
        const StreamCounts counts = meter.counts();
        return std::make_tuple(watermark_room(counts, density),
                               encoder_watermark_room(counts, density, spread_of(spread)));
      },
      "meter"_a, "density"_a, "spread"_a,
      "Bytes that fit a finished stream, and a stream while it is encoded.");
  m.def(
      "hider",
      [](const ProtectionKey& key, const nb::bytes& payload) { return make_hider(key, span_of(payload)); },
      "key"_a, "payload"_a);
  m.def(
      "hidden_reader", [](const ProtectionKey& key) { return make_hidden_reader(key); }, "key"_a);
}

}  // namespace

void bind_protection(nb::module_& m) {
  bind_key(m);
  bind_tools(m);
  // While encoding
  nb::object format = m.attr("StreamFormat");
  nb::cpp_function_def(
      [](StreamFormat& self, const ProtectionKey& key, const std::vector<std::string>& parts) {
        self.encryption = EncoderEncryption{key, parts_of(parts)};
      },
      nb::scope(format), nb::name("encrypt"), nb::is_method(), "key"_a, "parts"_a);
  nb::cpp_function_def(
      [](StreamFormat& self, const ProtectionKey& key, const nb::bytes& payload, const std::string& scheme,
         std::uint32_t density, const std::string& spread) {
        self.watermark =
            EncoderWatermark{key, vector_of(payload), scheme_of(scheme), density, spread_of(spread)};
      },
      nb::scope(format), nb::name("mark"), nb::is_method(), "key"_a, "payload"_a, "scheme"_a, "density"_a,
      "spread"_a);
}

}  // namespace cu264::python
