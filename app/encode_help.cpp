// The options of `cu264 encode`.
#include "app/common_options.h"
#include "app/input_options.h"
#include "app/options.h"
#include "app/verbs.h"

namespace cu264::app {
namespace {

void add_config_options(ConfigOption::Group wanted, OptionGroup& group) {
  for (const ConfigOption& option : config_options()) {
    if (option.group != wanted || option.meaning == nullptr) continue;
    if (option.off_switch != nullptr) {
      group.options.push_back({option.off_switch, 0, nullptr, option.off_meaning});
    } else {
      group.options.push_back({option.name, 0, option.value, option.meaning, option.implicit_value});
    }
  }
}

OptionGroup protection_options() {
  return {"Protection",
          {{"encrypt", 0, "PARTS",
            "signs, modes and codewords, or some of them, by commas: what cu264 protect encrypt does, on the "
            "way; its decrypt gives the stream back"},
           {"strength", 0, "N", "instead of --encrypt: 1, signs; 2, signs,modes; 3, all"},
           {"watermark", 0, "t1-sign|t1-parity",
            "--payload in the trailing ones of the levels, before they are reconstructed; cu264 watermark "
            "extract reads it"},
           {"payload", 0, "FILE", "what the watermark says, repeated all over the video"},
           {"density", 0, "N", "of 65536 blocks of luma, how many are marked (4096)"},
           {"watermark-spread", 0, "coded|drawn",
            "coded: any blocks, a few more than the payload has bits, give it back; drawn: blocks carry bits "
            "drawn at random, which takes about nine for each (coded)"},
           kKeyOption,
           {"authenticate", 0, nullptr, "a code beside each picture tells when it was changed"}}};
}

}  // namespace

VerbHelp encode_help() {
  OptionGroup coding{"Coding", {}}, execution{"Execution", {}};
  add_config_options(ConfigOption::Group::rate, coding);
  add_config_options(ConfigOption::Group::coding, coding);
  coding.options.push_back(
      {"cqmfile", 0, "FILE",
       "scaling lists in the form of the JM and x264, as INTRA4X4_LUMA = and 16 numbers; of --profile high"});
  coding.options.push_back(
      {"qpfile", 0, "FILE",
       "the QP of single pictures, as x264 takes it: lines FRAME TYPE QP, as 12 I 24; -1 leaves "
       "a picture as it is"});
  coding.options.push_back(
      {"target-size", 0, "BYTES",
       "the size of the whole output, which ends within 0.5 % below it: two passes over the input, the "
       "first of which is fast; clips of a few pictures may need more"});
  add_config_options(ConfigOption::Group::execution, execution);
  execution.options.push_back({"entropy-kernel", 0, "production|cavlcu|cavlcu_tuned|cavlc_su",
                               "for developers: which kernels of the CUDA backend code the levels "
                               "(production). Never changes the bytes"});
  const OptionGroup output{
      "Output",
      {kOutputOption,
       kOverwriteOption,
       kKeepOption,
       {"format", 0, "h264|mp4|mov|mkv|ts", "whatever the file's name (- is h264)"},
       {"fragmented", 0, nullptr, "mp4 and mov: in fragments; needed on a pipe"},
       {"headers", 0, "every|first",
        "h264 and ts: parameter sets before every key picture, so that playing can begin at any of them, or "
        "before the first (every)"},
       {"faststart", 0, "on|off",
        "mp4 and mov: the index before the pictures, so that playing can begin at once (on)", "on"},
       {"recon", 0, "FILE", "also write what a decoder shows, as raw yuv420p"},
       {"edges-out", 0, "FILE",
        "also write the edge maps that --edge-guided follows, as cu264 edges does: .png or .pgm with a "
        "number like %04d, a video, or - for PGM"}}};
  const OptionGroup streams{
      "Streams and times",
      {{"no-audio", 0, nullptr, "carry no audio"},
       {"no-subtitles", 0, nullptr, "carry no subtitles"},
       {"map", 0, "LIST",
        "which streams: FFmpeg's stream specifiers, as v:1,a:0,s; -a:1 takes one out; the first video of "
        "them is encoded (all but those of other programmes)"},
       {"copyts", 0, nullptr, "keep the input's times instead of letting them begin at 0"},
       {"autorotate", 0, nullptr, "turn the pictures as the input asks players to"}}};
  const OptionGroup reports{
      "Reports",
      {{"psnr", 0, nullptr, "measure PSNR"},
       {"ssim", 0, nullptr, "measure SSIM"},
       {"verify", 0, nullptr, "decode what was written, compare with what a decoder should show"},
       {"stats", 0, "FILE", "write all figures, picture by picture, as JSON"},
       kProgressOption,
       {"verbose", 'v', nullptr, "say what is read and how it is coded"},
       kQuietOption,
       kHelpOption}};
  return {
      "encode",
      "encode a video",
      {},
      {"encode [options] INPUT OUTPUT"},
      {"INPUT is whatever FFmpeg reads, raw video with --size, pictures as 'frame%03d.png' or 'frame*.png', "
       "or - for standard input. OUTPUT is .264 .h264 .mp4 .mov .mkv .ts, or - for standard output. Audio "
       "and "
       "subtitles are copied where the output can hold them. An output is complete or absent. Ctrl-C "
       "finishes it with the "
       "pictures so far; a second one removes it."},
      {"cu264 encode film.mkv film.mp4 --qp 24", "cu264 encode clip.y4m clip.264 --preset best --psnr --ssim",
       "cu264 encode film.mkv small.mp4 --vf scale=640:-2 --seek 1:30 --duration 20",
       "cu264 encode raw.yuv --size 1920x1080 --fps 30000/1001 clip.mkv --verify",
       "cu264 encode 'frame%03d.png' --fps 24 -o film.mp4",
       "ffmpeg -i film.mkv -f yuv4mpegpipe - | cu264 encode - - | ffplay -"},
      {input_options(), description_options(), streams, coding, execution, output, protection_options(),
       reports}};
}

}  // namespace cu264::app
