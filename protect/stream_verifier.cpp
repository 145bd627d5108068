#include "protect/stream_verifier.h"

#include <algorithm>
#include <string>

#include "cu264/status.h"

namespace cu264::protect {
namespace {

[[noreturn]] void refuse(const std::string& cause, const char* remedy) {
  throw Error(ErrorCode::bad_input, cause, remedy);
}

constexpr const char* kChanged = "it was changed after it was encrypted";

bool is_slice(const bitstream::NalUnit& nal) {
  return nal.type() == bitstream::kNalSlice || nal.type() == bitstream::kNalSliceIdr;
}

// Adds a number as the codes of version 1 contain it.
void add_number(Hmac& hmac, std::uint64_t value, int bytes) {
  std::uint8_t digits[8];
  for (int i = 0; i < bytes; ++i) digits[i] = static_cast<std::uint8_t>(value >> (8 * (bytes - 1 - i)));
  hmac.add({digits, static_cast<std::size_t>(bytes)});
}

}  // namespace

void StreamVerifier::check(const bitstream::NalUnits& part) {
  check_units(part);
  const auto last_slice = std::find_if(part.units.rbegin(), part.units.rend(), is_slice);
  const bool has_slice = last_slice != part.units.rend();
  if (has_slice ? std::any_of(part.units.rbegin(), last_slice, bitstream::begins_access_unit)
                : !part.units.empty()) {
    apart_ = true;
  }
}

void StreamVerifier::check_outside(const bitstream::NalUnits& sets) {
  check_units(sets);
}

void StreamVerifier::check_units(const bitstream::NalUnits& part) {
  authenticator_.between_units(part);
  for (const bitstream::NalUnit& nal : part.units) {
    const std::optional<Message> found = read_message(nal);
    if (found) message(*found);
    if (is_slice(nal)) {
      slice(nal);
    } else if (!found || found->kind == MessageKind::watermark || found->kind == MessageKind::hidden_data) {
      other_unit(nal);
    }
  }
  end_picture();  // a part is whole access units
  if (ended_ && authenticator_.has_uncovered()) refuse("there are units after the stream's end", kChanged);
}

// A picture ends before anything but filler data, so that a slice that continues it later belongs to none.
void StreamVerifier::other_unit(const bitstream::NalUnit& nal) {
  if (protection_ && !authenticator_.started()) return;
  if (!is_filler_data(nal)) end_picture();
  authenticator_.other_unit(nal);
}

void StreamVerifier::message(const Message& message) {
  switch (message.kind) {
    case MessageKind::watermark:
    case MessageKind::hidden_data:
      return;
    case MessageKind::encryption:
      return begin_protection(message);
    case MessageKind::authentication:
      end_picture();
      if (expected_ || ended_ ||
          (protection_ && (!authenticated() || message.version != protection_->version))) {
        refuse("the code of a picture is repeated or out of place", kChanged);
      }
      expected_ = message;
      return;
    case MessageKind::stream_end:
      return end_stream(message);
  }
}

void StreamVerifier::begin_protection(const Message& message) {
  if (protection_) {
    refuse("the stream has a second encryption message",
           "it was put together from several: decrypt each by itself");
  }
  keys_ = checked_keys(key_, message);
  const bool authenticated = (message.settings[1] & kAuthenticated) != 0;
  if (options_.require_authentication && !authenticated) {
    refuse("the stream is not authenticated", "only streams encrypted with authentication are accepted");
  }
  const bool first_version = message.version == kFirstVersion;
  if (options_.require_authentication && first_version) {
    refuse("the stream's authentication is of version 1, which can be stripped or replayed",
           "decrypt it without requiring authentication, and encrypt it again");
  }
  if (expected_ && (!authenticated || expected_->version != message.version)) {
    refuse("the code of a picture belongs to another protection than the stream's", kChanged);
  }
  protection_ = message;
  if (!authenticated) return;
  if (first_version) {
    first_version_.emplace(keys_->first_version_authentication_key());
  } else {
    authenticator_.start(*keys_, message);
  }
}

void StreamVerifier::slice(const bitstream::NalUnit& nal) {
  if (!protection_) {
    refuse("the stream is not encrypted, or its beginning is missing",
           "only what cu264 encrypted can be decrypted");
  }
  if (!authenticated()) return;
  if (ended_) refuse("there are pictures after the stream's end", kChanged);
  // A player that takes one access unit at a time would assign what stands there to another picture, or to
  // none.
  if (apart_ && !first_version_) {
    refuse("what belongs to picture " + std::to_string(pictures_) + " is not in its access unit", kChanged);
  }
  if (read_slice_begin(nal.unit).first_mb == 0) end_picture();
  if (!in_picture_) begin_picture();
  if (first_version_) {
    add_number(*first_version_, nal.unit.size(), 8);
    first_version_->add(nal.unit);
  } else {
    authenticator_.slice(nal.unit);
  }
}

void StreamVerifier::begin_picture() {
  in_picture_ = true;
  const std::uint64_t picture = pictures_++;
  if (!first_version_) return authenticator_.begin_picture(picture);
  first_version_->begin();
  add_number(*first_version_, protection_->nonce, 8);
  add_number(*first_version_, picture, 4);
}

void StreamVerifier::end_picture() {
  if (!in_picture_) return;
  in_picture_ = false;
  const std::uint64_t picture = pictures_ - 1;
  const Digest code = first_version_ ? first_version_->take() : authenticator_.end_picture();
  if (!expected_ || expected_->pictures != picture || !equal_in_constant_time(code, expected_->code)) {
    refuse("picture " + std::to_string(picture) + " fails its authentication", kChanged);
  }
  expected_.reset();
}

void StreamVerifier::end_stream(const Message& message) {
  end_picture();
  if (!authenticator_.started() || ended_ || expected_) refuse("the stream's end is out of place", kChanged);
  if (message.pictures != pictures_ ||
      !equal_in_constant_time(authenticator_.end_stream(pictures_), message.code)) {
    refuse("the stream's end fails its authentication", "pictures are missing, or it was changed");
  }
  ended_ = true;
}

void StreamVerifier::finish() const {
  if (!protection_ && options_.require_authentication) {
    refuse("the stream is not encrypted", "only streams encrypted with authentication are accepted");
  }
  if (expected_) refuse("a picture is missing at the stream's end", "the stream was cut off");
  if (!authenticator_.started()) return;
  if (!ended_) refuse("the authenticated stream has no end", "the stream was cut off");
}

}  // namespace cu264::protect
