// The hypothetical reference decoder (H.264 annex C) in the stream: the buffer's parameters in the VUI, the
// SEI messages that say when each picture leaves the buffer, and the filler data that keep it from
// overflowing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cu264/encoder.h"
#include "encoder/rbsp_writer.h"

namespace cu264::encoder {

// As the stream says them: rounded down to multiples of 64 bits a second and of 16 bits (E.2.2).
struct HrdParams {
  std::int64_t bit_rate = 0;
  std::int64_t cpb_bits = 0;
  bool cbr = false;
};

// A buffer belongs to each stream with Config::bitrate or Config::max_bitrate; others have none, nor has one
// with Config::timed_bitrate.
std::optional<HrdParams> hrd_params(const Config& config);

// The largest values that the stream can express for a buffer; HrdParams beyond them have no codes.
inline constexpr std::int64_t kMaxHrdBitRate = 64 * ((std::int64_t{1} << 32) - 1);
inline constexpr std::int64_t kMaxHrdSeconds = 40000;  // cpb_bits / bit_rate
inline constexpr std::int64_t kMaxCpbBits = 16 * ((std::int64_t{1} << 32) - 1);

// hrd_parameters() (E.1.2).
void write_hrd_parameters(RbspWriter& w, const HrdParams& hrd);

inline constexpr std::int64_t kHrdClock = 90000;  // in which initial_cpb_removal_delay counts

// One NAL unit in Annex B form with the messages buffering_period and picture_timing (D.1.2, D.1.3), which
// each access unit of a stream with HRD parameters has: each is an IDR picture. It comes before any other SEI
// message (7.4.1.2.3). The delays of the buffering period are in units of 1/90000 s, the first of them 1 ..
// 90000 * cpb_bits / bit_rate; cpb_removal_delay is in ticks (two a picture) since the previous access unit
// left the buffer, and 0 for the first.
std::vector<std::uint8_t> hrd_sei(const HrdParams& hrd, std::uint32_t initial_cpb_removal_delay,
                                  std::uint32_t initial_cpb_removal_delay_offset,
                                  std::uint32_t cpb_removal_delay);
// The size of hrd_sei() before emulation prevention, which adds a byte for each two zeros at most.
inline constexpr std::size_t kMaxHrdSeiBytes = 40;

// The size that most of these messages of a stream have.
std::size_t typical_hrd_sei_bytes(const HrdParams& hrd);

// Appends one NAL unit of type 12 that takes exactly `bytes` bytes with its start code, at least
// kMinFillerBytes. It follows the slices of its access unit (7.4.1.2.3).
inline constexpr std::size_t kMinFillerBytes = 5;
void append_filler(std::vector<std::uint8_t>& access_unit, std::size_t bytes);

}  // namespace cu264::encoder
