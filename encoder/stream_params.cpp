#include <string>

#include "encoder/config.h"
#include "encoder/frame_layout.h"
#include "encoder/hrd.h"
#include "encoder/stream_params.h"

namespace cu264::encoder {

namespace {

std::optional<AqParams> aq_params(const Config& config) {
  const bool remembers = !codes_again(config);
  const AdaptiveQuantisation aq = coded_aq(config);
  const int strength = (coded_aq_strength(config) + 1) * kStrengthOne / 2;
  if (aq == AdaptiveQuantisation::edges) return AqParams{AqMode::edges, strength, remembers};
  if (aq == AdaptiveQuantisation::steps) return AqParams{AqMode::steps, strength, remembers};
  if (aq == AdaptiveQuantisation::variance) return AqParams{AqMode::variance, kStrengthOne, remembers};
  if (controls_rate(config)) return AqParams{AqMode::none, 0, false};
  return std::nullopt;
}

// While the buffer is full, filler data bring a picture of a constant bitrate to its share of the rate.
std::size_t packet_capacity(const Config& config) {
  if (config.frame_bytes > 0) return static_cast<std::size_t>(config.frame_bytes);
  if (!config.cbr) return 0;
  return static_cast<std::size_t>(config.bitrate / 8 * config.frame_rate.den / config.frame_rate.num);
}

}  // namespace

namespace {

StreamFormat stream_format(const Config& config) {
  StreamFormat format;
  format.width = config.width, format.height = config.height;
  format.coded_width = coded_side(config.width), format.coded_height = coded_side(config.height);
  format.mb_width = macroblocks(config.width), format.mb_height = macroblocks(config.height);
  format.slices = config.slices;
  format.cabac = uses_cabac(config);
  format.transform_8x8_mode = uses_transform_8x8(config);
  format.inter = config.gop != 1;
  format.scaling_lists = config.scaling_lists;
  return format;
}

Decisions decisions(const Config& config) {
  Decisions decisions;
  decisions.preset = config.preset;
  decisions.aq = aq_params(config);
  decisions.scene_cuts = config.scene_cuts && config.gop != 1;
  if (decisions.aq && decisions.aq->mode == AqMode::edges) decisions.edge_detector = config.edge_detector;
  return decisions;
}

Protection protection(const Config& config) {
  Protection protection;
  if (config.watermark) protection.marks = std::make_shared<protect::MarkPlanner>(*config.watermark);
  if (config.encryption) protection.cipher = std::make_shared<protect::EncodeCipher>(*config.encryption);
  return protection;
}

Pacing pacing(const Config& config) {
  Pacing pacing;
  pacing.controls_rate = controls_rate(config);
  pacing.codes_again = codes_again(config);
  pacing.lookahead = coded_lookahead(config);
  pacing.packet_capacity = packet_capacity(config);
  if (const auto hrd = hrd_params(config)) pacing.headroom = typical_hrd_sei_bytes(*hrd);
  return pacing;
}

}  // namespace

StreamParams stream_params(const Config& config) {
  const Colour colour = coded_colour(config);
  StreamParams params;
  params.format = stream_format(config);
  params.decisions = decisions(config);
  params.input = {config.input_format, colour.matrix, colour.full_range};
  params.outputs = {config.reconstruction, config.edge_maps, config.device_output};
  params.execution.threads = config.threads;
  params.execution.batch = config.batch;
  params.execution.gop = config.gop;
  params.execution.entropy = config.entropy;
  params.execution.packing = config.packing;
  params.protection = protection(config);
  params.pacing = pacing(config);
  return params;
}

BatchKind batch_kind(const StreamParams& params) {
  const bool converts = params.input.format && is_rgb(*params.input.format);
  return {params.format,
          params.decisions,
          converts ? params.input : InputParams{},
          params.outputs,
          params.execution.entropy,
          params.execution.packing,
          params.pacing.controls_rate,
          params.pacing.codes_again};
}

core::PictureParams picture_params(const Config& config, std::uint64_t index) {
  core::PictureParams picture;
  picture.index = index;
  picture.qp = static_cast<std::uint8_t>(config.qp);
  picture.idr_pic_id = static_cast<std::uint8_t>(index % 2);
  picture.deblock = config.deblock;
  return picture;
}

double mean_qp(const core::PictureParams& picture, int mb_height) {
  const int raised = picture.qp < 51 ? picture.raised_rows : 0;
  return picture.qp + static_cast<double>(raised) / mb_height;
}

void check_streams(const StreamParams& params) {
  if (params.execution.streams < 1)
    throw Error(ErrorCode::invalid_argument, "a backend was opened for no stream", "open it for one or more");
  if (params.protection.cipher && params.execution.streams > 1) {
    throw Error(ErrorCode::invalid_argument, "several streams would be encrypted with one keystream",
                "open a backend for each stream that is encrypted");
  }
}

void check_picture(const core::PictureParams& picture, const StreamParams& params) {
  const auto refuse = [&](const char* what, int value, const std::string& allowed) {
    throw Error(ErrorCode::invalid_argument,
                "picture " + std::to_string(picture.index) + " has the " + what + " " + std::to_string(value),
                allowed);
  };
  if (picture.qp > 51) refuse("QP", picture.qp, "0 to 51");
  if (!picture.key && !params.format.inter) refuse("gop", 0, "open the backend for P pictures");
  if (picture.idr_pic_id > core::kIdrPicIdAfterGap) refuse("idr_pic_id", picture.idr_pic_id, "0 to 2");
  if (picture.raised_rows > params.format.mb_height)
    refuse("number of raised rows", picture.raised_rows, "0 to " + std::to_string(params.format.mb_height));
  if (picture.raised_rows > 0 && !params.decisions.aq)
    refuse("number of raised rows", picture.raised_rows, "open the backend with Decisions::aq");
  if (picture.stream >= static_cast<std::uint32_t>(params.execution.streams)) {
    refuse("stream", static_cast<int>(picture.stream), "below " + std::to_string(params.execution.streams));
  }
}

}  // namespace cu264::encoder
