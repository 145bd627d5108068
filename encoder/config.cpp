#include "encoder/config.h"

#include <algorithm>
#include <numeric>

#include "core/colour.h"
#include "encoder/frame_layout.h"
#include "encoder/level.h"
#include "encoder/rate_control/hrd.h"
#include "vision/detector_backend.h"

namespace cu264::encoder {
namespace {

void require(bool condition, const std::string& cause, const std::string& remedy) {
  if (!condition) throw Error(ErrorCode::invalid_argument, cause, remedy);
}

void require_range(const char* name, int value, int low, int high) {
  require(value >= low && value <= high, std::string(name) + " " + std::to_string(value) + " is out of range",
          "use " + std::to_string(low) + " to " + std::to_string(high));
}

}  // namespace

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
  constexpr int kUsual = 2;
  if (config.edge_guided != 0) return config.edge_guided;
  return config.aq_strength != 0 ? config.aq_strength : kUsual;
}

bool controls_rate(const Config& config) {
  return config.crf || codes_again(config);
}

bool codes_again(const Config& config) {
  return config.bitrate > 0 || config.max_bitrate > 0 || config.max_frame_bytes > 0 || config.frame_bytes > 0;
}

int coded_lookahead(const Config& config) {
  return config.bitrate > 0 ? config.lookahead.value_or(kUsualLookahead) : 0;
}

namespace {

void validate_rate(const Config& config) {
  const auto require_amount = [](const char* name, std::int64_t value, std::int64_t most) {
    require(value >= 0 && value <= most, std::string(name) + " " + std::to_string(value) + " is out of range",
            "use 1 to " + std::to_string(most) + ", or 0 for none");
  };
  if (config.crf) {
    require(*config.crf >= 0 && *config.crf <= 51, "crf " + std::to_string(*config.crf) + " is out of range",
            "use 0 to 51");
  }
  require_amount("bitrate", config.bitrate, kMostBits);
  require_amount("the largest bitrate", config.max_bitrate, kMostBits);
  require_amount("the buffer", config.buffer_bits, kMostBits);
  require_amount("max-frame-bytes", config.max_frame_bytes, kMostFrameBytes);
  require_amount("frame-bytes", config.frame_bytes, kMostFrameBytes);
  if (config.lookahead) {
    require(*config.lookahead >= 0 && *config.lookahead <= kMostLookahead,
            "a look-ahead of " + std::to_string(*config.lookahead) + " pictures is out of range",
            "use 0 to " + std::to_string(kMostLookahead));
  }
  require(config.on_overflow == OnOverflow::error || config.on_overflow == OnOverflow::drop,
          "unknown reaction to an overflow", "use error or drop");
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
    const std::int64_t room = least / 8 + 2 * static_cast<std::int64_t>(kLeastFiller);
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
  const auto require_weights = [](const auto& list) {
    require(std::find(list.begin(), list.end(), 0) == list.end(), "a weight of a scaling list is 0",
            "use 1 to 255");
  };
  require_weights(config.scaling_lists.luma4x4), require_weights(config.scaling_lists.cb4x4);
  require_weights(config.scaling_lists.cr4x4), require_weights(config.scaling_lists.luma8x8);
}

void validate_aq(const Config& config) {
  using Aq = AdaptiveQuantisation;
  require_range("edge-guided", config.edge_guided, 0, kMaxEdgeGuided);
  require_range("aq-strength", config.aq_strength, 0, kMaxEdgeGuided);
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

}  // namespace

void validate(const Config& config) {
  require_range("width", config.width, 1, kMaxSide);
  require_range("height", config.height, 1, kMaxSide);
  require_range("qp", config.qp, 0, 51);
  name_of(config.preset), name_of(config.profile), name_of(config.aq), name_of(config.headers);
  name_of(config.backend), name_of(config.entropy), name_of(config.packing);
  validate_scaling_lists(config);
  const int rows = macroblocks(config.height);
  require(config.slices >= 1 && config.slices <= rows,
          std::to_string(config.slices) + " slices do not fit a picture of " + std::to_string(rows) +
              " macroblock rows",
          "use 1 to " + std::to_string(rows));
  validate_aq(config);
  require_range("threads", config.threads, 0, kMaxThreads);
  require_range("batch", config.batch, 0, kMaxBatch);
  for (std::size_t i = 0; i < config.devices.size(); ++i) {
    const auto end = config.devices.begin() + static_cast<std::ptrdiff_t>(i);
    require_range("device", config.devices[i], 0, kMaxDevices - 1);
    require(std::find(config.devices.begin(), end, config.devices[i]) == end, "a device is named twice",
            "name each device once");
  }
  require(config.frame_rate.num > 0 && config.frame_rate.den > 0, "the frame rate is not positive",
          "use a fraction such as 30000/1001");
  require(config.time_base.num >= 0 && config.time_base.den > 0, "the time base is not positive",
          "use seconds a unit, or 0 for 1 / frame rate");
  validate_rate(config);
  const Rational sar = config.sample_aspect_ratio;
  require(sar.num >= 0 && sar.den > 0 && reduced(sar).num <= 65535 && reduced(sar).den <= 65535,
          "the sample aspect ratio is out of range", "use two numbers up to 65535, or 0 for unspecified");
  require_range("colour primaries", config.colour.primaries, 0, 255);
  require_range("transfer characteristics", config.colour.transfer, 0, 255);
  require_range("matrix coefficients", config.colour.matrix, 0, 255);
  // H.264 E.2.1
  require(config.colour.matrix != 0, "matrix coefficients 0 (RGB) cannot describe 4:2:0 pictures",
          "name the matrix of the YCbCr conversion, or 2 for unspecified");
  require_range("chroma location", config.chroma_location, -1, kMaxChromaLocation);
  require(!converts_rgb(config) || config.chroma_location < 0 || config.chroma_location == kChromaOfRgb,
          "chroma converted from RGB lies in the middle of its samples",
          "leave Config::chroma_location at -1");
  require(config.level_idc == 0 || is_level(config.level_idc),
          "there is no level_idc " + std::to_string(config.level_idc),
          "use ten times a level of H.264, or 0");
  require(!uses_cabac(config) || (!config.encryption && !config.watermark),
          "encryption and watermarks work on CAVLC",
          "use the profile auto or baseline, or cavlc; protect encrypt takes the signs of finished streams "
          "with CABAC");
  if (config.encryption) {
    require(config.encryption->parts.any(), "nothing to encrypt", "name signs, modes or codewords");
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
  if (config.input_format) name_of(*config.input_format);
  require(!converts_rgb(config) || core::is_convertible_matrix(coded_colour(config).matrix),
          "RGB cannot be converted by matrix coefficients " + std::to_string(config.colour.matrix),
          "use 1 (BT.709), 5 or 6 (BT.601), or 2 to have one chosen");
}

}  // namespace cu264::encoder
