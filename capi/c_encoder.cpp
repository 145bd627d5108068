// The encoder of one stream, for C programs.
#include <utility>

#include "capi/boundary.h"
#include "capi/c_config.h"
#include "capi/c_frame.h"
#include "capi/c_info.h"
#include "capi/c_packet.h"
#include "capi/c_settings.h"
#include "cu264/encoder.h"

struct cu264_encoder {
  explicit cu264_encoder(const cu264_config& config) : encoder(config.config), log(config.log) {
    log.tell(encoder.info());
  }

  cu264::Encoder encoder;
  const cu264::capi::Log log;
};

namespace cu264::capi {
namespace {

Encoder& encoder_at(cu264_encoder* encoder) {
  return at(encoder, "encoder").encoder;
}

cu264_status give(std::optional<Packet>&& packet, cu264_packet*& to) {
  if (!packet) return CU264_AGAIN;
  to = hand_out(*std::move(packet));
  return CU264_OK;
}

}  // namespace
}  // namespace cu264::capi

using cu264::capi::at;
using cu264::capi::encoder_at;
using cu264::capi::guarded;

cu264_status cu264_encoder_open(const cu264_config* config, cu264_encoder** encoder) {
  return guarded([&] {
    at(encoder, "encoder") = nullptr;
    *encoder = new cu264_encoder(at(config, "config"));
  });
}

void cu264_encoder_destroy(cu264_encoder* encoder) {
  delete encoder;
}

cu264_status cu264_encoder_info(const cu264_encoder* encoder, cu264_info** info) {
  return guarded([&] {
    at(info, "info") = nullptr;
    const cu264::Encoder& own = at(encoder, "encoder").encoder;
    *info = cu264::capi::hand_out(own.info(), own.headers());
  });
}

cu264_status cu264_encoder_send(cu264_encoder* encoder, const cu264_frame* frame) {
  return guarded(
      [&] { return encoder_at(encoder).send(cu264::capi::frame_of(frame)) ? CU264_OK : CU264_AGAIN; });
}

cu264_status cu264_encoder_receive(cu264_encoder* encoder, cu264_packet** packet) {
  return guarded([&] {
    at(packet, "packet") = nullptr;
    return cu264::capi::give(encoder_at(encoder).receive(), *packet);
  });
}

cu264_status cu264_encoder_wait(cu264_encoder* encoder, int64_t timeout_ns, cu264_packet** packet) {
  return guarded([&] {
    at(packet, "packet") = nullptr;
    return cu264::capi::give(encoder_at(encoder).receive(cu264::capi::timeout_of(timeout_ns)), *packet);
  });
}

cu264_status cu264_encoder_ready_descriptor(cu264_encoder* encoder, int* descriptor) {
  return guarded([&] {
    at(descriptor, "descriptor") = -1;
    *descriptor = encoder_at(encoder).ready_descriptor();
  });
}

cu264_status cu264_encoder_flush(cu264_encoder* encoder) {
  return guarded([&] { encoder_at(encoder).flush(); });
}

cu264_status cu264_encoder_drain(cu264_encoder* encoder) {
  return guarded([&] { encoder_at(encoder).drain(); });
}

cu264_status cu264_encoder_reconfigure(cu264_encoder* encoder, const cu264_setting* settings, size_t count) {
  return guarded([&] {
    cu264::Encoder& own = encoder_at(encoder);
    own.reconfigure(cu264::capi::changes_of(cu264::capi::settings_at(settings, count)));
    encoder->log.tell(own.info());
  });
}
