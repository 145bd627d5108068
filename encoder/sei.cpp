#include "cu264/sei.h"

#include <cstddef>
#include <string>

#include "common/bitstream/nal_unit.h"
#include "cu264/status.h"

namespace cu264 {
namespace {

// payloadType and payloadSize of an SEI message (H.264 7.3.2.3.1).
void append_number(bitstream::Bytes& out, std::size_t value) {
  for (; value >= 255; value -= 255) out.push_back(255);
  out.push_back(static_cast<std::uint8_t>(value));
}

bool is_slice(const bitstream::NalUnit& nal) {
  return nal.type() >= bitstream::kNalSlice && nal.type() <= bitstream::kNalSliceIdr;
}

// Returns where the start code of the first slice begins. The message takes over the leading zero byte that
// the first NAL unit of an access unit must have (B.1.2), so its size does not depend on what is there.
std::size_t place_of_sei(bitstream::ByteSpan access_unit) {
  constexpr std::ptrdiff_t kShortStartCode = 3;
  for (const bitstream::NalUnit& nal : bitstream::split_annexb(access_unit).units) {
    if (is_slice(nal))
      return static_cast<std::size_t>(nal.unit.data() - kShortStartCode - access_unit.data());
  }
  return access_unit.size();
}

void append_sei_unit(bitstream::Bytes& units, int payload_type, std::span<const std::uint8_t> payload,
                     bool long_start_code) {
  if (payload_type < 0)
    throw Error(ErrorCode::invalid_argument,
                "payload_type " + std::to_string(payload_type) + " of an SEI message",
                "name one of H.264 D.1.1");
  bitstream::Bytes rbsp;
  append_number(rbsp, static_cast<std::size_t>(payload_type));
  append_number(rbsp, payload.size());
  rbsp.insert(rbsp.end(), payload.begin(), payload.end());
  rbsp.push_back(0x80);  // rbsp_trailing_bits()
  bitstream::append_nal(units, 0, bitstream::kNalSei, rbsp, long_start_code);
}

void insert(bitstream::Bytes& access_unit, std::size_t place, const bitstream::Bytes& units) {
  access_unit.insert(access_unit.begin() + static_cast<std::ptrdiff_t>(place), units.begin(), units.end());
}

}  // namespace

void insert_sei(std::vector<std::uint8_t>& access_unit, int payload_type,
                std::span<const std::uint8_t> payload) {
  const std::size_t place = place_of_sei(access_unit);
  bitstream::Bytes unit;
  append_sei_unit(unit, payload_type, payload, place == 0);
  insert(access_unit, place, unit);
}

void insert_sei(std::vector<std::uint8_t>& access_unit, int payload_type,
                std::span<const std::vector<std::uint8_t>> payloads) {
  const std::size_t place = place_of_sei(access_unit);
  bitstream::Bytes units;
  for (const std::vector<std::uint8_t>& payload : payloads)
    append_sei_unit(units, payload_type, payload, place == 0 && units.empty());
  insert(access_unit, place, units);
}

std::size_t sei_bytes(int payload_type, std::span<const std::uint8_t> payload) {
  bitstream::Bytes unit;
  append_sei_unit(unit, payload_type, payload, false);
  return unit.size();
}

}  // namespace cu264
