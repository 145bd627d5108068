#include "capi/boundary.h"

#include <algorithm>
#include <exception>
#include <new>

namespace cu264::capi {
namespace {

// An array, because a text must be kept where there is no memory for another one, and because nothing has to
// be destroyed when a thread ends after the library was unloaded.
constexpr std::size_t kMaxTextBytes = 2048;
thread_local char last_error[kMaxTextBytes] = "";

cu264_status report(cu264_status status, const char* text) noexcept {
  const std::size_t length = std::min(std::strlen(text), kMaxTextBytes - 1);
  std::memmove(last_error, text, length);
  last_error[length] = 0;
  return status;
}

static_assert(CU264_INVALID_ARGUMENT == static_cast<int>(ErrorCode::invalid_argument));
static_assert(CU264_UNSUPPORTED == static_cast<int>(ErrorCode::unsupported));
static_assert(CU264_BAD_INPUT == static_cast<int>(ErrorCode::bad_input));
static_assert(CU264_BAD_OUTPUT == static_cast<int>(ErrorCode::bad_output));
static_assert(CU264_OUT_OF_MEMORY == static_cast<int>(ErrorCode::out_of_memory));
static_assert(CU264_DEVICE_UNAVAILABLE == static_cast<int>(ErrorCode::device_unavailable));
static_assert(CU264_DEVICE_FAILURE == static_cast<int>(ErrorCode::device_failure));
static_assert(CU264_ENCODE_FAILURE == static_cast<int>(ErrorCode::encode_failure));
static_assert(CU264_VERIFY_FAILURE == static_cast<int>(ErrorCode::verify_failure));

}  // namespace

cu264_status report_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return report(static_cast<cu264_status>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return report(CU264_OUT_OF_MEMORY, "there is not enough memory");
  } catch (const std::exception& error) {
    return report(CU264_ENCODE_FAILURE, error.what());
  } catch (...) {
    return report(CU264_ENCODE_FAILURE, "an exception of an unknown kind was thrown");
  }
}

void reject_null(const char* what) {
  throw Error(ErrorCode::invalid_argument, std::string(what) + " is null");
}

void check_unknown_members(const unsigned char* bytes, std::size_t known, std::size_t given,
                           const char* what) {
  if (given <= known) return;
  constexpr std::size_t kMaxStructSize = 65536;
  if (given > kMaxStructSize) {
    throw Error(ErrorCode::invalid_argument, std::string(what) + ".struct_size is " + std::to_string(given),
                "set it to sizeof(" + std::string(what) + ")");
  }
  if (std::any_of(bytes + known, bytes + given, [](unsigned char byte) { return byte != 0; })) {
    throw Error(ErrorCode::unsupported,
                std::string(what) + " has members that this version of libcu264 does not know",
                "use the library that the header belongs to, or leave them 0");
  }
}

}  // namespace cu264::capi

const char* cu264_last_error(void) {
  return cu264::capi::last_error;
}

const char* cu264_status_name(cu264_status status) {
  switch (status) {
    case CU264_OK:
      return "ok";
    case CU264_INVALID_ARGUMENT:
      return "invalid_argument";
    case CU264_UNSUPPORTED:
      return "unsupported";
    case CU264_BAD_INPUT:
      return "bad_input";
    case CU264_BAD_OUTPUT:
      return "bad_output";
    case CU264_OUT_OF_MEMORY:
      return "out_of_memory";
    case CU264_DEVICE_UNAVAILABLE:
      return "device_unavailable";
    case CU264_DEVICE_FAILURE:
      return "device_failure";
    case CU264_ENCODE_FAILURE:
      return "encode_failure";
    case CU264_VERIFY_FAILURE:
      return "verify_failure";
    case CU264_AGAIN:
      return "again";
  }
  return "unknown";
}
