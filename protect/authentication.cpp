#include "protect/authentication.h"

#include <algorithm>

#include "common/bitstream/emulation_prevention.h"
#include "common/bitstream/rbsp_reader.h"
#include "cu264/status.h"

namespace cu264::protect {
namespace {

// The fields at the start of a parameter set or slice take fewer bytes than this, even escaped.
constexpr std::size_t kBeginBytes = 64;

Bytes begin_of(ByteSpan unit) {
  Bytes rbsp;
  bitstream::unescape(unit.first(std::min(unit.size(), kBeginBytes)), rbsp);
  return rbsp;
}

std::array<std::uint8_t, 8> big_endian(std::uint64_t value) {
  std::array<std::uint8_t, 8> bytes;
  for (int i = 0; i < 8; ++i)
    bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
  return bytes;
}

}  // namespace

SliceBegin read_slice_begin(ByteSpan unit) {
  const Bytes rbsp = begin_of(unit);
  bitstream::RbspReader bits(rbsp);
  SliceBegin begin;
  begin.first_mb = bits.ue();
  bits.ue();  // slice_type
  begin.pps_id = bits.ue();
  if (bits.failed() || begin.pps_id > 255) {
    throw Error(ErrorCode::bad_input, "a slice header is damaged", "the stream must be whole");
  }
  return begin;
}

void Authenticator::start(const StreamKeys& keys, const Message& message) {
  hmac_.emplace(keys.authentication_key());
  nonce_ = message.nonce, version_ = message.version, settings_ = message.settings;
}

// A parameter set that cannot be read is left to the parser, which refuses it.
void Authenticator::other_unit(const bitstream::NalUnit& nal) {
  if (nal.type() == bitstream::kNalSei) {
    const auto size = big_endian(nal.unit.size());
    messages_.insert(messages_.end(), size.begin(), size.end());
    messages_.insert(messages_.end(), nal.unit.begin(), nal.unit.end());
  } else if (nal.type() == bitstream::kNalSps) {
    const Bytes rbsp = begin_of(nal.unit);
    bitstream::RbspReader bits(rbsp);
    bits.skip(24);  // profile_idc, constraint flags, level_idc
    const std::uint32_t id = bits.ue();
    if (!bits.failed() && id < sps_.size()) sps_[id].assign(nal.unit.begin(), nal.unit.end());
  } else if (nal.type() == bitstream::kNalPps) {
    const Bytes rbsp = begin_of(nal.unit);
    bitstream::RbspReader bits(rbsp);
    const std::uint32_t id = bits.ue(), sps_id = bits.ue();
    if (bits.failed() || id >= pps_.size() || sps_id >= sps_.size()) return;
    pps_[id].sps_id = static_cast<int>(sps_id);
    pps_[id].unit.assign(nal.unit.begin(), nal.unit.end());
  }
}

void Authenticator::begin_picture(std::uint64_t picture) {
  begin("cu264 picture", picture);
}

void Authenticator::slice(ByteSpan unit) {
  const Pps& pps = pps_[read_slice_begin(unit).pps_id];
  const Bytes& sps = sps_[static_cast<std::size_t>(pps.sps_id)];
  if (pps.unit.empty() || sps.empty()) {
    throw Error(ErrorCode::bad_input, "a slice comes before its parameter sets", "the stream must be whole");
  }
  add(sps), add(pps.unit), add(unit);
}

Digest Authenticator::end_stream(std::uint64_t pictures) {
  begin("cu264 end", pictures);
  return hmac_->take();
}

void Authenticator::begin(const char* label, std::uint64_t number) {
  hmac_->begin();
  hmac_->add(domain(label));
  add_number(nonce_);
  add_number(version_);
  hmac_->add(settings_);
  add_number(number);
  add(messages_);
  messages_.clear();
}

void Authenticator::add_number(std::uint64_t value) {
  hmac_->add(big_endian(value));
}

void Authenticator::add(ByteSpan bytes) {
  add_number(bytes.size());
  hmac_->add(bytes);
}

}  // namespace cu264::protect
