#include "encoder/level.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "encoder/config.h"
#include "encoder/hrd.h"

namespace cu264::encoder {
namespace {

struct Limits {
  int level_idc;
  std::int64_t MaxMBPS;    // macroblocks a second
  std::int64_t MaxFS;      // macroblocks a frame
  std::int64_t MaxDpbMbs;  // macroblocks in the decoded picture buffer
  std::int64_t MaxBR;      // cpbBrVclFactor bits a second
  std::int64_t MaxCPB;     // cpbBrVclFactor bits
  std::int64_t
      SliceRate;  // macroblocks of MaxMBPS that a slice takes above Baseline (table A-4); 0: no limit
};

constexpr Limits kLevels[] = {
    {10, 1485, 99, 396, 64, 175, 0},
    {9, 1485, 99, 396, 128, 350, 0},
    {11, 3000, 396, 900, 192, 500, 0},
    {12, 6000, 396, 2376, 384, 1000, 0},
    {13, 11880, 396, 2376, 768, 2000, 0},
    {20, 11880, 396, 2376, 2000, 2000, 0},
    {21, 19800, 792, 4752, 4000, 4000, 0},
    {22, 20250, 1620, 8100, 4000, 4000, 0},
    {30, 40500, 1620, 8100, 10000, 10000, 22},
    {31, 108000, 3600, 18000, 14000, 14000, 60},
    {32, 216000, 5120, 20480, 20000, 20000, 60},
    {40, 245760, 8192, 32768, 20000, 25000, 60},
    {41, 245760, 8192, 32768, 50000, 62500, 24},
    {42, 522240, 8704, 34816, 50000, 62500, 24},
    {50, 589824, 22080, 110400, 135000, 135000, 24},
    {51, 983040, 36864, 184320, 240000, 240000, 24},
    {52, 2073600, 36864, 184320, 240000, 240000, 24},
    {60, 4177920, 139264, 696320, 240000, 240000, 24},
    {61, 8355840, 139264, 696320, 480000, 480000, 24},
    {62, 16711680, 139264, 696320, 800000, 800000, 24},
};

// Bits of slices that are a unit of MaxBR and MaxCPB (table A-2). All NAL units may have a fifth more.
std::int64_t cpbBrVclFactor(Profile profile) {
  return profile == Profile::high ? 1250 : 1000;
}

bool holds(const Limits& level, std::int64_t width, std::int64_t height, Rational frame_rate,
           std::int64_t bits_per_second, std::int64_t buffer_bits, int slices, Profile profile) {
  const std::int64_t frame_size = width * height;
  const bool sides = width * width <= 8 * level.MaxFS && height * height <= 8 * level.MaxFS;
  const bool rate = frame_size * frame_rate.num <= level.MaxMBPS * frame_rate.den;
  const std::int64_t unit = cpbBrVclFactor(profile);
  const bool bits = bits_per_second <= level.MaxBR * unit && buffer_bits <= level.MaxCPB * unit;
  const bool slice_rate = profile == Profile::baseline ||
                          slices * level.SliceRate * frame_rate.num <= level.MaxMBPS * frame_rate.den;
  return sides && rate && bits && slice_rate && frame_size <= level.MaxFS && frame_size <= level.MaxDpbMbs;
}

std::string text_of(int level_idc) {
  if (level_idc == kLevel1b) return "1b";
  std::string text = std::to_string(level_idc / 10);
  if (level_idc % 10 != 0) text.append(".").append(std::to_string(level_idc % 10));
  return text;
}

}  // namespace

StreamLevel choose_level(int mb_width, int mb_height, Rational frame_rate, std::int64_t bits_per_second,
                         std::int64_t buffer_bits, int slices, Profile profile) {
  for (const Limits& level : kLevels) {
    if (holds(level, mb_width, mb_height, frame_rate, bits_per_second, buffer_bits, slices, profile))
      return {level.level_idc, true, level.MaxBR * cpbBrVclFactor(profile)};
  }
  return {};
}

StreamLevel stream_level(const Config& config) {
  const int mb_width = macroblocks(config.width), mb_height = macroblocks(config.height);
  const Profile profile = coded_profile(config);
  // The HRD counts all NAL units, for which limits are 1.2 times as high (cpbBrNalFactor).
  const HrdParams hrd = hrd_params(config).value_or(HrdParams{});
  const std::int64_t bits_per_second = (5 * hrd.bit_rate + 5) / 6, buffer_bits = (5 * hrd.cpb_bits + 5) / 6;
  const int slices = config.slices;
  const StreamLevel lowest =
      choose_level(mb_width, mb_height, config.frame_rate, bits_per_second, buffer_bits, slices, profile);
  if (config.level_idc == 0) return lowest;
  for (const Limits& level : kLevels) {
    if (level.level_idc == config.level_idc &&
        holds(level, mb_width, mb_height, config.frame_rate, bits_per_second, buffer_bits, slices, profile))
      return {level.level_idc, true, level.MaxBR * cpbBrVclFactor(profile)};
  }
  const Rational rate = reduced(config.frame_rate);
  std::string rate_text = std::to_string(rate.num);
  if (rate.den != 1) rate_text.append("/").append(std::to_string(rate.den));
  throw Error(
      ErrorCode::invalid_argument,
      "level " + text_of(config.level_idc) + " does not hold " + std::to_string(config.width) + "x" +
          std::to_string(config.height) + " at " + rate_text + " pictures a second" +
          (profile != Profile::baseline && slices > 1 ? " in " + std::to_string(slices) + " slices" : "") +
          (hrd.bit_rate > 0 ? ", " + std::to_string(hrd.bit_rate) + " bits a second and a buffer of " +
                                  std::to_string(hrd.cpb_bits) + " bits"
                            : ""),
      lowest.holds ? "the lowest that does is " + text_of(lowest.level_idc) : "no level does");
}

bool is_level(int level_idc) {
  return std::any_of(std::begin(kLevels), std::end(kLevels),
                     [&](const Limits& level) { return level.level_idc == level_idc; });
}

}  // namespace cu264::encoder
