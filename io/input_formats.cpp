#include "io/input_formats.h"

extern "C" {
#include <libavutil/avstring.h>
}

namespace cu264::io {
namespace {

// The AVInputFormat::name of every demuxer that opens files, addresses or devices which its content names.
constexpr char kNamesOtherFiles[] =
    "hls,applehttp,dash,webm_dash_manifest,imf,concat,image2,sdp,rtsp,rtp,sap,mlv,vobsub,avisynth,"
    "vapoursynth,"
    "lavfi,dvdvideo";

}  // namespace

bool names_other_files(const AVInputFormat& format) {
  return av_match_list(format.name, kNamesOtherFiles, ',') > 0;
}

std::string allowed_formats(const AVInputFormat* asked) {
  std::string names;
  void* state = nullptr;
  while (const AVInputFormat* format = av_demuxer_iterate(&state)) {
    if (format != asked && names_other_files(*format)) continue;
    if (!names.empty()) names += ',';
    names += format->name;
  }
  return names;
}

std::string allowed_protocols(const std::string& asked) {
  std::string names = "file,pipe,fd";
  if (!asked.empty()) names.append(",").append(asked);
  return names;
}

}  // namespace cu264::io
