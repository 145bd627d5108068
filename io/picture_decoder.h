// libavcodec's decoder of one video stream.
#pragma once

#include <cstdint>
#include <string>

#include "io/av.h"

namespace cu264::io {

class PictureDecoder {
 public:
  // `reproducible` is for damaged input, whose concealment depends on the timing of threads and on what the
  // memory of a picture held before: then there is one thread, and pictures begin gray.
  PictureDecoder(const AVStream& stream, const AVCodec* codec, bool reproducible, const std::string& file);

  // Work like avcodec_send_packet and avcodec_receive_frame, whose results they return.
  int send(const AVPacket* packet);
  int receive(AVFrame* frame);

  // Returns what the decoder has complained about since the last call; empty if nothing. Complaints about
  // pictures that nobody can decode do not count: those before the first whole picture of a stream that
  // begins amid others.
  std::string complaint();

 private:
  void enter(const AVPacket& packet);

  const AVStream& stream_;
  AvCodec context_;
  bool entered_ = false;                 // whether a packet has been sent
  std::int64_t entry_ = AV_NOPTS_VALUE;  // while complaints do not count: the time of that packet
  std::int64_t complaints_ = 0;
};

}  // namespace cu264::io
