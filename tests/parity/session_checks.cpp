#include "tests/parity/session_checks.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "common/cuda/error_check.h"
#include "encoder/config.h"

namespace cu264::parity {
namespace {

std::string text(const PictureStats& s) {
  std::ostringstream out;
  out << "qp " << s.qp << " I4x4 " << s.intra4x4_mbs << " I8x8 " << s.intra8x8_mbs << " I16x16 "
      << s.intra16x16_mbs << " PCM " << s.pcm_mbs << " inter " << s.inter_mbs << " header bits "
      << s.header_bits << " residual bits " << s.residual_bits;
  return out.str();
}

// Says where a packet differs from the expected one; empty if it does not.
std::string difference(const Packet& host, const Packet& device) {
  std::ostringstream out;
  const auto [a, b] =
      std::mismatch(host.data.begin(), host.data.end(), device.data.begin(), device.data.end());
  if (a != host.data.end() || b != device.data.end()) {
    out << "byte " << a - host.data.begin() << " of " << host.data.size() << " (device " << device.data.size()
        << "); ";
  }
  if (text(host.stats) != text(device.stats)) {
    out << "statistics: host " << text(host.stats) << ", device " << text(device.stats) << "; ";
  }
  if (host.reconstruction != device.reconstruction) out << "reconstruction; ";
  if (host.edges != device.edges) out << "edge map; ";
  if (host.pts != device.pts || host.index != device.index) out << "index or time stamp; ";
  return out.str();
}

}  // namespace

Packet downloaded(Packet packet) {
  const std::size_t before = packet.data.size(), size = packet.device_data.size;
  packet.data.vector().resize(before + size);
  check_cuda(
      cudaMemcpy(packet.data.vector().data() + before, packet.device_data.data, size, cudaMemcpyDeviceToHost),
      "downloading a packet");
  return packet;
}

std::vector<Packet> encode(const Config& config, const std::vector<PlacedFrame>& frames) {
  Encoder encoder(config);
  std::vector<Packet> packets;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    while (!encoder.send(frames[i].view(static_cast<std::int64_t>(3 * i + 1)))) {
      packets.push_back(encoder.receive().value());
    }
  }
  encoder.flush();
  while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
  return packets;
}

std::string text(const Config& c) {
  std::ostringstream out;
  out << c.width << 'x' << c.height << " qp " << c.qp << ' ' << encoder::name_of(c.preset) << " slices "
      << c.slices << " batch " << c.batch << " gop " << c.gop;
  if (c.input_format) out << ' ' << encoder::name_of(*c.input_format);
  return out.str();
}

void expect_equal(const std::vector<Packet>& host, const std::vector<Packet>& device) {
  ASSERT_EQ(host.size(), device.size());
  for (std::size_t i = 0; i < host.size(); ++i) {
    const std::string found = difference(host[i], device[i]);
    ASSERT_TRUE(found.empty()) << "packet " << i << " of " << host.size() << ": " << found;
  }
}

}  // namespace cu264::parity
