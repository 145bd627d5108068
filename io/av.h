// Owners of libav objects, and libav's error codes as cu264::Error.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
#include <libswscale/swscale.h>
}

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "cu264/status.h"

namespace cu264::io {

struct AvDeleter {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(AVCodecContext* codec) const { avcodec_free_context(&codec); }
  void operator()(SwsContext* scaler) const { sws_freeContext(scaler); }
  void operator()(AVIOContext* io) const {
    av_freep(&io->buffer);
    avio_context_free(&io);
  }
};

using AvFrame = std::unique_ptr<AVFrame, AvDeleter>;
using AvPacket = std::unique_ptr<AVPacket, AvDeleter>;
using AvCodec = std::unique_ptr<AVCodecContext, AvDeleter>;
using AvScaler = std::unique_ptr<SwsContext, AvDeleter>;
using AvIo = std::unique_ptr<AVIOContext, AvDeleter>;

AvFrame make_frame();
AvPacket make_packet();

// Options that are passed to libav by name. Those that are left after the call were not understood.
class AvOptions {
 public:
  AvOptions() = default;
  ~AvOptions() { av_dict_free(&dictionary_); }
  AvOptions(const AvOptions&) = delete;
  AvOptions& operator=(const AvOptions&) = delete;

  void set(const char* name, const std::string& value);
  bool has(const char* name) const { return av_dict_get(dictionary_, name, nullptr, 0) != nullptr; }
  AVDictionary** address() { return &dictionary_; }

 private:
  AVDictionary* dictionary_ = nullptr;
};

// No single allocation of libav is larger. A file of a few hundred bytes can ask its demuxers for gigabytes;
// the largest pictures that the encoder takes need half as much with 16 bits a component.
inline constexpr std::size_t kMaxAvAllocation = std::size_t{1} << 30;

// Limits libav's allocations in this process, and keeps it from writing to stderr: its last message becomes
// part of the next av_error instead.
void set_up_av();
void forget_av_log();

// The number of errors that libav's demuxers and decoders have logged so far, in the whole process, and the
// last of them. Both conceal damage and continue, so this may be the only sign of it.
struct AvComplaints {
  std::int64_t of_demuxers = 0;
  std::int64_t of_decoders = 0;
  std::string last;
};
AvComplaints av_complaints();

// The text is "file: doing: libav's text: libav's last message".
Error av_error(ErrorCode code, const std::string& file, const std::string& doing, int av_code,
               const std::string& remedy = {});

}  // namespace cu264::io
