#include "app/encode_totals.h"

#include <cstdio>

namespace cu264::app {
namespace {

// A picture without any error counts as this in the mean of the pictures' PSNR.
constexpr double kPerfectPsnr = 100;

std::string decibels(const std::optional<double>& value) {
  if (!value) return "infinite";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", *value);
  return text;
}

io::Json number_or_null(const std::optional<double>& value) {
  return value ? io::Json(*value) : io::Json();
}

// The value is null if there is no error at all.
io::Json psnr_json(const io::PictureError& error) {
  return {{"y", number_or_null(error.plane_psnr(0))},
          {"u", number_or_null(error.plane_psnr(1))},
          {"v", number_or_null(error.plane_psnr(2))},
          {"average", number_or_null(error.average_psnr())}};
}

}  // namespace

void EncodeTotals::add(const Packet& packet, const PictureMeasures& measures, double duration_seconds) {
  ++frames_;
  bytes_ += packet.data.size();
  qp_sum_ += packet.stats.mean_qp;
  coded_again_ += packet.stats.codings > 1;
  seconds_ += duration_seconds;
  intra4x4_mbs_ += packet.stats.intra4x4_mbs;
  intra8x8_mbs_ += packet.stats.intra8x8_mbs;
  intra16x16_mbs_ += packet.stats.intra16x16_mbs;
  pcm_mbs_ += packet.stats.pcm_mbs;
  header_bits_ += packet.stats.header_bits;
  residual_bits_ += packet.stats.residual_bits;
  if (measures.error) {
    has_error_ = true;
    error_ += *measures.error;
    psnr_sum_ += measures.error->average_psnr().value_or(kPerfectPsnr);
  }
  if (measures.ssim) has_ssim_ = true, ssim_sum_ += *measures.ssim;
}

std::string EncodeTotals::rate_text() const {
  if (frames_ == 0) return {};
  char text[100];
  std::snprintf(text, sizeof text, ", mean QP %.2f", qp_sum_ / static_cast<double>(frames_));
  std::string all = text;
  if (coded_again_ > 0) all += ", " + std::to_string(coded_again_) + " coded again";
  if (dropped_ > 0) all += ", " + std::to_string(dropped_) + " dropped";
  return all;
}

std::string EncodeTotals::quality_text() const {
  std::string text;
  if (frames_ == 0) return text;
  if (has_error_) {
    text += ", PSNR " + decibels(error_.average_psnr()) + " dB (Y " + decibels(error_.plane_psnr(0)) + " U " +
            decibels(error_.plane_psnr(1)) + " V " + decibels(error_.plane_psnr(2)) + ")";
  }
  if (has_ssim_) {
    char ssim[32];
    std::snprintf(ssim, sizeof ssim, ", SSIM %.5f", ssim_sum_ / static_cast<double>(frames_));
    text += ssim;
  }
  return text;
}

io::Json EncodeTotals::json(double elapsed_seconds) const {
  io::Json totals = {{"frames", frames_},
                     {"bytes", bytes_},
                     {"video_seconds", seconds_},
                     {"kbps", kbps()},
                     {"elapsed_seconds", elapsed_seconds},
                     {"fps", elapsed_seconds > 0 ? static_cast<double>(frames_) / elapsed_seconds : 0.0},
                     {"mean_qp", frames_ > 0 ? qp_sum_ / static_cast<double>(frames_) : 0.0},
                     {"coded_again", coded_again_},
                     {"dropped", dropped_},
                     {"intra4x4_mbs", intra4x4_mbs_},
                     {"intra8x8_mbs", intra8x8_mbs_},
                     {"intra16x16_mbs", intra16x16_mbs_},
                     {"pcm_mbs", pcm_mbs_},
                     {"header_bits", header_bits_},
                     {"residual_bits", residual_bits_}};
  if (has_error_ && frames_ > 0) {
    totals["psnr"] = psnr_json(error_);
    totals["psnr"]["mean_of_pictures"] = psnr_sum_ / static_cast<double>(frames_);
  }
  if (has_ssim_ && frames_ > 0) totals["ssim"] = ssim_sum_ / static_cast<double>(frames_);
  return totals;
}

io::Json picture_json(const Packet& packet, const PictureMeasures& measures) {
  io::Json one = {{"index", packet.index},
                  {"pts", packet.pts},
                  {"bytes", packet.data.size()},
                  {"qp", packet.stats.qp},
                  {"mean_qp", packet.stats.mean_qp},
                  {"codings", packet.stats.codings},
                  {"intra4x4_mbs", packet.stats.intra4x4_mbs},
                  {"intra8x8_mbs", packet.stats.intra8x8_mbs},
                  {"intra16x16_mbs", packet.stats.intra16x16_mbs},
                  {"pcm_mbs", packet.stats.pcm_mbs},
                  {"header_bits", packet.stats.header_bits},
                  {"residual_bits", packet.stats.residual_bits}};
  if (packet.stats.buffer_bits >= 0) one["buffer_bits"] = packet.stats.buffer_bits;
  if (measures.error) one["psnr"] = psnr_json(*measures.error);
  if (measures.ssim) one["ssim"] = *measures.ssim;
  return one;
}

}  // namespace cu264::app
