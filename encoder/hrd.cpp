#include "encoder/hrd.h"

#include <algorithm>
#include <span>

#include "common/bitstream/nal_unit.h"

namespace cu264::encoder {
namespace {

constexpr std::int64_t kBitRateUnit = 64, kCpbUnit = 16;  // with bit_rate_scale and cpb_size_scale 0

// The lengths of the delays in bits. A buffer of more than 186 s takes more than 24.
constexpr int kRemovalDelayLength = 24, kOutputDelayLength = 8;
int initial_delay_length(const HrdParams& hrd) {
  return kHrdClock * hrd.cpb_bits / hrd.bit_rate < 1 << 24 ? 24 : 32;
}

// A buffer holds a second, or what arrives during two pictures where one lasts as long.
std::int64_t default_buffer(std::int64_t rate, Rational frame_rate) {
  if (frame_rate.num > frame_rate.den || frame_rate.num <= 0) return rate;
  const double two_pictures = 2.0 * static_cast<double>(rate) * frame_rate.den / frame_rate.num;
  return static_cast<std::int64_t>(std::min(two_pictures, static_cast<double>(kMaxCpbBits)));
}

constexpr std::uint32_t kBufferingPeriod = 0, kPictureTiming = 1;  // payloadType

// sei_message() (7.3.2.3.1) with a payload of less than 255 bytes.
void append_message(std::vector<std::uint8_t>& rbsp, std::uint32_t type, RbspWriter& payload) {
  const std::vector<std::uint8_t> bytes = payload.finish_message();
  rbsp.push_back(static_cast<std::uint8_t>(type));
  rbsp.push_back(static_cast<std::uint8_t>(bytes.size()));
  rbsp.insert(rbsp.end(), bytes.begin(), bytes.end());
}

}  // namespace

std::optional<HrdParams> hrd_params(const Config& config) {
  if ((config.bitrate <= 0 && config.max_bitrate <= 0) || config.timed_bitrate) return std::nullopt;
  const std::int64_t rate = config.cbr || config.max_bitrate <= 0 ? config.bitrate : config.max_bitrate;
  const std::int64_t bits =
      config.buffer_bits > 0 ? config.buffer_bits : default_buffer(rate, config.frame_rate);
  const auto coded = [](std::int64_t value, std::int64_t unit, std::int64_t most) {
    return std::clamp(value / unit * unit, unit, most);
  };
  HrdParams hrd;
  hrd.bit_rate = coded(rate, kBitRateUnit, kMaxHrdBitRate);
  // A delay has 32 bits.
  hrd.cpb_bits = coded(bits, kCpbUnit, std::min(kMaxCpbBits, kMaxHrdSeconds * hrd.bit_rate));
  hrd.cbr = config.cbr;
  return hrd;
}

void write_hrd_parameters(RbspWriter& w, const HrdParams& hrd) {
  w.ue(0);    // cpb_cnt_minus1
  w.u(4, 0);  // bit_rate_scale
  w.u(4, 0);  // cpb_size_scale
  w.ue(static_cast<std::uint32_t>(hrd.bit_rate / kBitRateUnit - 1));
  w.ue(static_cast<std::uint32_t>(hrd.cpb_bits / kCpbUnit - 1));
  w.flag(hrd.cbr);
  w.u(5, static_cast<std::uint32_t>(initial_delay_length(hrd) - 1));
  w.u(5, kRemovalDelayLength - 1);
  w.u(5, kOutputDelayLength - 1);
  w.u(5, 0);  // time_offset_length
}

std::vector<std::uint8_t> hrd_sei(const HrdParams& hrd, std::uint32_t initial_cpb_removal_delay,
                                  std::uint32_t initial_cpb_removal_delay_offset,
                                  std::uint32_t cpb_removal_delay) {
  std::vector<std::uint8_t> rbsp;
  RbspWriter buffering_period;
  buffering_period.ue(0);  // seq_parameter_set_id
  buffering_period.u(initial_delay_length(hrd), initial_cpb_removal_delay);
  buffering_period.u(initial_delay_length(hrd), initial_cpb_removal_delay_offset);
  append_message(rbsp, kBufferingPeriod, buffering_period);
  RbspWriter picture_timing;
  picture_timing.u(kRemovalDelayLength, cpb_removal_delay);
  picture_timing.u(kOutputDelayLength, 0);  // dpb_output_delay: shown as soon as it is decoded
  append_message(rbsp, kPictureTiming, picture_timing);
  rbsp.push_back(0x80);  // rbsp_trailing_bits
  std::vector<std::uint8_t> out;
  bitstream::append_nal(out, 0, bitstream::kNalSei, rbsp, true);
  return out;
}

std::size_t typical_hrd_sei_bytes(const HrdParams& hrd) {
  constexpr std::uint32_t kWithoutZeros = 0x555555;
  return hrd_sei(hrd, kWithoutZeros, kWithoutZeros, 2).size();
}

void append_filler(std::vector<std::uint8_t>& access_unit, std::size_t bytes) {
  const std::size_t before = access_unit.size();
  access_unit.resize(before + bytes, 0xff);
  const std::uint8_t head[] = {0, 0, 1, bitstream::kNalFiller};
  std::copy(std::begin(head), std::end(head), access_unit.begin() + static_cast<std::ptrdiff_t>(before));
  access_unit.back() = 0x80;  // rbsp_trailing_bits
}

}  // namespace cu264::encoder
