#include "app/encode_outputs.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "app/rate_report.h"
#include "cu264/sei.h"
#include "cu264/version.h"
#include "io/captions.h"
#include "io/picture_hash.h"
#include "io/verify.h"

namespace cu264::app {
namespace {

io::MuxerOptions muxer_options(const EncodeOptions& options, const EncoderInfo& encoder,
                               const std::vector<std::uint8_t>& headers, const io::VideoInfo& video,
                               const io::Carried& carried) {
  io::MuxerOptions muxer;
  muxer.container = options.container;
  muxer.fragmented = options.fragmented;
  muxer.faststart = options.faststart;
  muxer.video = video;
  muxer.video.width = encoder.width, muxer.video.height = encoder.height;
  muxer.headers = headers;
  muxer.carried = carried;
  return muxer;
}

std::string ratio_text(int num, int den) {
  return std::to_string(num) + "/" + std::to_string(den);
}

}  // namespace

EncodeOutputs::EncodeOutputs(const EncodeOptions& options, const Config& config, const EncoderInfo& encoder,
                             const std::vector<std::uint8_t>& headers, const io::VideoInfo& video,
                             const io::Carried& carried)
    : options_(options),
      encoder_(encoder),
      video_(video),
      controls_rate_(encoder.controls_rate),
      file_(options.output),
      muxer_(file_, muxer_options(options, encoder, headers, video, carried)),
      progress_(options.progress) {
  if (options.verify && !file_.regular()) {
    throw Error(ErrorCode::invalid_argument, options.output + ": --verify cannot read it again",
                "write to a file");
  }
  if (options.encryption && options.encryption->authenticate) {
    encryptor_ = make_encryptor(*options.key, *options.encryption);
    if (!headers.empty()) encryptor_->parameter_sets(headers);
  }
  if (!options.recon.empty()) recon_.emplace(options.recon);
  if (options.edges) edges_ = open_edge_sink(*options.edges, video);
  if (!options.stats.empty()) {
    statistics_.emplace(options.stats);
    begin_statistics(config);
  }
}

void EncodeOutputs::begin_statistics(const Config& config) {
  io::Json settings = {{"qp", config.qp},
                       {"preset", config.text("preset")},
                       {"profile", encoder_.profile},
                       {"cabac", encoder_.cabac},
                       {"profile_reason", encoder_.profile_reason},
                       {"slices", config.slices},
                       {"deblock", config.deblock},
                       {"threads", config.threads}};
  add_options(config, settings);
  io::Json video = {{"width", video_.width},
                    {"height", video_.height},
                    {"coded_width", encoder_.width},
                    {"coded_height", encoder_.height},
                    {"frame_rate", ratio_text(video_.frame_rate.num, video_.frame_rate.den)},
                    {"time_base", ratio_text(video_.time_base.num, video_.time_base.den)},
                    {"full_range", video_.full_range}};
  statistics_->begin({{"cu264", version()},
                      {"input", options_.reader.input.path},
                      {"output", options_.output},
                      {"settings", settings},
                      {"video", video},
                      {"level_idc", encoder_.level_idc},
                      {"backend", encoder_.backend},
                      {"backend_reason", encoder_.backend_reason}});
}

void EncodeOutputs::picture(Packet& packet, const io::VideoPicture& source) {
  for (const io::SeiMessage& message : video_.messages)
    insert_sei(packet.data.vector(), message.type, message.payload);
  io::insert_captions(packet.data.vector(), source.captions);
  if (encryptor_) {
    packet.data = encryptor_->access_units(packet.data);
    write_sealed();
    sealed_ = {packet.data.vector(), packet.pts, source.duration};
  } else {
    muxer_.write(packet.data, packet.pts, source.duration, packet.key);
  }
  const std::vector<std::uint8_t>& reconstruction = packet.reconstruction;
  if (recon_) recon_->write(reconstruction.data(), reconstruction.size());
  if (edges_) {
    io::VideoPicture map;
    map.frame = gray_map(packet.edges.data(), video_.width, video_.height);
    map.pts = packet.pts, map.duration = source.duration;
    edges_->picture(map);
  }
  if (options_.verify) {
    hashes_.push_back(io::hash_planar(reconstruction.data(), encoder_.width, encoder_.height));
  }
  PictureMeasures measures;
  if (options_.psnr) {
    measures.error = io::picture_error(source.view(), reconstruction, encoder_.width, encoder_.height);
  }
  if (options_.ssim) measures.ssim = io::luma_ssim(source.view(), reconstruction, encoder_.width);
  if (statistics_) statistics_->picture(picture_json(packet, measures));
  totals_.add(packet, measures, static_cast<double>(source.duration) * av_q2d(video_.time_base));
  progress_.update(
      {totals_.frames(), video_.expected_frames, totals_.bytes(), totals_.video_seconds(), elapsed()});
}

std::int64_t EncodeOutputs::added_bytes(const io::VideoPicture& source) const {
  std::size_t bytes = io::captions_bytes(source.captions);
  for (const io::SeiMessage& message : video_.messages) bytes += sei_bytes(message.type, message.payload);
  return static_cast<std::int64_t>(bytes);
}

void EncodeOutputs::write_sealed() {
  if (!sealed_.data.empty()) muxer_.write(sealed_.data, sealed_.pts, sealed_.duration);
}

std::int64_t EncodeOutputs::bytes_beside() const {
  return std::max<std::int64_t>(
      static_cast<std::int64_t>(file_.bytes()) - static_cast<std::int64_t>(totals_.bytes()), 0);
}

std::int64_t EncodeOutputs::close() {
  encode_seconds_ = elapsed();
  progress_.clear();
  if (encryptor_) {
    const std::vector<std::uint8_t> last = encryptor_->last_units();
    sealed_.data.insert(sealed_.data.end(), last.begin(), last.end());
    write_sealed();
    encryptor_->finish();
  }
  muxer_.finish();
  file_.close();
  // Bytes that were written again, as indices are, count once.
  return static_cast<std::int64_t>(file_.regular() ? std::filesystem::file_size(file_.readable_path())
                                                   : file_.bytes());
}

void EncodeOutputs::finish(const std::vector<std::string>& notes) {
  if (options_.verify) {
    io::verify_file(file_.readable_path(), file_.name(), options_.container, encoder_.width, encoder_.height,
                    hashes_);
  }
  if (recon_) recon_->close();
  if (statistics_) statistics_->finish({{"totals", totals_.json(encode_seconds_)}, {"notes", notes}});
  if (recon_) recon_->commit();
  if (edges_) edges_->finish();
  file_.commit();
}

std::string EncodeOutputs::summary() const {
  char text[160];
  std::snprintf(text, sizeof text, "%lld %s of %dx%d in %.2f s: %.2f fps, %.1f kb/s",
                static_cast<long long>(totals_.frames()), totals_.frames() == 1 ? "frame" : "frames",
                encoder_.width, encoder_.height, encode_seconds_,
                encode_seconds_ > 0 ? static_cast<double>(totals_.frames()) / encode_seconds_ : 0.0,
                totals_.kbps());
  return text + (controls_rate_ || totals_.dropped() > 0 ? totals_.rate_text() : "") +
         totals_.quality_text() + ", backend " + encoder_.backend + " (" + encoder_.backend_reason + ")" +
         (options_.verify ? ", verified" : "") + (options_.encryption ? ", encrypted" : "");
}

double EncodeOutputs::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

}  // namespace cu264::app
