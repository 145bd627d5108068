#include "io/picture_decoder.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "io/inside_av.h"

namespace cu264::io {
namespace {

// Fills what a damaged picture may leave unwritten.
int get_gray_buffer(AVCodecContext* context, AVFrame* frame, int flags) {
  constexpr int kGray = 128;
  const int result = avcodec_default_get_buffer2(context, frame, flags);
  if (result < 0) return result;
  for (const AVBufferRef* buffer : frame->buf) {
    if (buffer) std::memset(buffer->data, kGray, buffer->size);
  }
  return result;
}

constexpr int kSliceOfIdr = 5;  // H.264 table 7-1

bool holds_idr_after_start_codes(std::span<const std::uint8_t> data) {
  static constexpr std::uint8_t kStartCode[3] = {0, 0, 1};
  auto at = data.begin();
  while ((at = std::search(at, data.end(), kStartCode, kStartCode + 3)) != data.end()) {
    at += 3;
    if (at != data.end() && (*at & 31) == kSliceOfIdr) return true;
  }
  return false;
}

bool holds_idr_after_lengths(std::span<const std::uint8_t> data, std::size_t length_size) {
  while (data.size() > length_size) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < length_size; ++i) size = size << 8 | data[i];
    data = data.subspan(length_size);
    if ((data[0] & 31) == kSliceOfIdr) return true;
    if (size > data.size()) return false;
    data = data.subspan(size);
  }
  return false;
}

// Decoding of an H.264 stream may begin at a picture that is not an IDR picture. Pictures that follow it in
// the stream and precede it in time then refer to pictures that are missing.
bool is_clean_entry(const AVStream& stream, const AVPacket& packet) {
  const AVCodecParameters& codec = *stream.codecpar;
  if (codec.codec_id != AV_CODEC_ID_H264) return true;
  const std::span<const std::uint8_t> data(packet.data, static_cast<std::size_t>(packet.size));
  const bool has_lengths = codec.extradata_size > 4 && codec.extradata[0] == 1;
  return has_lengths ? holds_idr_after_lengths(data, (codec.extradata[4] & 3u) + 1)
                     : holds_idr_after_start_codes(data);
}

}  // namespace

PictureDecoder::PictureDecoder(const AVStream& stream, const AVCodec* codec, bool reproducible,
                               const std::string& file)
    : stream_(stream), context_(avcodec_alloc_context3(codec)), complaints_(av_complaints().of_decoders) {
  int result = context_ ? avcodec_parameters_to_context(context_.get(), stream.codecpar) : AVERROR(ENOMEM);
  if (result >= 0) {
    context_->pkt_timebase = stream.time_base;
    context_->thread_count = reproducible ? 1 : 0;
    if (reproducible) context_->get_buffer2 = get_gray_buffer;
    result = avcodec_open2(context_.get(), codec, nullptr);
  }
  if (result < 0) throw av_error(ErrorCode::bad_input, file, "cannot open its decoder", result);
}

int PictureDecoder::send(const AVPacket* packet) {
  if (packet && !entered_) enter(*packet);
  const InsideAv inside;
  return avcodec_send_packet(context_.get(), packet);
}

void PictureDecoder::enter(const AVPacket& packet) {
  entered_ = true;
  if (!is_clean_entry(stream_, packet)) entry_ = packet.pts;
}

int PictureDecoder::receive(AVFrame* frame) {
  const InsideAv inside;
  const int result = avcodec_receive_frame(context_.get(), frame);
  if (result >= 0 && entry_ != AV_NOPTS_VALUE && frame->best_effort_timestamp >= entry_) {
    complaint();  // forgets those so far
    entry_ = AV_NOPTS_VALUE;
  }
  return result;
}

std::string PictureDecoder::complaint() {
  const AvComplaints now = av_complaints();
  const bool counts = now.of_decoders != complaints_ && entry_ == AV_NOPTS_VALUE;
  complaints_ = now.of_decoders;
  return counts ? now.last : std::string();
}

}  // namespace cu264::io
