// Packets that C programs get.
#pragma once

#include "cu264/cu264.h"
#include "cu264/packet.h"

namespace cu264::capi {

// The members that C programs see, and the packet that they show.
struct OwnedPacket : cu264_packet {
  explicit OwnedPacket(Packet&& packet);
  void show_data();

  Packet owned;
};

cu264_packet* hand_out(Packet&& packet);

// Takes back what hand_out gave.

}  // namespace cu264::capi
