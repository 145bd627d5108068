#include <string>

#include "encoder/config.h"
#include "encoder/rate_control/hrd.h"
#include "encoder/stages.h"

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

// Filler data bring a picture of a constant bitrate to its share of the rate while the buffer is full.
std::size_t packet_room(const Config& config) {
  if (config.frame_bytes > 0) return static_cast<std::size_t>(config.frame_bytes);
  if (!config.cbr) return 0;
  return static_cast<std::size_t>(config.bitrate / 8 * config.frame_rate.den / config.frame_rate.num);
}

}  // namespace

StageParams stage_params(const Config& config) {
  StageParams params;
  params.width = config.width;
  params.height = config.height;
  params.coded_width = coded_side(config.width);
  params.coded_height = coded_side(config.height);
  params.mb_width = macroblocks(config.width);
  params.mb_height = macroblocks(config.height);
  params.preset = config.preset;
  params.transform_8x8_mode = uses_transform_8x8(config);
  params.scaling_lists = config.scaling_lists;
  params.aq = aq_params(config);
  if (params.aq && params.aq->mode == AqMode::edges) params.edge_detector = config.edge_detector;
  params.edge_maps = config.edge_maps;
  params.controls_rate = controls_rate(config);
  params.codes_again = codes_again(config);
  params.lookahead = coded_lookahead(config);
  params.packet_room = packet_room(config);
  if (const auto hrd = hrd_params(config)) params.front_room = usual_hrd_sei(*hrd);
  params.slices = config.slices;
  params.cabac = uses_cabac(config);
  params.entropy = config.entropy;
  params.packing = config.packing;
  params.reconstruction = config.reconstruction;
  params.threads = config.threads;
  params.batch = config.batch;
  params.device_output = config.device_output;
  params.input_format = config.input_format;
  if (config.watermark) params.marks = std::make_shared<protect::MarkPlanner>(*config.watermark);
  if (config.encryption) params.cipher = std::make_shared<protect::EncodeCipher>(*config.encryption);
  const Colour colour = coded_colour(config);
  params.matrix_coefficients = colour.matrix;
  params.full_range = colour.full_range;
  return params;
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

void check_streams(const StageParams& params) {
  if (params.streams < 1)
    throw Error(ErrorCode::invalid_argument, "a backend was opened for no stream", "open it for one or more");
  if (params.cipher && params.streams > 1) {
    throw Error(ErrorCode::invalid_argument, "several streams would be encrypted with one keystream",
                "open a backend for each stream that is encrypted");
  }
}

void check_picture(const core::PictureParams& picture, const StageParams& params) {
  const auto refuse = [&](const char* what, int value, const std::string& allowed) {
    throw Error(ErrorCode::invalid_argument,
                "picture " + std::to_string(picture.index) + " has the " + what + " " + std::to_string(value),
                allowed);
  };
  if (picture.qp > 51) refuse("QP", picture.qp, "0 to 51");
  if (picture.idr_pic_id > core::kIdrPicIdBehindGap) refuse("idr_pic_id", picture.idr_pic_id, "0 to 2");
  if (picture.raised_rows > params.mb_height)
    refuse("number of raised rows", picture.raised_rows, "0 to " + std::to_string(params.mb_height));
  if (picture.raised_rows > 0 && !params.aq)
    refuse("number of raised rows", picture.raised_rows, "open the backend with StageParams::aq");
  if (picture.stream >= static_cast<std::uint32_t>(params.streams)) {
    refuse("stream", static_cast<int>(picture.stream), "below " + std::to_string(params.streams));
  }
}

}  // namespace cu264::encoder
