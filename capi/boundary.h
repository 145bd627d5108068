// What stands between C callers and the library: errors become status codes with a text, and no exception
// passes.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "cu264/cu264.h"
#include "cu264/status.h"

namespace cu264::capi {

// Keeps the text of the exception that is being handled for cu264_last_error(), and returns its code.
cu264_status report_current_exception() noexcept;

// Calls `call`, which returns a cu264_status or nothing.
template <class Call>
cu264_status guarded(const Call& call) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      return CU264_OK;
    } else {
      return call();
    }
  } catch (...) {
    return report_current_exception();
  }
}

[[noreturn]] void reject_null(const char* what);

// The object that a pointer of the caller leads to.
template <class T>
T& at(T* pointer, const char* what) {
  if (pointer == nullptr) reject_null(what);
  return *pointer;
}

// Text of the caller.
inline std::string_view text_at(const char* text, const char* what) {
  return &at(text, what);
}

// Throws unless the bytes of a struct after those that this library knows are 0, as those of a newer caller
// are who does not use the new members.
void check_unknown_members(const unsigned char* bytes, std::size_t known, std::size_t given,
                           const char* what);

// Copies a struct of the caller, whose struct_size says which version of the header it was compiled with.
// `least` is the size of the oldest version. Members that the caller does not know are 0.
template <class Struct>
Struct read_struct(const Struct* given, std::size_t least, const char* what) {
  const std::size_t size = at(given, what).struct_size;
  if (size < least) {
    throw Error(ErrorCode::invalid_argument, std::string(what) + ".struct_size is " + std::to_string(size),
                "set it to sizeof(" + std::string(what) + ")");
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  check_unknown_members(bytes, sizeof(Struct), size, what);
  Struct own{};
  std::memcpy(&own, bytes, size < sizeof(Struct) ? size : sizeof(Struct));
  return own;
}

}  // namespace cu264::capi
