#include "encoder/config.h"

#include <algorithm>
#include <numeric>

#include "core/colour.h"
#include "encoder/frame_layout.h"
#include "encoder/hrd.h"
#include "encoder/options/option_row.h"
#include "vision/detector_backend.h"

namespace cu264::encoder {

bool converts_rgb(const Config& config) {
  return config.input_format && is_rgb(*config.input_format);
}

Colour coded_colour(const Config& config) {
  constexpr int kUnspecified = 2, kBt709 = 1, kBt601 = 6;
  Colour colour = config.colour;
  if (converts_rgb(config) && colour.matrix == kUnspecified)
    colour.matrix = config.height >= 720 ? kBt709 : kBt601;
  return colour;
}

namespace {

// Returns what is chosen of the stages after the search and works on CAVLC only, or null.
const char* cavlc_stage(const Config& config) {
  if (config.entropy == EntropyCoder::cavlcu) return "the entropy coder cavlcu";
  return config.packing == Packing::gvle ? "the packing gvle" : nullptr;
}

// Returns the part of `config` that works on CAVLC only, or null if there is none.
const char* needs_cavlc(const Config& config) {
  if (config.encryption) return "encryption";
  return config.watermark ? "a watermark" : cavlc_stage(config);
}

}  // namespace

Profile coded_profile(const Config& config) {
  return config.profile == Profile::automatic ? Profile::high : config.profile;
}

bool uses_cabac(const Config& config) {
  if (config.cavlc || cavlc_stage(config) != nullptr || config.profile == Profile::baseline) return false;
  return config.profile != Profile::automatic || needs_cavlc(config) == nullptr;
}

std::string profile_reason(const Config& config) {
  if (config.profile != Profile::automatic) return "asked for";
  if (config.cavlc) return "CAVLC was asked for";
  const char* const feature = needs_cavlc(config);
  return feature == nullptr ? "nothing needs CAVLC" : std::string(feature) + " needs CAVLC";
}

bool uses_transform_8x8(const Config& config) {
  return coded_profile(config) == Profile::high;
}

AdaptiveQuantisation coded_aq(const Config& config) {
  if (config.edge_guided != 0) return AdaptiveQuantisation::edges;
  if (config.aq != AdaptiveQuantisation::automatic) return config.aq;
  return config.crf || config.bitrate > 0 ? AdaptiveQuantisation::variance : AdaptiveQuantisation::off;
}

int coded_aq_strength(const Config& config) {
  constexpr int kDefault = 2;
  if (config.edge_guided != 0) return config.edge_guided;
  return config.aq_strength != 0 ? config.aq_strength : kDefault;
}

bool controls_rate(const Config& config) {
  return has_goal(config, false);
}

bool codes_again(const Config& config) {
  return has_goal(config, true);
}

int coded_lookahead(const Config& config) {
  return config.bitrate > 0 ? config.lookahead.value_or(kDefaultLookahead) : 0;
}

namespace {

void validate_rate(const Config& config) {
  require(config.on_overflow == OnOverflow::error || (!config.encryption && !config.watermark),
          "pictures cannot be left out of a clip that is encrypted or marked while it is encoded, because "
          "readers count pictures",
          "use on-overflow error, or encrypt or mark the finished stream");
  require(!config.crf || config.bitrate == 0, "crf and a bitrate both decide about the size",
          "use one of them");
  require(config.max_bitrate == 0 || config.max_bitrate >= config.bitrate,
          "the largest bitrate is below the mean one", "raise it, or leave it out");
  require(config.buffer_bits == 0 || config.bitrate > 0 || config.max_bitrate > 0, "a buffer of unknown rate",
          "set bitrate or the largest bitrate");
  require(!config.cbr || config.bitrate > 0, "cbr needs a bitrate", "set one");
  require(!config.cbr || config.max_bitrate == 0 || config.max_bitrate == config.bitrate,
          "with cbr the largest bitrate is the bitrate", "leave it out");
  require(!config.timed_bitrate || config.bitrate > 0, "timed_bitrate is of no use without a bitrate",
          "set one, or clear Config::timed_bitrate");
  require(!config.timed_bitrate || (config.max_bitrate == 0 && config.buffer_bits == 0 && !config.cbr),
          "a buffer counts pictures at the frame rate, not their durations",
          "leave out the largest bitrate, the buffer and cbr, or clear Config::timed_bitrate");
  require(config.frame_bytes == 0 ||
              (config.max_frame_bytes == 0 && config.bitrate == 0 && config.max_bitrate == 0),
          "frame-bytes decides about every size", "drop the bitrate, the buffer and max-frame-bytes");
  const double share = static_cast<double>(config.frame_rate.den) / config.frame_rate.num;  // seconds
  if (const auto hrd = hrd_params(config)) {
    // What arrives between two pictures must fit, and a picture must be able to have its share of it.
    const auto least = static_cast<std::int64_t>(static_cast<double>(hrd->bit_rate) * share) + 1;
    require(hrd->cpb_bits >= least,
            "a buffer of " + std::to_string(hrd->cpb_bits) +
                " bits holds less than one picture's share of the bitrate",
            "use at least " + std::to_string(least) + " bits");
    const std::int64_t room = least / 8 + 2 * static_cast<std::int64_t>(kMinFillerBytes);
    require(!config.cbr || config.max_frame_bytes == 0 || config.max_frame_bytes >= room,
            "pictures of max-frame-bytes do not fill the constant bitrate",
            "use at least " + std::to_string(room));
  }
  if (codes_again(config) && config.device_output) {
    throw Error(ErrorCode::unsupported, "packets on the device cannot wait while pictures are coded again",
                "clear Config::device_output, or use a constant QP or a crf");
  }
}

}  // namespace

namespace {

void validate_scaling_lists(const Config& config) {
  if (config.scaling_lists == ScalingLists{}) return;
  require(uses_transform_8x8(config), "only the profile high has scaling lists that are not flat",
          "use the profile high, or cqm flat");
}

void validate_aq(const Config& config) {
  using Aq = AdaptiveQuantisation;
  require(config.edge_guided == 0 || (config.aq != Aq::variance && config.aq != Aq::steps),
          "edge-guided and aq both set the QP of macroblocks", "use one of them");
  require(config.edge_guided == 0 || config.aq_strength == 0,
          "edge-guided and aq-strength both say how strongly", "use one of them");
  const bool edges = coded_aq(config) == Aq::edges;
  require(config.aq_strength == 0 || edges || coded_aq(config) == Aq::steps,
          "aq-strength is for aq edges and aq steps", "use one of them, or leave it out");
  require(edges || config.edge_detector == canny::Params{},
          "edge-thresholds are of no use without edge-guided", "add edge-guided, or leave them out");
  require(edges || !config.edge_maps, "there are no edge maps without edge-guided",
          "set Config::edge_guided, or clear Config::edge_maps");
  if (edges) vision::canny_params(config.edge_detector);  // throws
}

// What P pictures do not go with yet.
void validate_gop(const Config& config) {
  require(config.gop != 1 || !config.scene_cuts,
          "scenecut has no GOPs to begin, since every picture is a key picture",
          "set gop to 2 or more, or to 0, or leave scenecut out");
  if (config.gop == 1) return;
  const auto refuse = [](bool used, const char* what, const char* remedy) {
    if (used) throw Error(ErrorCode::unsupported, std::string("P pictures do not go with ") + what, remedy);
  };
  refuse(config.encryption.has_value(), "encryption", "use gop 1");
  refuse(config.watermark.has_value(), "a watermark", "use gop 1");
  refuse(config.scaling_lists != ScalingLists{}, "scaling lists", "use cqm flat, or gop 1");
  refuse(config.devices.size() > 1 && config.device_output, "packets on one of several devices",
         "use one device, clear Config::device_output, or use gop 1");
  refuse(config.devices.size() > 1 && coded_aq(config) != AdaptiveQuantisation::off && !codes_again(config),
         "adaptive quantisation on several devices, because offsets follow from those of the picture before",
         "use aq off, one device, or gop 1");
  refuse(cavlc_stage(config) != nullptr, "the published entropy coder or packing",
         "use production, or gop 1");
}

}  // namespace

void validate(const Config& config) {
  check_options(config);
  validate_gop(config);
  validate_scaling_lists(config);
  validate_aq(config);
  require(config.time_base.num >= 0 && config.time_base.den > 0, "the time base is not positive",
          "use seconds a unit, or 0 for 1 / frame rate");
  validate_rate(config);
  require(!converts_rgb(config) || config.chroma_location < 0 || config.chroma_location == kChromaOfRgb,
          "chroma converted from RGB lies in the middle of its samples", "leave the chroma location out");
  require(
      !uses_cabac(config) || (!config.encryption && !config.watermark),
      "encryption and watermarks work on CAVLC",
      "use the profile auto or baseline, or cavlc; protect encrypt takes the signs and suffixes of finished "
      "streams with CABAC");
  if (config.encryption) {
    require(config.encryption->parts.any(), "nothing to encrypt", "name signs, modes or codewords");
    require(!config.encryption->parts.suffixes, "suffixes are encrypted in finished streams with CABAC",
            "leave them out, or use protect encrypt");
  }
  if (config.watermark) {
    require(config.watermark->scheme == WatermarkScheme::t1_sign ||
                config.watermark->scheme == WatermarkScheme::t1_parity,
            "unknown watermark scheme", "use t1_sign or t1_parity");
    require(!config.watermark->payload.empty(), "the watermark's payload is empty", "give it bytes");
    require_range("watermark density", static_cast<int>(std::min(config.watermark->density, 65537u)), 1,
                  65536);
    require(!config.device_output, "a watermark is checked on the host", "clear Config::device_output");
  }
  require(!converts_rgb(config) || core::is_convertible_matrix(coded_colour(config).matrix),
          "RGB cannot be converted by matrix coefficients " + std::to_string(config.colour.matrix),
          "use 1 (BT.709), 5 or 6 (BT.601), or 2 to have one chosen");
}

Rational reduced(Rational value) {
  const int common = std::gcd(value.num, value.den);
  return common > 1 ? Rational{value.num / common, value.den / common} : value;
}

}  // namespace cu264::encoder
