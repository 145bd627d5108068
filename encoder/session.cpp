#include "encoder/session.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "encoder/config.h"
#include "encoder/frame_check.h"
#include "encoder/headers.h"
#include "encoder/level.h"
#include "encoder/options/option_changes.h"

namespace cu264::encoder {
namespace {

std::string widened(const char* side, int samples) {
  return std::string(side) + " " + std::to_string(samples) + " is coded as " +
         std::to_string(coded_side(samples)) + ", one replicated sample";
}

EncoderInfo info_of(const Config& config) {
  const StreamLevel level = stream_level(config);
  EncoderInfo info;
  info.profile = name_of(coded_profile(config));
  info.cabac = uses_cabac(config);
  info.profile_reason = profile_reason(config);
  info.width = coded_side(config.width);
  info.height = coded_side(config.height);
  info.controls_rate = controls_rate(config);
  info.limits_pictures = codes_again(config);
  info.level_idc = level.level_idc;
  info.level_bit_rate = level.bit_rate;
  if (config.scaling_lists.luma4x4[0] > kMaxCommonDcWeight) {
    info.warnings.push_back("FFmpeg on x86 decodes a luma DC weight of " +
                            std::to_string(config.scaling_lists.luma4x4[0]) + " with small errors; up to " +
                            std::to_string(kMaxCommonDcWeight) + " it is exact");
  }
  if (info.width != config.width) info.warnings.push_back(widened("width", config.width));
  if (info.height != config.height) info.warnings.push_back(widened("height", config.height));
  if (!level.holds) {
    info.warnings.push_back("no level of H.264 holds " + std::to_string(config.width) + "x" +
                            std::to_string(config.height) +
                            " at this frame rate: level 6.2 is written, and decoders may refuse the stream");
  }
  return info;
}

bool same_buffer(const std::optional<HrdParams>& a, const std::optional<HrdParams>& b) {
  return a.has_value() == b.has_value() && (!a || (a->bit_rate == b->bit_rate && a->cpb_bits == b->cpb_bits));
}

// Puts bytes in front of others, of which the first `free` are to be replaced. To have as many free as are
// needed spares moving a packet.
void place_in_front(std::vector<std::uint8_t>& data, std::size_t free,
                    const std::vector<std::uint8_t>& before) {
  const auto difference = static_cast<std::ptrdiff_t>(before.size()) - static_cast<std::ptrdiff_t>(free);
  if (difference > 0) data.insert(data.begin(), static_cast<std::size_t>(difference), 0);
  if (difference < 0) data.erase(data.begin(), data.begin() - difference);
  std::copy(before.begin(), before.end(), data.begin());
}

}  // namespace

Session::Session(const Config& config, std::shared_ptr<PacketMemory> packet_memory)
    : config_(config), packet_memory_(std::move(packet_memory)) {
  validate(config_);
  begin_clip();
}

void Session::begin_clip() {
  write_headers();
  params_ = stream_params(config_);
  params_.packet_memory = packet_memory_;
  mark_check_.reset();
  if (params_.protection.marks) {
    mark_message_ = params_.protection.marks->message();
    mark_check_.emplace(config_.watermark->key, *parts_.parameter_sets, *params_.protection.marks);
  }
  if (params_.protection.cipher) cipher_message_ = params_.protection.cipher->message();
  format_ = config_.input_format;
  sent_ = received_ = dropped_ = 0;
  new_parameter_sets_ = flushed_ = lost_ = false;
  pending_headers_ = {};
}

void Session::write_headers() {
  info_ = info_of(config_);
  rate_ = rate_settings(config_);
  using Bytes = const std::vector<std::uint8_t>;
  headers_ = std::make_shared<Bytes>(stream_headers(config_, info_.level_idc, true));
  parts_.parameter_sets = std::make_shared<Bytes>(stream_headers(config_, info_.level_idc, false));
  const auto message = headers_->begin() + static_cast<std::ptrdiff_t>(parts_.parameter_sets->size());
  parts_.message = std::make_shared<Bytes>(message, headers_->end());
}

void Session::reconfigure(const ConfigChanges& changes) {
  const Config next = with_changes(config_, changes);
  validate(next);
  stream_level(next);  // throws if Config::level_idc does not hold the new size or frame rate
  const std::string waiting = changes_of_next_clip(changes);
  if (!waiting.empty() && !between_clips()) {
    throw Error(ErrorCode::invalid_argument,
                waiting + " cannot change within a clip, whose headers were written",
                "call flush and receive the last packet first");
  }
  if (between_clips()) {
    config_ = next;
    begin_clip();
    return;
  }
  if (!same_goals(next, config_)) {
    throw Error(ErrorCode::invalid_argument,
                "a crf, a bitrate, a buffer or a limit cannot come or go within a clip",
                "call flush and receive the last packet first");
  }
  const bool new_buffer = !same_buffer(hrd_params(next), hrd_params(config_));
  if (new_buffer && config_.headers == HeaderPlacement::separate) {
    throw Error(ErrorCode::invalid_argument, "the buffer's new rate or size would be in no header",
                "have headers in packets, or change them between two clips");
  }
  config_ = next;
  if (new_buffer) {
    write_headers();
    new_parameter_sets_ = true;
  } else {
    rate_ = rate_settings(config_);
  }
}

void Session::check(const Frame& frame, bool reads_device_memory) const {
  const bool draws_keystream = config_.encryption || config_.watermark;
  if (draws_keystream && sent_ > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorCode::invalid_argument, "more than 4294967296 pictures were sent",
                "their keystream would repeat: begin another clip with flush");
  }
  check_frame(frame, config_, format_, reads_device_memory, sent_);
}

Job Session::next_job(const Frame& frame) const {
  Job job;
  job.picture = picture_params(config_, sent_);
  // Parameter sets take effect at an IDR picture alone (H.264 7.4.1.2.1).
  job.picture.key = config_.gop == 1 || sent_ == 0 || frame.key || new_parameter_sets_;
  if (frame.qp) job.picture.qp = static_cast<std::uint8_t>(*frame.qp);
  job.label = {frame.pts, frame.user_data, next_headers(job.picture.key)};
  job.control = {rate_, frame.qp, next_overhead(job.label.headers, frame), frame.duration, job.picture.key};
  job.gop = config_.gop;
  if (config_.gop != 1) job.key_headers = next_headers(true);
  return job;
}

Overhead Session::next_overhead(const PictureHeaders& headers, const Frame& frame) const {
  const auto size_of = [](const PictureHeaders::Bytes& bytes) {
    return bytes ? static_cast<std::int64_t>(bytes->size()) : 0;
  };
  Overhead overhead{size_of(headers.parameter_sets), size_of(headers.message), frame.added_bytes};
  if (sent_ == 0)
    overhead.messages += static_cast<std::int64_t>(cipher_message_.size() + mark_message_.size());
  return overhead;
}

void Session::sent(const Frame& frame) {
  format_ = frame.format;
  new_parameter_sets_ = false;
  ++pending_, ++sent_;
}

PictureHeaders Session::next_headers(bool key) const {
  if (config_.headers == HeaderPlacement::separate) return {};
  if (sent_ == 0) return parts_;
  const bool wanted = (key && config_.headers == HeaderPlacement::every_packet) || new_parameter_sets_;
  return wanted ? PictureHeaders{parts_.parameter_sets, nullptr} : PictureHeaders{};
}

std::optional<Packet> Session::packet_of(CodedAccessUnit&& unit) {
  const std::uint64_t index = received_++;
  --pending_;
  // The picture is lost, and its headers stay pending, unless what follows makes a packet of it.
  const bool was_lost = std::exchange(lost_, true);
  pending_headers_ = unit.label.headers.with(pending_headers_);
  if (unit.error) std::rethrow_exception(unit.error);
  if (unit.dropped) {
    ++dropped_;
    return std::nullopt;
  }
  if (was_lost && (params_.protection.cipher || params_.protection.marks)) {
    throw Error(ErrorCode::encode_failure,
                "a picture before picture " + std::to_string(index) +
                    " has no packet, so readers would take the keystream or the marks of another picture",
                "end the clip with flush, and begin it again");
  }
  Packet packet;
  packet.data = std::move(unit.slices);
  std::vector<std::uint8_t>& data = packet.data.vector();
  if (params_.protection.cipher || params_.protection.marks)
    place_in_front(data, std::exchange(unit.front, 0), {});
  packet.device_data = unit.device_slices;
  packet.index = index;
  packet.key = unit.picture.key;
  packet.pts = unit.label.pts;
  packet.user_data = unit.label.user_data;
  packet.stats = unit.stats;
  packet.reconstruction = std::move(unit.reconstruction);
  packet.edges = std::move(unit.edges);
  // The check works on encrypted packets too, because encryption does not move what carries marks.
  if (mark_check_) {
    if (index == 0) data.insert(data.begin(), mark_message_.begin(), mark_message_.end());
    mark_check_->picture(data);
  }
  if (index == 0 && !cipher_message_.empty()) {
    const auto after_marks = data.begin() + static_cast<std::ptrdiff_t>(mark_message_.size());
    data.insert(after_marks, cipher_message_.begin(), cipher_message_.end());
  }
  // The buffering period is the first of all SEI messages (H.264 7.4.1.2.3).
  std::vector<std::uint8_t> before = std::move(unit.hrd_messages);
  const PictureHeaders headers = std::exchange(pending_headers_, {});
  if (const PictureHeaders::Bytes& sets = headers.parameter_sets)
    before.insert(before.begin(), sets->begin(), sets->end());
  if (const PictureHeaders::Bytes& message = headers.message)
    before.insert(before.end(), message->begin(), message->end());
  place_in_front(data, unit.front, before);
  lost_ = was_lost;
  return packet;
}

void Session::check_marks() const {
  if (mark_check_ && !lost_ && flushed_ && pending_ == 0 && received_ > 0) mark_check_->finish();
}

void Session::lose(std::size_t pictures) {
  if (pictures == 0) return;
  lost_ = true;
  pending_ -= pictures;
  received_ += pictures;
}

}  // namespace cu264::encoder
