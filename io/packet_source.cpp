#include "io/packet_source.h"

extern "C" {
#include <libavutil/avstring.h>
#include <libavutil/imgutils.h>
}

#include <string>

#include "io/inside_av.h"

namespace cu264::io {

void PacketSource::look_ahead(const std::function<bool(const AVPacket&)>& more) {
  do {
    ahead_.push_back(make_packet());
    ahead_result_ = [&] {
      const InsideAv inside;
      return av_read_frame(input_.get(), ahead_.back().get());
    }();
    if (ahead_result_ < 0) return ahead_.pop_back();
  } while (more(*ahead_.back()));
}

int PacketSource::read(AVPacket& packet) {
  if (ahead_.empty()) return ahead_result_ < 0 ? ahead_result_ : av_read_frame(input_.get(), &packet);
  av_packet_move_ref(&packet, ahead_.front().get());
  ahead_.pop_front();
  return 0;
}

bool PacketSource::next(AVPacket& packet, std::int64_t picture) {
  const int result = [&] {
    const InsideAv inside;
    return read(packet);
  }();
  if (result < 0 && input_.is_sequence() && pictures_ >= most_) return false;
  const AvComplaints complaints = av_complaints();
  if (complaints.of_demuxers != complaints_ && !input_.stopped()) {
    complaints_ = complaints.of_demuxers;
    damage_.report("cannot read all of it: " + complaints.last, picture);
  }
  if (result < 0) {
    if (!ended_ && !input_.stopped()) check_end(result, picture);
    ended_ = true;
    return false;
  }
  const std::int64_t jumps = jumps_closed();
  timeline_.apply(packet, *input_->streams[packet.stream_index]);
  if (packet.stream_index == video_.index) settle_doubt();
  if (packet.stream_index == video_.index) check_picture(packet, jumps, picture);
  return true;
}

int PacketSource::picture_bytes() const {
  const AVCodecParameters& format = *video_.codecpar;
  return av_image_get_buffer_size(static_cast<AVPixelFormat>(format.format), format.width, format.height, 1);
}

// An uncompressed picture that is cut off arrives as a short packet; a compressed one is marked by its
// demuxer.
void PacketSource::check_picture(AVPacket& packet, std::int64_t jumps_before, std::int64_t picture) {
  ++pictures_;
  if (!input_.uncompressed()) {
    if ((packet.flags & AV_PKT_FLAG_CORRUPT) == 0) return;
    if ((input_->iformat->flags & AVFMT_TS_DISCONT) == 0)
      return damage_.report("the input is cut off or damaged", picture);
    doubt_ = true;
    jumps_before_doubt_ = jumps_before;
    return;
  }
  const int whole = picture_bytes();
  if (whole > 0 && packet.size < whole) {
    damage_.report("the last frame is cut off: " + std::to_string(packet.size) + " of " +
                       std::to_string(whole) + " bytes",
                   picture);
    packet.size = 0;  // the picture is not used
  }
  end_ = packet.pos + packet.size;
}

// The counters of a transport stream's packets begin anew where recordings were joined, so a wrong count
// alone does not mean that something is missing; if something is, decoders nearly always complain.
void PacketSource::settle_doubt() {
  if (doubt_ && jumps_closed() == jumps_before_doubt_) ++doubtful_;
  doubt_ = false;
}

void PacketSource::check_end(int result, std::int64_t picture) {
  if (doubt_) damage_.report("the last picture is cut off", picture);
  const auto report_error = [&](int error) {
    damage_.report(av_error(ErrorCode::bad_input, "input", "cannot read", error).what(), picture);
  };
  if (result != AVERROR_EOF && result != AVERROR_EXIT) return report_error(result);
  if (input_->pb && input_->pb->error < 0 && input_->pb->error != AVERROR_EOF)
    return report_error(input_->pb->error);
  // The demuxer of YUV4MPEG2 reports no error where a picture is cut off, but there are bytes after the last
  // whole one.
  const bool raw = av_match_name("rawvideo", input_->iformat->name) != 0;
  if (input_.uncompressed() && !raw && input_->pb && end_ > 0 && avio_tell(input_->pb) > end_) {
    return damage_.report("the last frame is cut off", picture);
  }
  std::string missing = input_.missing_picture(pictures_);
  if (!missing.empty() && damage_.allowed()) missing += "; what comes after it is left out";
  if (missing.empty() && !input_.uncompressed()) missing = input_.missing_end();
  if (!missing.empty()) return damage_.report(missing, picture);
  const std::int64_t promised = promised_pictures();
  if (whole_ && pictures_ < promised) {
    damage_.report("has " + std::to_string(pictures_) + " of the " + std::to_string(promised) +
                       " pictures that it promises",
                   picture);
  }
}

bool PacketSource::indexed() const {
  return whole_ && av_match_name("mp4", input_->iformat->name) != 0;
}

// The index of an mp4 promises a number of pictures, and libavformat counts those of a GIF when it opens it.
std::int64_t PacketSource::promised_pictures() const {
  if (indexed()) return avformat_index_get_entries_count(&video_);
  return av_match_name("gif", input_->iformat->name) != 0 ? video_.nb_frames : 0;
}

}  // namespace cu264::io
