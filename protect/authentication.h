// The authentication codes of an encrypted stream, for the tool that makes them and the one that checks them.
// Each is an HMAC-SHA256 under a key that serves nothing else. It covers a label, the nonce, version and
// settings of the protection, and then:
// - for a picture: its number, the covered units since the picture before, for each slice the active sequence
//   and picture parameter sets and the slice as it is in the stream, encrypted, and the parameter sets that
//   are new since the picture before and that no slice of this one refers to;
// - for the end: the number of pictures, and the covered units and new parameter sets after the last one.
//
// So the codes leave out only what changes no picture, and what muxers add and remove: filler data, and
// between pictures access unit delimiters and parameter sets that are the same, byte for byte, as the ones in
// force. All other units are covered. Where a picture's slice headers do not tell it from the one before, its
// code also covers whether such units stood between them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "common/bitstream/parameter_sets.h"
#include "protect/message.h"

namespace cu264::protect {

// The first fields of a slice header (7.3.3).
struct SliceBegin {
  std::uint32_t first_mb = 0;
  std::uint32_t pps_id = 0;
};
SliceBegin read_slice_begin(ByteSpan unit);

// Filler data with the nal_ref_idc that H.264 asks for (7.4.1). There are decoders that refuse other streams.
inline bool is_filler_data(const bitstream::NalUnit& nal) {
  return nal.type() == bitstream::kNalFiller && nal.ref_idc() == 0;
}

class Authenticator {
 public:
  // Starts with `message`, which begins the protection.
  void start(const StreamKeys& keys, const Message& message);
  bool started() const { return hmac_.has_value(); }

  // These calls follow the order of the stream. `other_unit` takes all units but slices and the protection's
  // own messages. It never throws, because it also sees what comes before the protection: end_picture and
  // end_stream throw Error(bad_input) if there was something that no code can cover.
  void other_unit(const bitstream::NalUnit& nal);
  void begin_picture(std::uint64_t picture);
  void slice(ByteSpan unit);
  Digest end_picture();
  Digest end_stream(std::uint64_t pictures);
  // Looks at what lies between the units of a part of the stream, which must be zero bytes.
  void between_units(const bitstream::NalUnits& part);

  // Says whether there were units since the last picture that its code does not cover.
  bool has_uncovered() const;

 private:
  void begin(const char* label, std::uint64_t number);
  void add_number(std::uint64_t value);
  void add(ByteSpan bytes);
  Digest take();
  void sps(ByteSpan unit);
  void pps(ByteSpan unit);
  void covered(ByteSpan unit);
  void tell_apart(ByteSpan sps, ByteSpan pps, ByteSpan first_slice);

  struct ParameterSet {
    Bytes unit;  // empty if it has not been in the stream so far
    // Whether it has come since the last picture, and no slice has referred to it.
    bool fresh = false;
    std::size_t sps_id = 0;  // of a picture parameter set
  };
  void store(ParameterSet& set, ByteSpan unit);

  std::array<ParameterSet, 32> sps_;
  std::array<ParameterSet, 256> pps_;
  Bytes covered_;  // the units since the last picture began, each with its length
  const char* flaw_ = nullptr;
  bool in_picture_ = false;
  std::optional<bitstream::PictureIdentity> picture_before_;
  bool begun_ = false;         // whether anything but filler data has come since the picture before
  std::uint64_t between_ = 0;  // kDelimiter and kParameterSet, if there was one since the picture before
  std::uint64_t nonce_ = 0;
  std::uint8_t version_ = 0;
  Settings settings_{};
  std::optional<Hmac> hmac_;
};

}  // namespace cu264::protect
