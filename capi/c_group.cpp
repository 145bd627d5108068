// Many streams in common batches, for C programs.
#include <optional>
#include <utility>

#include "capi/boundary.h"
#include "capi/c_config.h"
#include "capi/c_frame.h"
#include "capi/c_info.h"
#include "capi/c_packet.h"
#include "capi/c_settings.h"
#include "cu264/stream_group.h"

struct cu264_group {
  cu264::StreamGroup group;
};

namespace cu264::capi {
namespace {

StreamGroup& group_at(cu264_group* group) {
  return at(group, "group").group;
}

}  // namespace
}  // namespace cu264::capi

using cu264::capi::at;
using cu264::capi::group_at;
using cu264::capi::guarded;
using cu264::capi::hand_out;
using cu264::capi::timeout_of;

cu264_status cu264_group_create(const cu264_setting* settings, size_t count, cu264_group** group) {
  return guarded([&] {
    at(group, "group") = nullptr;
    const auto config = cu264::capi::group_config_of(cu264::capi::settings_at(settings, count));
    *group = new cu264_group{cu264::StreamGroup(config)};
  });
}

void cu264_group_destroy(cu264_group* group) {
  delete group;
}

cu264_status cu264_group_open(cu264_group* group, const cu264_config* config, uint32_t* stream) {
  return guarded([&] {
    at(stream, "stream") = CU264_NO_STREAM;
    cu264::StreamGroup& own = group_at(group);
    const cu264_config& wanted = at(config, "config");
    const cu264::StreamGroup::Stream opened = own.open(wanted.config);
    wanted.log.tell(own.info(opened));
    *stream = opened;
  });
}

cu264_status cu264_group_info(const cu264_group* group, uint32_t stream, cu264_info** info) {
  return guarded([&] {
    at(info, "info") = nullptr;
    const cu264::StreamGroup& own = at(group, "group").group;
    *info = hand_out(own.info(stream), own.headers(stream));
  });
}

cu264_status cu264_group_submit(cu264_group* group, uint32_t stream, const cu264_frame* frame,
                                int64_t timeout_ns) {
  return guarded([&] {
    cu264::StreamGroup& own = group_at(group);
    const bool taken = own.submit(stream, cu264::capi::frame_of(frame), timeout_of(timeout_ns));
    return taken ? CU264_OK : CU264_AGAIN;
  });
}

cu264_status cu264_group_receive(cu264_group* group, uint32_t stream, int64_t timeout_ns,
                                 cu264_packet** packet) {
  return guarded([&] {
    at(packet, "packet") = nullptr;
    std::optional<cu264::Packet> next = group_at(group).receive(stream, timeout_of(timeout_ns));
    if (!next) return CU264_AGAIN;
    *packet = hand_out(*std::move(next));
    return CU264_OK;
  });
}

cu264_status cu264_group_receive_any(cu264_group* group, int64_t timeout_ns, uint32_t* stream,
                                     cu264_packet** packet) {
  return guarded([&] {
    at(stream, "stream") = CU264_NO_STREAM;
    at(packet, "packet") = nullptr;
    std::optional<cu264::StreamGroup::Result> next = group_at(group).receive_any(timeout_of(timeout_ns));
    if (!next) return CU264_AGAIN;
    *stream = next->stream;
    if (next->error) throw cu264::Error(*next->error);
    *packet = hand_out(std::move(next->packet));
    return CU264_OK;
  });
}

cu264_status cu264_group_ready_descriptor(cu264_group* group, int* descriptor) {
  return guarded([&] {
    at(descriptor, "descriptor") = -1;
    *descriptor = group_at(group).ready_descriptor();
  });
}

cu264_status cu264_group_flush(cu264_group* group, uint32_t stream) {
  return guarded([&] { group_at(group).flush(stream); });
}

cu264_status cu264_group_close(cu264_group* group, uint32_t stream) {
  return guarded([&] { group_at(group).close(stream); });
}
