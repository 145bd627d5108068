// Differences between FFmpeg's releases from 5.1 on.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
}

#include <cstdint>
#include <type_traits>

namespace cu264::io {

// The bytes that an AVIOContext passes to its write callback are const from FFmpeg 7 on.
using AvWrittenByte = std::conditional_t<LIBAVFORMAT_VERSION_MAJOR >= 61, const std::uint8_t, std::uint8_t>;

inline bool is_key(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)  // FFmpeg 6.1
  return (frame.flags & AV_FRAME_FLAG_KEY) != 0;
#else
  return frame.key_frame != 0;
#endif
}

inline bool is_interlaced(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)  // FFmpeg 6.1
  return (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
  return frame.interlaced_frame != 0;
#endif
}

// The duration is in the time base of the stream's packets, and 0 if it is not known.
inline std::int64_t duration_of(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)  // FFmpeg 6.0
  return frame.duration;
#else
  return frame.pkt_duration;
#endif
}

// Says whether a matrix asks players to rotate or mirror the pictures.
inline bool has_display_matrix(const AVStream& stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 101)  // FFmpeg 6.1
  const AVCodecParameters& codec = *stream.codecpar;
  return av_packet_side_data_get(codec.coded_side_data, codec.nb_coded_side_data,
                                 AV_PKT_DATA_DISPLAYMATRIX) != nullptr;
#else
  return av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, nullptr) != nullptr;
#endif
}

}  // namespace cu264::io
