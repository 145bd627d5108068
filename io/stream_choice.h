// Chooses the streams of an input: the one whose pictures are coded, and those that are carried beside it.
#pragma once

#include <string>
#include <vector>

#include "io/av.h"

namespace cu264::io {

struct StreamChoice {
  bool audio = true;
  bool subtitles = true;
  // If not empty: only streams that one of these names, separated by commas. They are FFmpeg's stream
  // specifiers (v:1, a:0, s, m:language:eng), which a minus sign turns into "but not".
  std::string map;
  bool every_program = false;  // without a map: the streams of all programmes, not just those of the video's
};

struct ChosenStreams {
  AVStream* video = nullptr;
  const AVCodec* decoder = nullptr;
  std::vector<const AVStream*> others;  // in the input's order
  std::vector<std::string> notes;       // for the user, one line each
};

// Throws Error(bad_input) if there is no video that can be decoded, and Error(invalid_argument) if the map
// cannot be understood or names no video. `file` is the input's name for messages.
ChosenStreams choose_streams(AVFormatContext* input, const StreamChoice& choice, const std::string& file);

// True for a picture that belongs to the file as a whole.
inline bool is_cover(const AVStream& stream) {
  return (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
}

}  // namespace cu264::io
