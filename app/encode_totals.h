// The totals of an encode, and how they are reported.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cu264/packet.h"
#include "io/quality.h"
#include "io/statistics.h"

namespace cu264::app {

// The measures of one picture beside its PictureStats.
struct PictureMeasures {
  std::optional<io::PictureError> error;
  std::optional<double> ssim;
};

class EncodeTotals {
 public:
  void add(const Packet& packet, const PictureMeasures& measures, double duration_seconds);

  void drop() { ++dropped_; }  // a picture that was left out

  std::int64_t frames() const { return frames_; }
  std::int64_t dropped() const { return dropped_; }
  std::uint64_t bytes() const { return bytes_; }
  double video_seconds() const { return seconds_; }
  double kbps() const { return seconds_ > 0 ? bytes_ * 8 / seconds_ / 1000 : 0; }

  // Returns what rate control did, such as ", mean QP 24.31, 3 coded again, 1 dropped".
  std::string rate_text() const;
  // Returns what was measured, such as ", PSNR 38.21 dB (Y 37.52 U 41.20 V 41.88), SSIM 0.97134".
  std::string quality_text() const;
  io::Json json(double elapsed_seconds) const;

 private:
  std::int64_t frames_ = 0, dropped_ = 0, coded_again_ = 0;
  double qp_sum_ = 0;
  std::uint64_t bytes_ = 0;
  double seconds_ = 0;
  std::uint64_t intra4x4_mbs_ = 0, intra8x8_mbs_ = 0, intra16x16_mbs_ = 0, pcm_mbs_ = 0;
  std::uint64_t header_bits_ = 0, residual_bits_ = 0;
  bool has_error_ = false, has_ssim_ = false;
  io::PictureError error_;
  double psnr_sum_ = 0;  // sum of the pictures' averages
  double ssim_sum_ = 0;
};

// Returns an element of the statistics' "pictures".
io::Json picture_json(const Packet& packet, const PictureMeasures& measures);

}  // namespace cu264::app
