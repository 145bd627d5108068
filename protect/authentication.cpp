#include "protect/authentication.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "common/bitstream/emulation_prevention.h"
#include "common/bitstream/rbsp_reader.h"
#include "cu264/status.h"

namespace cu264::protect {
namespace {

// The fields at the start of a parameter set or slice take fewer bytes than this, even escaped.
constexpr std::size_t kBeginBytes = 64;

// No slice header takes more.
constexpr std::size_t kHeaderBytes = 1024;

constexpr std::uint64_t kDelimiter = 1, kParameterSet = 2;

// More than any needs. The parameter sets are hashed again for each slice, so that long ones would cost much
// time.
constexpr std::size_t kMaxParameterSetBytes = 4096;

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

// Decoders leave out such units.
bool is_malformed(ByteSpan unit) {
  return !unit.empty() && (unit[0] & 0x80) != 0;
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

void Authenticator::other_unit(const bitstream::NalUnit& nal) {
  if (is_malformed(nal.unit)) flaw_ = "a NAL unit whose forbidden_zero_bit is set";
  if (is_filler_data(nal)) return;
  if (in_picture_) flaw_ = "more than filler data between two slices of a picture";
  // A delimiter begins an access unit (7.4.1.2.3); in another place it makes one without a picture.
  const bool first = !std::exchange(begun_, true);
  if (first && nal.type() == bitstream::kNalDelimiter && nal.ref_idc() == 0) {
    between_ |= kDelimiter;
  } else if (nal.type() == bitstream::kNalSps) {
    sps(nal.unit);
  } else if (nal.type() == bitstream::kNalPps) {
    pps(nal.unit);
  } else {
    covered(nal.unit);
  }
}

// A parameter set that cannot be read, or a picture parameter set before its sequence parameter set, is not
// one that slices can refer to.
void Authenticator::sps(ByteSpan unit) {
  between_ |= kParameterSet;
  const Bytes rbsp = begin_of(unit);
  bitstream::RbspReader bits(rbsp);
  bits.skip(24);  // profile_idc, constraint flags, level_idc
  const std::uint32_t id = bits.ue();
  if (bits.failed() || id >= sps_.size()) return covered(unit);
  if (std::ranges::equal(sps_[id].unit, unit)) return;
  store(sps_[id], unit);
  // Decoders forget the picture parameter sets of one that changes, because it says how they are read.
  for (ParameterSet& set : pps_) {
    if (set.sps_id == id && !set.unit.empty()) store(set, {});
  }
}

void Authenticator::pps(ByteSpan unit) {
  between_ |= kParameterSet;
  const Bytes rbsp = begin_of(unit);
  bitstream::RbspReader bits(rbsp);
  const std::uint32_t id = bits.ue(), sps_id = bits.ue();
  if (bits.failed() || id >= pps_.size() || sps_id >= sps_.size() || sps_[sps_id].unit.empty()) {
    return covered(unit);
  }
  if (std::ranges::equal(pps_[id].unit, unit)) return;
  store(pps_[id], unit);
  pps_[id].sps_id = sps_id;
}

void Authenticator::store(ParameterSet& set, ByteSpan unit) {
  if (set.fresh) flaw_ = "a parameter set that is replaced before a picture comes";
  if (unit.size() > kMaxParameterSetBytes) flaw_ = "a parameter set of more than 4096 bytes";
  set.unit.assign(unit.begin(), unit.end());
  set.fresh = !unit.empty();
}

void Authenticator::covered(ByteSpan unit) {
  const auto size = big_endian(unit.size());
  covered_.insert(covered_.end(), size.begin(), size.end());
  covered_.insert(covered_.end(), unit.begin(), unit.end());
}

void Authenticator::begin_picture(std::uint64_t picture) {
  begin("cu264 picture", picture);
  in_picture_ = true;
}

void Authenticator::slice(ByteSpan unit) {
  if (is_malformed(unit)) flaw_ = "a NAL unit whose forbidden_zero_bit is set";
  const SliceBegin begin = read_slice_begin(unit);
  ParameterSet& pps = pps_[begin.pps_id];
  ParameterSet& sps = sps_[pps.sps_id];
  if (pps.unit.empty() || sps.unit.empty()) {
    throw Error(ErrorCode::bad_input, "a slice comes before its parameter sets", "the stream must be whole");
  }
  pps.fresh = sps.fresh = false;
  if (begin.first_mb == 0) tell_apart(sps.unit, pps.unit, unit);
  add(sps.unit), add(pps.unit), add(unit);
}

// If the fields that begin a picture (7.4.1.2.4) are those of the picture before, what stands between the two
// decides whether a decoder takes them for one.
void Authenticator::tell_apart(ByteSpan sps, ByteSpan pps, ByteSpan first_slice) {
  bitstream::ParameterSets sets;
  sets.read({{}, sps}), sets.read({{}, pps});
  Bytes rbsp;
  bitstream::unescape(first_slice.first(std::min(first_slice.size(), kHeaderBytes)), rbsp);
  bitstream::RbspReader bits(rbsp);
  bitstream::ParameterSets::Active active;
  const bitstream::PictureIdentity picture = sets.slice_header(bits, {{}, first_slice}, active).identity;
  if (picture_before_ == picture) add_number(between_);
  picture_before_ = picture;
}

Digest Authenticator::end_picture() {
  in_picture_ = begun_ = false;
  between_ = 0;
  return take();
}

Digest Authenticator::end_stream(std::uint64_t pictures) {
  begin("cu264 end", pictures);
  // Here they begin an access unit without a picture.
  if (between_ != 0) add_number(between_);
  between_ = 0;
  return take();
}

void Authenticator::between_units(const bitstream::NalUnits& part) {
  constexpr std::size_t kStartCode = 3;
  const auto zero = [](std::uint8_t byte) { return byte == 0; };
  bool clean = std::ranges::all_of(part.tail, zero);
  for (const bitstream::NalUnit& nal : part.units) {
    clean = clean && std::ranges::all_of(nal.prefix.first(nal.prefix.size() - kStartCode), zero);
  }
  if (!clean) flaw_ = "bytes outside of NAL units";
}

bool Authenticator::has_uncovered() const {
  const auto fresh = [](const ParameterSet& set) { return set.fresh; };
  return !covered_.empty() || between_ != 0 || flaw_ != nullptr || std::ranges::any_of(sps_, fresh) ||
         std::ranges::any_of(pps_, fresh);
}

void Authenticator::begin(const char* label, std::uint64_t number) {
  hmac_->begin();
  hmac_->add(domain(label));
  add_number(nonce_);
  add_number(version_);
  hmac_->add(settings_);
  add_number(number);
  add(covered_);
  covered_.clear();
}

Digest Authenticator::take() {
  if (flaw_ != nullptr) {
    throw Error(ErrorCode::bad_input, std::string("the stream has ") + flaw_,
                "an authenticated stream must not have that");
  }
  for (const std::span<ParameterSet> sets : {std::span<ParameterSet>(sps_), std::span<ParameterSet>(pps_)}) {
    for (ParameterSet& set : sets) {
      if (std::exchange(set.fresh, false)) add(set.unit);
    }
  }
  return hmac_->take();
}

void Authenticator::add_number(std::uint64_t value) {
  hmac_->add(big_endian(value));
}

void Authenticator::add(ByteSpan bytes) {
  add_number(bytes.size());
  hmac_->add(bytes);
}

}  // namespace cu264::protect
