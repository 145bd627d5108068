#include "core/block.h"
#include "encoder/config.h"
#include "encoder/headers.h"
#include "encoder/stages.h"

namespace cu264::encoder {

namespace {

std::optional<AqParams> aq_params(const Config& config) {
  if (config.edge_guided != 0) return AqParams{AqMode::edges, (config.edge_guided + 1) * kStrengthOne / 2};
  if (config.aq == AdaptiveQuantisation::variance) return AqParams{AqMode::variance, kStrengthOne};
  return std::nullopt;
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
  params.qp = config.qp;
  params.preset = config.preset;
  params.aq = aq_params(config);
  params.slices = config.slices;
  params.deblock = config.deblock;
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
  for (int slice = 0; slice < config.slices; ++slice) {
    const int first_mb = core::slice_first_row(slice, config.slices, params.mb_height) * params.mb_width;
    for (int idr_pic_id = 0; idr_pic_id < 2; ++idr_pic_id) {
      params.slice_headers.push_back(slice_header(first_mb, idr_pic_id, config.qp, config.deblock));
    }
  }
  return params;
}

}  // namespace cu264::encoder
