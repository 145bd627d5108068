// Decides what an output carries beside its coded video: the input's other streams, its chapters and its
// tags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/av.h"
#include "io/av_versions.h"
#include "io/output_container.h"
#include "io/picture_side_data.h"

namespace cu264::io {

// The parts of an input that can be carried. This refers to the open input, which must outlive it.
struct CarrySource {
  const AVFormatContext* input = nullptr;  // null: nothing is carried
  const AVStream* video = nullptr;         // the stream that is coded
  std::vector<const AVStream*> others;     // the streams that are wanted beside it
  std::int64_t begin = 0;                  // the chapters' time that becomes 0, in AV_TIME_BASE units
  std::int64_t length = AV_NOPTS_VALUE;    // the span that is wanted, AV_NOPTS_VALUE: to the end
  std::optional<DisplayMatrix> matrix;     // how players are asked to turn the pictures
  PictureSideData side_data;               // of the coded video
  std::string time_code;                   // of the first picture that is coded; empty if there is none
  std::string file;                        // the input's name for messages
};

struct CarriedStream {
  const AVStream* stream = nullptr;
  AVCodecID convert_to = AV_CODEC_ID_NONE;  // for text subtitles; AV_CODEC_ID_NONE: copied
};

struct Carried {
  CarrySource source;
  std::vector<CarriedStream> streams;
  bool unofficial = false;    // the muxer has to be allowed what its container's standard does not say
  bool experimental = false;  // and what is not settled yet
};

// Decides what the container can take, and how. Appends to `notes` a line for everything that is lost or
// changed.
Carried carry(Container container, CarrySource source, std::vector<std::string>& notes);

}  // namespace cu264::io
