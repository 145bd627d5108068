// Differences between FFmpeg's releases from 5.1 on.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
}

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <span>
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

// The data beside a stream's packets, such as a display matrix, lies in its codec parameters since
// FFmpeg 6.1, and in the stream itself before that.

// Returns the bytes of one kind of side data, or nothing.
inline std::span<const std::uint8_t> side_data_of(const AVStream& stream, AVPacketSideDataType type) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 101)  // FFmpeg 6.1
  const AVCodecParameters& codec = *stream.codecpar;
  const AVPacketSideData* const found =
      av_packet_side_data_get(codec.coded_side_data, codec.nb_coded_side_data, type);
  return found ? std::span<const std::uint8_t>(found->data, found->size) : std::span<const std::uint8_t>();
#else
  std::size_t size = 0;
  const std::uint8_t* const data = av_stream_get_side_data(&stream, type, &size);
  return data ? std::span<const std::uint8_t>(data, size) : std::span<const std::uint8_t>();
#endif
}

inline void set_side_data(AVStream& stream, AVPacketSideDataType type, std::span<const std::uint8_t> bytes) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 101)  // FFmpeg 6.1
  AVCodecParameters& codec = *stream.codecpar;
  AVPacketSideData* const entry =
      av_packet_side_data_new(&codec.coded_side_data, &codec.nb_coded_side_data, type, bytes.size(), 0);
  if (!entry) throw std::bad_alloc();
  std::copy(bytes.begin(), bytes.end(), entry->data);
#else
  std::uint8_t* const data = av_stream_new_side_data(&stream, type, bytes.size());
  if (!data) throw std::bad_alloc();
  std::copy(bytes.begin(), bytes.end(), data);
#endif
}

// Copies all side data of a stream whose packets are copied, where avcodec_parameters_copy has not.
inline void copy_side_data(AVStream& to, const AVStream& from) {
#if LIBAVCODEC_VERSION_INT < AV_VERSION_INT(60, 30, 101)  // FFmpeg 6.1
  for (int i = 0; i < from.nb_side_data; ++i) {
    const AVPacketSideData& one = from.side_data[i];
    set_side_data(to, one.type, {one.data, one.size});
  }
#else
  (void)to, (void)from;
#endif
}

// The nine numbers of a matrix that asks players to rotate or mirror the pictures.
using DisplayMatrix = std::array<std::int32_t, 9>;

inline void set_display_matrix(AVStream& stream, const DisplayMatrix& matrix) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(matrix.data());
  set_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, {bytes, sizeof matrix});
}

}  // namespace cu264::io
