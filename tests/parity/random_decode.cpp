// What a decoder finds in the streams of random cases. Machines with a GPU and little else have no
// libavcodec.
#include "tests/parity/random_run.h"
#if defined(CU264_WITH_DECODER)
#include "support/decode.h"
#endif

namespace cu264::parity {

#if defined(CU264_WITH_DECODER)

bool can_decode() {
  return true;
}

std::string decoding_fault(const RandomCase& random_case, const CodedCase& coded) {
  if (random_case.config.encryption || !coded.error.empty()) return {};
  for (const CodedClip& clip : coded.clips) {
    std::vector<std::uint8_t> bytes;
    if (random_case.config.headers == HeaderPlacement::separate) bytes = clip.headers;
    for (const Packet& packet : clip.packets)
      bytes.insert(bytes.end(), packet.data.begin(), packet.data.end());
    const test::DecodedStream decoded = test::decode_annexb(bytes);
    if (!decoded.complaints.empty()) return "a decoder says: " + decoded.complaints.front();
    if (decoded.pictures.size() != clip.packets.size()) {
      return "a decoder finds " + std::to_string(decoded.pictures.size()) + " pictures in " +
             std::to_string(clip.packets.size()) + " packets";
    }
    for (std::size_t i = 0; random_case.config.reconstruction && i < clip.packets.size(); ++i) {
      if (decoded.pictures[i].picture.samples != clip.packets[i].reconstruction) {
        return "picture " + std::to_string(i) + " does not decode to its reconstruction";
      }
    }
  }
  return {};
}

#else

bool can_decode() {
  return false;
}

std::string decoding_fault(const RandomCase&, const CodedCase&) {
  return {};
}

#endif

}  // namespace cu264::parity
