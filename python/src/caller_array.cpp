#include "caller_array.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "device_memory.h"

namespace cu264::python {
namespace {

const char* name_of(Number number) {
  switch (number) {
    case Number::uint8:
      return "uint8";
    case Number::half:
      return "float16";
    case Number::bfloat16:
      return "bfloat16";
    default:
      return "float32";
  }
}

[[noreturn]] void refuse_number(const std::string& found) {
  throw nb::type_error(
      ("frames have numbers of type " + found + ", but must be uint8, float16, bfloat16 or float32").c_str());
}

Number number_of(nb::dlpack::dtype type) {
  const auto code = static_cast<nb::dlpack::dtype_code>(type.code);
  if (type.lanes == 1) {
    if (code == nb::dlpack::dtype_code::UInt && type.bits == 8) return Number::uint8;
    if (code == nb::dlpack::dtype_code::Float && type.bits == 16) return Number::half;
    if (code == nb::dlpack::dtype_code::Float && type.bits == 32) return Number::single;
    if (code == nb::dlpack::dtype_code::Bfloat && type.bits == 16) return Number::bfloat16;
  }
  const char* kinds[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  const std::string kind = type.code < std::size(kinds) ? kinds[type.code] : "unknown";
  refuse_number(kind == "bool" ? kind : kind + std::to_string(type.bits));
}

using AnyArray = nb::ndarray<nb::ro>;

CallerArray of_ndarray(const AnyArray& from) {
  CallerArray array;
  array.number = number_of(from.dtype());
  array.data = static_cast<const std::uint8_t*>(from.data());
  for (std::size_t i = 0; i < from.ndim(); ++i) {
    array.shape.push_back(static_cast<std::int64_t>(from.shape(i)));
    array.strides.push_back(from.stride(i) * bytes_of(array.number));
  }
  array.owner = nb::cast(from, nb::rv_policy::reference);
  return array;
}

// Returns the capsule that __dlpack__ gave. nanobind marks a capsule as used only if it is handed one; of an
// object that hands out the same one twice it would use what was freed.
nb::object checked_capsule(nb::object capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0 &&
      PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") == 0) {
    throw nb::value_error("__dlpack__ must return a capsule that was not used before, and did not");
  }
  return capsule;
}

// The producer makes our stream wait for what it has enqueued on its own, as DLPack's protocol says.
CallerArray of_device_tensor(nb::handle object, int device) {
  void* const stream = stream_of(device);
  const CurrentDevice current(device);  // producers take the current device's stream for their own
  const nb::object capsule =
      checked_capsule(object.attr("__dlpack__")(nb::arg("stream") = reinterpret_cast<std::intptr_t>(stream)));
  CallerArray array = of_ndarray(nb::cast<AnyArray>(capsule));
  array.on_device = true, array.device = device, array.stream = stream;
  return array;
}

Number number_of(const std::string& typestr) {
  if (typestr == "|u1" || typestr == "<u1") return Number::uint8;
  if (typestr == "<f2") return Number::half;
  if (typestr == "<f4") return Number::single;
  refuse_number("\"" + typestr + "\"");
}

// The CUDA array interface, version 2 and 3
CallerArray of_cuda_interface(nb::handle object) {
  const nb::dict from = nb::cast<nb::dict>(object.attr("__cuda_array_interface__"));
  CallerArray array;
  array.number = number_of(nb::cast<std::string>(from["typestr"]));
  array.data = reinterpret_cast<const std::uint8_t*>(nb::cast<std::uintptr_t>(nb::object(from["data"])[0]));
  for (const nb::handle side : nb::cast<nb::tuple>(from["shape"]))
    array.shape.push_back(nb::cast<std::int64_t>(side));
  if (from.contains("strides") && !nb::object(from["strides"]).is_none()) {
    for (const nb::handle stride : nb::cast<nb::tuple>(from["strides"])) {
      array.strides.push_back(nb::cast<std::int64_t>(stride));
    }
  } else {
    array.strides.resize(array.shape.size());
    std::int64_t stride = bytes_of(array.number);
    for (std::size_t i = array.shape.size(); i-- > 0; stride *= array.shape[i]) array.strides[i] = stride;
  }
  array.on_device = true, array.device = device_of(array.data);
  array.stream = stream_of(array.device);
  // 1 is the default stream and 2 that of the thread, as the runtime has them; None: nothing to wait for. Our
  // stream stands for the caller's from here on: another thread, a current device that changes and the end of
  // the caller's stream do not matter to it.
  if (from.contains("stream") && !nb::object(from["stream"]).is_none()) {
    const auto callers = nb::cast<std::uintptr_t>(from["stream"]);
    wait_for_stream(array.stream, reinterpret_cast<void*>(callers), array.device);
  }
  array.owner = nb::borrow(object);
  return array;
}

}  // namespace

std::string CallerArray::describe() const {
  std::string text = std::string(name_of(number)) + " array of shape (";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

nb::object export_of(nb::handle object) {
  if (nb::hasattr(object, "__dlpack__")) {
    // Some need to be told that read-only arrays are understood, and others do not know the argument.
    for (const bool versioned : {false, true}) {
      nb::object capsule;
      try {
        capsule = versioned ? object.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 0))
                            : object.attr("__dlpack__")();
      } catch (nb::python_error& error) {
        if (!error.matches(PyExc_BufferError) && !error.matches(PyExc_TypeError)) throw;
        continue;
      }
      return checked_capsule(std::move(capsule));
    }
  }
  nb::object view = nb::steal(PyMemoryView_FromObject(object.ptr()));
  if (view.is_valid()) return view;
  PyErr_Clear();
  return nb::borrow(object);
}

float to_float(const std::uint8_t* at, Number number) {
  if (number == Number::uint8) return static_cast<float>(*at) / 255;
  if (number == Number::single) {
    float value = 0;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  std::uint16_t half = 0;
  std::memcpy(&half, at, sizeof half);
  if (number == Number::bfloat16) return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  float value = exponent == 0    ? std::ldexp(static_cast<float>(fraction), -24)
                : exponent != 31 ? std::ldexp(static_cast<float>(fraction + 1024), exponent - 25)
                : fraction == 0  ? std::numeric_limits<float>::infinity()
                                 : std::numeric_limits<float>::quiet_NaN();
  return half >> 15 != 0 ? -value : value;
}

CallerArray import_array(nb::handle object) {
  constexpr int kHost = 1, kDevice = 2, kPinned = 3, kManaged = 13;
  if (nb::hasattr(object, "__dlpack_device__")) {
    const auto [kind, device] = nb::cast<std::tuple<int, int>>(object.attr("__dlpack_device__")());
    if (kind == kDevice || kind == kManaged) return of_device_tensor(object, device);
    if (kind != kHost && kind != kPinned) {
      throw nb::value_error(("frames lie on a device of DLPack type " + std::to_string(kind) +
                             ", but must be in host memory or on a CUDA device")
                                .c_str());
    }
  } else if (nb::hasattr(object, "__cuda_array_interface__")) {
    return of_cuda_interface(object);
  }
  AnyArray array;
  if (object.is_none() || PyUnicode_Check(object.ptr()) || !nb::try_cast(export_of(object), array)) {
    // NumPy says "object" and the like only through its own exception.
    throw nb::type_error(
        ("frames must be an array (NumPy, or with __dlpack__ or __cuda_array_interface__) of uint8, "
         "float16, bfloat16 or float32, not " +
         nb::cast<std::string>(nb::str(object.type())))
            .c_str());
  }
  return of_ndarray(array);
}

}  // namespace cu264::python
