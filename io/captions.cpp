#include "io/captions.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "cu264/sei.h"

namespace cu264::io {
namespace {

constexpr std::size_t kTriple = 3;
constexpr std::size_t kMaxTriples = 31;  // cc_count has five bits

// Calls `message` with the payload of each. It is user_data_registered_itu_t_t35() of ATSC A/53 part
// 4, 6.2.3; its tables 6.7 to 6.9 name what it holds. Decoders join the messages of an access unit.
template <class Message>
void each_message(std::span<const std::uint8_t> captions, const Message& message) {
  for (std::span<const std::uint8_t> rest = captions; !rest.empty();) {
    const std::span<const std::uint8_t> part = rest.first(std::min(rest.size(), kMaxTriples * kTriple));
    std::vector<std::uint8_t> payload{
        0xb5,                 // itu_t_t35_country_code: United States
        0x00, 0x31,           // itu_t_t35_provider_code: ATSC
        'G',  'A',  '9', '4'  // user_identifier
    };
    payload.push_back(0x03);  // user_data_type_code: cc_data()
    const auto count = static_cast<std::uint8_t>(part.size() / kTriple);
    payload.push_back(0xc0 | count);  // a reserved bit, process_cc_data_flag, zero_bit, cc_count
    payload.push_back(0xff);          // reserved
    payload.insert(payload.end(), part.begin(), part.end());
    payload.push_back(0xff);  // marker_bits
    message(payload);
    rest = rest.subspan(part.size());
  }
}

}  // namespace

std::vector<std::uint8_t> captions_of(const AVFrame& frame) {
  const AVFrameSideData* const found = av_frame_get_side_data(&frame, AV_FRAME_DATA_A53_CC);
  if (!found) return {};
  return {found->data, found->data + found->size / kTriple * kTriple};
}

void insert_captions(std::vector<std::uint8_t>& access_unit, const std::vector<std::uint8_t>& captions) {
  std::vector<std::vector<std::uint8_t>> payloads;
  each_message(captions, [&](auto& payload) { payloads.push_back(std::move(payload)); });
  if (!payloads.empty()) insert_sei(access_unit, kSeiUserDataRegistered, payloads);
}

std::size_t captions_bytes(const std::vector<std::uint8_t>& captions) {
  std::size_t bytes = 0;
  each_message(captions, [&](const auto& payload) { bytes += sei_bytes(kSeiUserDataRegistered, payload); });
  return bytes;
}

}  // namespace cu264::io
