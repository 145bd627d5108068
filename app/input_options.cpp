#include "app/input_options.h"

#include "app/option_values.h"
#include "cu264/encoder.h"

namespace cu264::app {

void add_input_options(boost::program_options::options_description& group) {
  group.add_options()("size", text("WxH"), "raw video: the size of its pictures");
  group.add_options()("pix-fmt", text("NAME"), "raw video: FFmpeg's name of its pixel format (yuv420p)");
  group.add_options()("fps", text("N[/D]"), "raw video, images, elementary streams: frame rate (25)");
  group.add_options()("seek", text("SECONDS"), "begin there; times are then counted from it");
  group.add_options()("frames", text("N"), "at most N pictures");
  group.add_options()(
      "demuxer", text("NAME"),
      "FFmpeg's name of the input's format, instead of finding it out; lists of other files (hls, "
      "dash, concat) are read only when named so");
  group.add_options()("allow-protocol", text("LIST"),
                      "read over these of FFmpeg's protocols too, as http,tcp; without it, local files only");
  group.add_options()("allow-partial", "use what can be read of a damaged or cut-off input");
}

void read_input(const ParsedOptions& parsed, const std::string& verb, io::ReaderOptions& reader) {
  const std::vector<std::string> inputs = parsed.inputs();
  if (inputs.empty() || inputs[0].empty()) usage("no input is named", verb + " INPUT -o OUTPUT");
  if (inputs.size() > 1)
    usage("two inputs: '" + inputs[0] + "' and '" + inputs[1] + "'", "the output is named by -o");
  io::InputOptions& input = reader.input;
  input.path = inputs[0];
  if (parsed.has("size")) {
    if (looks_like_described_video(input.path)) {
      usage(input.path + ": tells its own size", "--size is for raw video");
    }
    const auto [width, height] = parse_size("size", parsed["size"], reader.max_side);
    input.raw = io::RawVideo{width, height, "yuv420p"};
  } else if (parsed.has("pix-fmt") || looks_like_raw_video(input.path)) {
    usage(input.path + ": raw video has no size of its own", "give it as --size WIDTHxHEIGHT");
  }
  if (parsed.has("pix-fmt")) input.raw->pixel_format = parse_pixel_format("pix-fmt", parsed["pix-fmt"]);
  if (parsed.has("fps")) {
    Config scratch;
    scratch.set("fps", parsed["fps"]);
    input.frame_rate = {scratch.frame_rate.num, scratch.frame_rate.den};
  }
  input.format = parsed["demuxer"];
  if (!input.format.empty() && input.raw)
    usage("--demuxer and --size both say what the input is", "drop one");
  input.protocols = parsed["allow-protocol"];
  if (parsed.has("seek")) reader.seek = parse_seconds("seek", parsed["seek"]);
  if (parsed.has("frames")) reader.frames = parse_count("frames", parsed["frames"]);
  reader.allow_partial = parsed.has("allow-partial");
}

}  // namespace cu264::app
