#include "io/stream_choice.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace cu264::io {
namespace {

bool is_text_art(AVCodecID codec) {
  return codec == AV_CODEC_ID_ANSI || codec == AV_CODEC_ID_XBIN || codec == AV_CODEC_ID_BINTEXT ||
         codec == AV_CODEC_ID_IDF;
}

// Returns for each stream whether the map names it. A leading "0:" is taken too, as in ffmpeg's -map.
std::vector<bool> named_streams(AVFormatContext* input, const std::string& map, const std::string& file) {
  std::vector<bool> named(input->nb_streams, false);
  std::stringstream list(map);
  for (std::string item; std::getline(list, item, ',');) {
    const bool without = item.rfind('-', 0) == 0;
    std::string specifier = item.substr(without ? 1 : 0);
    if (specifier.rfind("0:", 0) == 0) specifier.erase(0, 2);
    bool any = false;
    for (unsigned i = 0; i < input->nb_streams; ++i) {
      const int match = avformat_match_stream_specifier(input, input->streams[i], specifier.c_str());
      if (match < 0 || specifier.empty()) {
        throw Error(ErrorCode::invalid_argument, "bad map \"" + item + "\"",
                    "stream specifiers of FFmpeg, separated by commas: v:0,a:1,s");
      }
      if (match == 0) continue;
      any = true;
      named[i] = !without;
    }
    if (!any) throw Error(ErrorCode::invalid_argument, file + ": has no stream \"" + item + "\"");
  }
  return named;
}

AVStream* first_video(AVFormatContext* input, const std::vector<bool>& named, const std::string& file) {
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    AVStream* const stream = input->streams[i];
    if (named[i] && stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !is_cover(*stream)) return stream;
  }
  throw Error(ErrorCode::invalid_argument, file + ": --map names no video", "add the one to encode, as v:0");
}

// Says whether two streams belong to the same programme, or to none.
bool same_program(AVFormatContext* input, int one, int other) {
  if (input->nb_programs < 2) return true;
  bool in_any = false;
  for (AVProgram* program = nullptr;
       (program = av_find_program_from_stream(input, program, other)) != nullptr;) {
    in_any = true;
    for (unsigned i = 0; i < program->nb_stream_indexes; ++i) {
      if (program->stream_index[i] == static_cast<unsigned>(one)) return true;
    }
  }
  return !in_any;
}

// The mov demuxer hands out the track that holds the chapters' names beside the chapters, and discards it
// itself.
bool is_chapter_track(const AVStream& stream) {
  return stream.codecpar->codec_type == AVMEDIA_TYPE_DATA &&
         stream.codecpar->codec_id == AV_CODEC_ID_BIN_DATA && stream.discard == AVDISCARD_ALL;
}

bool is_wanted_kind(const AVStream& stream, const StreamChoice& choice) {
  if (is_chapter_track(stream)) return false;
  const AVMediaType type = stream.codecpar->codec_type;
  return (type != AVMEDIA_TYPE_AUDIO || choice.audio) && (type != AVMEDIA_TYPE_SUBTITLE || choice.subtitles);
}

}  // namespace

ChosenStreams choose_streams(AVFormatContext* input, const StreamChoice& choice, const std::string& file) {
  ChosenStreams chosen;
  std::vector<bool> named(input->nb_streams, true);
  int wanted = -1;
  if (!choice.map.empty()) {
    named = named_streams(input, choice.map, file);
    wanted = first_video(input, named, file)->index;
  }
  const int index = av_find_best_stream(input, AVMEDIA_TYPE_VIDEO, wanted, -1, &chosen.decoder, 0);
  if (index == AVERROR_STREAM_NOT_FOUND) throw Error(ErrorCode::bad_input, file + ": holds no video");
  if (index < 0) throw av_error(ErrorCode::bad_input, file, "its video cannot be decoded", index);
  chosen.video = input->streams[index];
  if (is_text_art(chosen.video->codecpar->codec_id))
    throw Error(ErrorCode::bad_input, file + ": is text, not video");
  std::string elsewhere;
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    const AVStream* const stream = input->streams[i];
    if (static_cast<int>(i) == index || !named[i] || !is_wanted_kind(*stream, choice)) continue;
    if (choice.map.empty() && !choice.every_program && !same_program(input, index, static_cast<int>(i))) {
      elsewhere += (elsewhere.empty() ? "" : ", ") + std::to_string(i);
      continue;
    }
    chosen.others.push_back(stream);
  }
  if (!elsewhere.empty()) {
    chosen.notes.push_back(file + ": left out streams of other programmes (" + elsewhere +
                           "); --map takes them");
  }
  return chosen;
}

}  // namespace cu264::io
