#include "support/decode.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/cpu.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "io/av_versions.h"

namespace cu264::test {
namespace {

struct Free {
  void operator()(AVCodecContext* p) const { avcodec_free_context(&p); }
  void operator()(AVCodecParserContext* p) const { av_parser_close(p); }
  void operator()(AVPacket* p) const { av_packet_free(&p); }
  void operator()(AVFrame* p) const { av_frame_free(&p); }
  void operator()(AVFormatContext* p) const { avformat_close_input(&p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

std::mutex log_mutex;
std::vector<std::string>* log_lines = nullptr;

void log_line(void*, int level, const char* format, va_list arguments) {
  if (level > AV_LOG_INFO) return;
  char line[512];
  std::vsnprintf(line, sizeof line, format, arguments);
  const std::lock_guard lock(log_mutex);
  if (log_lines) log_lines->push_back(std::string(line));
}

// While an object of this class lives, libav's messages are appended to `lines`.
class LogCapture {
 public:
  explicit LogCapture(std::vector<std::string>& lines) {
    const std::lock_guard lock(log_mutex);
    log_lines = &lines;
    av_log_set_callback(log_line);
  }
  ~LogCapture() {
    const std::lock_guard lock(log_mutex);
    log_lines = nullptr;
  }
};

std::string error_text(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  return text;
}

bool is_420(int format) {
  return format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P;
}

Picture copy_of(const AVFrame& frame) {
  Picture picture(frame.width, frame.height);
  for (int p = 0; p < 3; ++p) {
    for (int y = 0; y < picture.plane_height(p); ++y) {
      const std::uint8_t* row = frame.data[p] + static_cast<std::ptrdiff_t>(y) * frame.linesize[p];
      std::copy_n(row, picture.plane_width(p),
                  picture.plane(p) + static_cast<std::size_t>(y) * picture.plane_width(p));
    }
  }
  return picture;
}

class Decoder {
 public:
  explicit Decoder(DecodedStream& out) : out_(out) {
    const AVCodec* codec = avcodec_find_decoder(AV_CODEC_ID_H264);
    if (!codec) throw std::runtime_error("libavcodec has no H.264 decoder");
    context_.reset(avcodec_alloc_context3(codec));
    context_->thread_count = 1;
    context_->flags |= AV_CODEC_FLAG_BITEXACT;
    context_->err_recognition =
        AV_EF_EXPLODE | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_CAREFUL | AV_EF_COMPLIANT;
    // Error concealment stays on: it reports what it conceals, and without it the slices are miscounted.
    parser_.reset(av_parser_init(AV_CODEC_ID_H264));
    packet_.reset(av_packet_alloc());
    frame_.reset(av_frame_alloc());
    check(avcodec_open2(context_.get(), codec, nullptr), "opening the decoder");
  }

  void decode(std::span<const std::uint8_t> bytes) {
    // libav may read a little beyond the end
    std::vector<std::uint8_t> padded(bytes.begin(), bytes.end());
    padded.resize(bytes.size() + AV_INPUT_BUFFER_PADDING_SIZE);
    const std::uint8_t* at = padded.data();
    std::size_t left = bytes.size();
    for (bool more = true; more;) {
      more = left > 0;  // one more call at the end flushes the parser
      const int step = static_cast<int>(std::min<std::size_t>(left, 1 << 20));
      std::uint8_t* data = nullptr;
      int size = 0;
      const int used = av_parser_parse2(parser_.get(), context_.get(), &data, &size, at, step, AV_NOPTS_VALUE,
                                        AV_NOPTS_VALUE, 0);
      at += used, left -= static_cast<std::size_t>(used);
      if (size > 0) send(data, size);
    }
    check(avcodec_send_packet(context_.get(), nullptr), "ending the stream");
    receive();
    out_.profile = context_->profile, out_.level = context_->level;
    out_.primaries = context_->color_primaries, out_.transfer = context_->color_trc;
    out_.matrix = context_->colorspace, out_.full_range = context_->color_range == AVCOL_RANGE_JPEG;
    out_.sar_num = context_->sample_aspect_ratio.num, out_.sar_den = context_->sample_aspect_ratio.den;
    out_.frame_rate_num = context_->framerate.num, out_.frame_rate_den = context_->framerate.den;
  }

 private:
  void check(int code, const std::string& what) {
    if (code < 0) out_.complaints.push_back(what + ": " + error_text(code));
  }

  void send(std::uint8_t* data, int size) {
    packet_->data = data, packet_->size = size;
    check(avcodec_send_packet(context_.get(), packet_.get()), "decoding");
    receive();
  }

  void receive() {
    int code = 0;
    while ((code = avcodec_receive_frame(context_.get(), frame_.get())) >= 0) {
      const AVFrame& frame = *frame_;
      if (!is_420(frame.format)) out_.complaints.push_back("not 8-bit 4:2:0");
      if (frame.flags & AV_FRAME_FLAG_CORRUPT) out_.complaints.push_back("a picture is marked corrupt");
      if (frame.decode_error_flags) out_.complaints.push_back("a picture has decode errors");
      if ((frame.pict_type == AV_PICTURE_TYPE_I) != io::is_key(frame))
        out_.complaints.push_back("a picture is intra or a key picture, but not both");
      if (io::is_interlaced(frame)) out_.complaints.push_back("a picture is interlaced");
      if (is_420(frame.format)) out_.pictures.push_back({copy_of(frame), io::is_key(frame)});
      av_frame_unref(frame_.get());
    }
    if (code != AVERROR(EAGAIN) && code != AVERROR_EOF) check(code, "decoding");
  }

  DecodedStream& out_;
  Owned<AVCodecContext> context_;
  Owned<AVCodecParserContext> parser_;
  Owned<AVPacket> packet_;
  Owned<AVFrame> frame_;
};

void require(bool condition, const std::string& path, const char* what) {
  if (!condition) throw std::runtime_error(path + ": " + what);
}

}  // namespace

DecodedStream decode_annexb(std::span<const std::uint8_t> bytes, bool vectors) {
  av_force_cpu_flags(vectors ? -1 : 0);
  DecodedStream out;
  std::vector<std::string> messages;
  {
    const LogCapture capture(messages);
    Decoder(out).decode(bytes);
  }
  out.complaints.insert(out.complaints.end(), messages.begin(), messages.end());
  return out;
}

std::vector<Picture> load_clip(const std::string& path, int max_pictures) {
  AVFormatContext* opened = nullptr;
  require(avformat_open_input(&opened, path.c_str(), nullptr, nullptr) >= 0, path, "cannot be opened");
  const Owned<AVFormatContext> input(opened);
  require(avformat_find_stream_info(opened, nullptr) >= 0, path, "has no streams");
  const AVCodec* codec = nullptr;
  const int stream = av_find_best_stream(opened, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
  require(stream >= 0, path, "has no video that can be decoded");
  const Owned<AVCodecContext> decoder(avcodec_alloc_context3(codec));
  require(avcodec_parameters_to_context(decoder.get(), opened->streams[stream]->codecpar) >= 0 &&
              avcodec_open2(decoder.get(), codec, nullptr) >= 0,
          path, "cannot be decoded");
  const Owned<AVPacket> packet(av_packet_alloc());
  const Owned<AVFrame> frame(av_frame_alloc());
  std::vector<Picture> pictures;
  bool more = true;
  while (more && static_cast<int>(pictures.size()) < max_pictures) {
    more = av_read_frame(opened, packet.get()) >= 0;
    if (more && packet->stream_index == stream) avcodec_send_packet(decoder.get(), packet.get());
    if (!more) avcodec_send_packet(decoder.get(), nullptr);
    av_packet_unref(packet.get());
    while (static_cast<int>(pictures.size()) < max_pictures &&
           avcodec_receive_frame(decoder.get(), frame.get()) >= 0) {
      require(is_420(frame->format), path, "is not 8-bit 4:2:0");
      pictures.push_back(copy_of(*frame));
    }
  }
  require(!pictures.empty(), path, "has no pictures");
  return pictures;
}

}  // namespace cu264::test
