#include "app/input_options.h"

#include "app/common_options.h"
#include "app/option_values.h"
#include "cu264/encoder.h"

namespace cu264::app {
namespace {

void read_raw_video(const ParsedOptions& parsed, io::InputOptions& input, int max_side) {
  if (parsed.has("size")) {
    if (looks_like_described_video(input.path)) {
      usage(input.path + ": tells its own size", "--size is for raw video");
    }
    const auto [width, height] = parse_size("size", parsed["size"], max_side);
    input.raw = io::RawVideo{width, height, "yuv420p"};
  } else if (parsed.has("pix-fmt") || looks_like_raw_video(input.path)) {
    usage(input.path + ": raw video has no size of its own", "give it as --size WIDTHxHEIGHT");
  }
  if (parsed.has("pix-fmt")) input.raw->pixel_format = parse_pixel_format("pix-fmt", parsed["pix-fmt"]);
}

// Reads which part of the input is wanted.
void read_part(const ParsedOptions& parsed, io::ReaderOptions& reader) {
  io::InputSpan& span = reader.span;
  if (parsed.has("seek")) span.seek = parse_time("seek", parsed["seek"]);
  if (parsed.has("frames")) reader.frames = parse_count("frames", parsed["frames"]);
  if (parsed.has("to") && parsed.has("duration"))
    usage("--to and --duration say the same", "give one of them");
  if (parsed.has("duration")) {
    span.duration = parse_time("duration", parsed["duration"]);
    if (span.duration <= 0) usage("--duration 0 leaves nothing", "give more");
  }
  if (parsed.has("to")) {
    span.duration = parse_time("to", parsed["to"]) - span.seek;
    if (span.duration <= 0) usage("--to is not after --seek", "both count from the start of the input");
  }
}

// Reads what the stream is to say about its pictures, instead of what the input says.
void read_description(const ParsedOptions& parsed, io::PictureTags& tags) {
  Config scratch;
  for (const ConfigOption& option : config_options()) {
    if (option.group == ConfigOption::Group::description && parsed.has(option.name))
      scratch.set(option.name, parsed[option.name]);
  }
  if (parsed.has("sar"))
    tags.sample_aspect_ratio = {scratch.sample_aspect_ratio.num, scratch.sample_aspect_ratio.den};
  if (parsed.has("range")) tags.full_range = scratch.colour.full_range;
  if (parsed.has("colorprim")) tags.primaries = scratch.colour.primaries;
  if (parsed.has("transfer")) tags.transfer = scratch.colour.transfer;
  if (parsed.has("colormatrix")) tags.matrix = scratch.colour.matrix;
  if (parsed.has("chromaloc")) tags.chroma_location = scratch.chroma_location;
}

}  // namespace

OptionGroup input_options() {
  return {
      "Input",
      {kInputOption,
       {"size", 0, "WxH", "raw video: the size of its pictures"},
       {"pix-fmt", 0, "NAME", "raw video: FFmpeg's name of its pixel format (yuv420p)"},
       {"fps", 0, "N[/D]", "raw video, YUV4MPEG2, images, elementary streams: frame rate (their own, or 25)"},
       {"start-number", 0, "N", "numbered images: the first number (the first of 0 to 4 that is there)"},
       {"seek", 0, "TIME", "begin there, as 90.5, 1:30.5 or 0:01:30.5; times are then counted from it"},
       {"to", 0, "TIME", "end there, counted from the start of the input"},
       {"duration", 0, "TIME", "at most as long as this"},
       {"frames", 0, "N", "at most N pictures"},
       {"vf", 0, "GRAPH",
        "FFmpeg's filters for the pictures, as scale=640:-2 or yadif,crop=640:480; ffmpeg -filters lists "
        "them. Take a graph from nobody: it can read and write whatever it names (movie, metadata=print)"},
       {"demuxer", 0, "NAME",
        "FFmpeg's name of the input's format, instead of finding it out; lists of other files (hls, dash, "
        "concat) are read only when named so"},
       {"allow-protocol", 0, "LIST",
        "read the input over these of FFmpeg's protocols too, as http,tcp; without it, local files only"},
       {"allow-partial", 0, nullptr, "use what can be read of a damaged or cut-off input"}}};
}

OptionGroup description_options() {
  OptionGroup group{"Description, where the input says nothing or is wrong", {}};
  for (const ConfigOption& option : config_options()) {
    if (option.group == ConfigOption::Group::description)
      group.options.push_back({option.name, 0, option.value, option.meaning});
  }
  return group;
}

void read_input(const ParsedOptions& parsed, const std::string& path, io::ReaderOptions& reader) {
  io::InputOptions& input = reader.input;
  input.path = path;
  read_raw_video(parsed, input, reader.max_side);
  if (parsed.has("fps")) {
    Config scratch;
    scratch.set("fps", parsed["fps"]);
    input.frame_rate = {scratch.frame_rate.num, scratch.frame_rate.den};
  }
  if (parsed.has("start-number"))
    input.start_number = parse_from_zero("start-number", parsed["start-number"]);
  input.format = parsed["demuxer"];
  if (!input.format.empty() && input.raw)
    usage("--demuxer and --size both say what the input is", "drop one");
  input.protocols = parsed["allow-protocol"];
  read_part(parsed, reader);
  read_description(parsed, reader.tags);
  reader.filters = parsed["vf"];
  if (parsed.has("vf") && reader.filters.empty()) usage("--vf names no filter", "ffmpeg -filters lists them");
  reader.allow_partial = parsed.has("allow-partial");
}

}  // namespace cu264::app
