#include "capi/c_info.h"

#include <utility>

namespace cu264::capi {
namespace {

struct OwnedInfo : cu264_info {
  OwnedInfo(EncoderInfo told, std::vector<std::uint8_t> bytes)
      : cu264_info{}, own(std::move(told)), own_headers(std::move(bytes)) {
    struct_size = sizeof(cu264_info);
    backend = own.backend.c_str(), backend_reason = own.backend_reason.c_str();
    profile = own.profile.c_str(), profile_reason = own.profile_reason.c_str();
    cabac = own.cabac ? 1 : 0;
    width = own.width, height = own.height;
    batch = own.batch;
    level_idc = own.level_idc;
    level_bit_rate = own.level_bit_rate;
    dropped = own.dropped;
    headers = own_headers.data(), headers_size = own_headers.size();
    for (const std::string& warning : own.warnings) warning_texts.push_back(warning.c_str());
    warnings = warning_texts.data(), warning_count = warning_texts.size();
  }

  EncoderInfo own;
  std::vector<std::uint8_t> own_headers;
  std::vector<const char*> warning_texts;
};

}  // namespace

cu264_info* hand_out(EncoderInfo info, std::vector<std::uint8_t> headers) {
  return new OwnedInfo(std::move(info), std::move(headers));
}

}  // namespace cu264::capi

void cu264_info_release(cu264_info* info) {
  delete static_cast<cu264::capi::OwnedInfo*>(info);
}
