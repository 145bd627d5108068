#include "capi/c_packet.h"

#include <memory>
#include <utility>

#include "capi/boundary.h"
#include "cu264/sei.h"

namespace cu264::capi {
namespace {

std::span<const std::uint8_t> payload_of(const uint8_t* payload, size_t size) {
  if (size > 0) at(payload, "payload");
  return {payload, size};
}

}  // namespace

OwnedPacket::OwnedPacket(Packet&& packet) : cu264_packet{}, owned(std::move(packet)) {
  struct_size = sizeof(cu264_packet);
  show_data();
  pts = owned.pts;
  user_data = owned.user_data;
  index = owned.index;
  key = owned.key ? 1 : 0;
  const PictureStats& stats = owned.stats;
  qp = stats.qp;
  mean_qp = stats.mean_qp;
  buffer_bits = stats.buffer_bits;
  device_data = owned.device_data.data, device_size = owned.device_data.size;
  reconstruction = owned.reconstruction.data(), reconstruction_size = owned.reconstruction.size();
  edges = owned.edges.data(), edges_size = owned.edges.size();
  codings = stats.codings;
  intra4x4_mbs = stats.intra4x4_mbs;
  intra8x8_mbs = stats.intra8x8_mbs;
  intra16x16_mbs = stats.intra16x16_mbs;
  pcm_mbs = stats.pcm_mbs;
  header_bits = stats.header_bits;
  residual_bits = stats.residual_bits;
}

void OwnedPacket::show_data() {
  data = owned.data.data(), size = owned.data.size();
}

cu264_packet* hand_out(Packet&& packet) {
  return new OwnedPacket(std::move(packet));
}

}  // namespace cu264::capi

using cu264::capi::at;
using cu264::capi::guarded;
using cu264::capi::OwnedPacket;

void cu264_packet_release(cu264_packet* packet) {
  delete static_cast<OwnedPacket*>(packet);
}

cu264_status cu264_packet_insert_sei(cu264_packet* packet, int32_t payload_type, const uint8_t* payload,
                                     size_t size) {
  return guarded([&] {
    OwnedPacket& own = static_cast<OwnedPacket&>(at(packet, "packet"));
    cu264::insert_sei(own.owned.data.vector(), payload_type, cu264::capi::payload_of(payload, size));
    own.show_data();
  });
}

cu264_status cu264_sei_bytes(int32_t payload_type, const uint8_t* payload, size_t size, uint64_t* bytes) {
  return guarded([&] {
    at(bytes, "bytes") = 0;
    *bytes = cu264::sei_bytes(payload_type, cu264::capi::payload_of(payload, size));
  });
}
