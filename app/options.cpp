#include "app/options.h"

#include <unistd.h>

#include <boost/program_options.hpp>
#include <iterator>
#include <sstream>

#include "app/input_options.h"
#include "app/option_values.h"
#include "app/parsed_options.h"
#include "app/protection_values.h"
#include "io/output_file.h"

namespace cu264::app {
namespace {

namespace po = boost::program_options;

constexpr char kExamples[] =
    "cu264 encode [options] INPUT -o OUTPUT\n"
    "\n"
    "  cu264 encode film.mkv -o film.mp4 --qp 24\n"
    "  cu264 encode clip.y4m -o clip.264 --preset best --psnr --ssim\n"
    "  cu264 encode raw.yuv --size 1920x1080 --fps 30000/1001 -o clip.mkv --verify\n"
    "  cu264 encode 'frame%03d.png' --fps 24 -o film.mp4\n"
    "  ffmpeg -i film.mkv -f yuv4mpegpipe - | cu264 encode - -o - | ffplay -\n"
    "\n"
    "INPUT is whatever FFmpeg reads, raw video with --size, or - for standard input. OUTPUT is .264 .h264 "
    ".mp4 .mov\n"
    ".mkv .ts, or - for standard output. Audio and subtitles are copied where the output can hold them. An "
    "output is\n"
    "complete or absent. Ctrl-C finishes it with the pictures so far (exit status 130); a second one removes "
    "it.\n";

constexpr char kExitCodes[] =
    "\nExit status: 0 done, 1 usage, 2 input, 3 device, 4 encoding or writing, 5 verification failed, 130 "
    "interrupted.\n";

// These options are planned. The error for them says more than "unknown option".
constexpr const char* kLater[] = {"quality", "bitrate", "max-frame-bytes"};

struct Groups {
  po::options_description input{"Input", kHelpWidth};
  po::options_description coding{"Coding", kHelpWidth};
  po::options_description execution{"Execution", kHelpWidth};
  po::options_description output{"Output", kHelpWidth};
  po::options_description protection{"Protection", kHelpWidth};
  po::options_description reports{"Reports", kHelpWidth};

  Groups() {
    add_input_options(input);
    input.add_options()("no-audio", "carry no audio")("no-subtitles", "carry no subtitles");
    input.add_options()(
        "map", text("LIST"),
        "which streams: FFmpeg's stream specifiers, as v:1,a:0,s; -a:1 takes one out; the first "
        "video of them is encoded (all but those of other programmes)");
    input.add_options()("copyts", "keep the input's times instead of letting them begin at 0");
    input.add_options()("autorotate", "turn the pictures as the input asks players to");
    for (const ConfigOption& option : config_options()) add_config_option(option);
    execution.add_options()(
        "entropy-kernel", text("NAME"),
        "for developers: which kernels of the CUDA backend code the levels: production, cavlcu "
        "or cavlc_su (production). Never changes the bytes");
    output.add_options()("output,o", text("FILE"), "where to; - is standard output");
    output.add_options()("format", text("NAME"),
                         "h264, mp4, mov, mkv or ts, whatever the file's name (- is h264)");
    output.add_options()("fragmented", "mp4 and mov: in fragments; needed on a pipe");
    output.add_options()("headers", text("NAME"),
                         "h264 and ts: parameter sets every picture, so that any part can be played, or "
                         "first (every)");
    output.add_options()("recon", text("FILE"), "also write what a decoder shows, as raw yuv420p");
    protection.add_options()(
        "encrypt", text("PARTS"),
        "signs, modes and codewords, or some of them, by commas: what cu264 protect encrypt "
        "does, on the way; its decrypt gives the stream back");
    protection.add_options()("strength", text("N"), "instead of --encrypt: 1, signs; 2, signs,modes; 3, all");
    protection.add_options()(
        "watermark", text("SCHEME"),
        "t1-sign or t1-parity: --payload in the trailing ones of the levels, before they are reconstructed; "
        "cu264 watermark extract reads it");
    protection.add_options()("payload", text("FILE"), "what the watermark says, repeated all over the video");
    protection.add_options()("density", text("N"), "of 65536 blocks of luma, how many are marked (4096)");
    protection.add_options()("key-file", text("FILE"),
                             "32 bytes, or 64 hexadecimal digits; without it, CU264_KEY in the environment");
    protection.add_options()("authenticate", "a code beside each picture tells when it was changed");
    reports.add_options()("psnr", "measure PSNR")("ssim", "measure SSIM");
    reports.add_options()("verify", "decode what was written, compare with what a decoder should show");
    reports.add_options()("stats", text("FILE"), "write all figures, picture by picture, as JSON");
    reports.add_options()("progress", text("WHEN"), "auto: if stderr is a terminal; or off (auto)");
    reports.add_options()("quiet,q", "errors only");
    reports.add_options()("help,h", "this text");
  }

  void add_config_option(const ConfigOption& option) {
    using Group = ConfigOption::Group;
    // The input says what the pictures are, and the output's container says where the headers are.
    if (option.group == Group::input || option.group == Group::output) return;
    po::options_description& group = option.group == Group::coding ? coding : execution;
    if (option.name == std::string("deblock")) {
      group.add_options()("no-deblock", "no loop filter in the decoder");
      return;
    }
    auto* const value = text(option.value);
    if (option.implicit_value) value->implicit_value(option.implicit_value, option.implicit_value);
    group.add_options()(option.name, value, option.meaning);
  }

  po::options_description all() const {
    po::options_description all;
    return all.add(input).add(coding).add(execution).add(output).add(protection).add(reports);
  }
};

// Returns nothing for the production kernel.
std::optional<published::Coder> parse_entropy_kernel(const std::string& name) {
  if (name == "production") return std::nullopt;
  if (name == "cavlcu") return published::Coder::cavlcu;
  if (name == "cavlc_su") return published::Coder::cavlc_su;
  usage("bad entropy-kernel \"" + name + "\"", "use production, cavlcu or cavlc_su");
}

void read_coding(const ParsedOptions& parsed, EncodeOptions& options) {
  for (const ConfigOption& option : config_options()) {
    const bool asked =
        option.group == ConfigOption::Group::coding || option.group == ConfigOption::Group::execution;
    if (asked && parsed.has(option.name)) options.config.set(option.name, parsed[option.name]);
  }
  if (parsed.has("entropy-kernel")) options.coder = parse_entropy_kernel(parsed["entropy-kernel"]);
  options.config.deblock = !parsed.has("no-deblock");
  if (parsed.has("device")) {
    if (options.config.backend == BackendChoice::cpu)
      usage("--device is of no use to --backend cpu", "drop one");
    options.config.backend = BackendChoice::cuda;  // a device was chosen by number
  }
}

void read_output(const ParsedOptions& parsed, EncodeOptions& options) {
  options.output = parsed["output"];
  if (options.output.empty()) usage("no output is named", "cu264 encode INPUT -o OUTPUT");
  if (parsed.has("format")) {
    options.container = io::container_by_name(parsed["format"]);
  } else if (options.output != "-") {
    options.container = io::container_by_extension(options.output);
  }
  options.fragmented = parsed.has("fragmented");
  if (options.fragmented && !io::is_mp4_family(options.container)) {
    usage("--fragmented is for mp4 and mov", "drop it");
  }
  if (options.output == "-" && io::is_mp4_family(options.container) && !options.fragmented) {
    usage("an mp4 on standard output cannot be gone back in", "add --fragmented");
  }
  if (parsed.has("headers")) {
    const std::string headers = parsed["headers"];
    if (headers != "every" && headers != "first")
      usage("bad headers \"" + headers + "\"", "use every or first");
    if (io::separate_headers(options.container))
      usage(std::string("--headers is for h264 and ts: ") + io::name_of(options.container) + " has them once",
            "drop it");
    options.headers_first = headers == "first";
  }
  options.recon = parsed["recon"], options.stats = parsed["stats"];
}

void read_streams(const ParsedOptions& parsed, io::ReaderOptions& reader) {
  reader.streams.audio = !parsed.has("no-audio");
  reader.streams.subtitles = !parsed.has("no-subtitles");
  reader.streams.map = parsed["map"];
  if (parsed.has("map") && reader.streams.map.empty()) usage("--map names no stream", "as --map v:0,a:1");
  reader.copy_times = parsed.has("copyts");
  reader.autorotate = parsed.has("autorotate");
}

void read_reports(const ParsedOptions& parsed, EncodeOptions& options) {
  options.psnr = parsed.has("psnr"), options.ssim = parsed.has("ssim");
  options.verify = parsed.has("verify"), options.quiet = parsed.has("quiet");
  if (options.verify && options.output == "-") {
    usage("--verify cannot read standard output again", "write to a file");
  }
  if (parsed.has("progress")) options.progress = parse_auto_off("progress", parsed["progress"]);
  if (options.quiet || isatty(STDERR_FILENO) == 0) options.progress = false;
}

void read_encryption(const ParsedOptions& parsed, EncodeOptions& options) {
  options.encryption.emplace();
  options.encryption->parts = parsed.has("strength")
                                  ? parse_encryption_strength("strength", parsed["strength"])
                                  : parse_encryption_parts("encrypt", parsed["encrypt"]);
  options.encryption->authenticate = parsed.has("authenticate");
  // Authentication covers finished slices, so with it all encryption is done after the encoder.
  if (!options.encryption->authenticate)
    options.config.encryption = EncoderEncryption{*options.key, options.encryption->parts};
  if (options.verify) {
    usage("--verify cannot compare what is encrypted",
          "verify without --encrypt, or what protect decrypt gives back");
  }
}

// Reads everything but the payload, which is read once everything else is known to be right.
void read_watermark(const ParsedOptions& parsed, EncodeOptions& options) {
  const WatermarkScheme scheme = parse_watermark_scheme("watermark", parsed["watermark"]);
  options.payload = parsed["payload"];
  if (options.payload.empty()) usage("--watermark has no payload", "give --payload FILE");
  options.config.watermark = EncoderWatermark{*options.key, {}, scheme};
  if (parsed.has("density")) {
    options.config.watermark->density = parse_density("density", parsed["density"]);
  }
}

void read_protection(const ParsedOptions& parsed, EncodeOptions& options) {
  const bool encrypts = parsed.has("encrypt") || parsed.has("strength"), marks = parsed.has("watermark");
  const auto refuse = [&](const char* name, const char* without) {
    if (parsed.has(name))
      usage(std::string("--") + name + " is of no use without " + without, "add it, or drop one");
  };
  if (parsed.has("encrypt") && parsed.has("strength")) {
    usage("--encrypt and --strength say the same", "give one of them");
  }
  if (!encrypts) refuse("authenticate", "--encrypt");
  if (!marks) refuse("payload", "--watermark"), refuse("density", "--watermark");
  if (!encrypts && !marks) return refuse("key-file", "--encrypt or --watermark");
  options.key.emplace(parsed.has("key-file") ? key_of_file(parsed["key-file"])
                                             : ProtectionKey::from_environment());
  if (encrypts) read_encryption(parsed, options);
  if (marks) read_watermark(parsed, options);
}

// Every file that is written must be a different one.
void check_files(const EncodeOptions& options) {
  const std::vector<std::string> files = {options.reader.input.path, options.output, options.recon,
                                          options.stats, options.payload};
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = i + 1; j < files.size(); ++j) {
      if (files[i].empty() || files[j].empty() || files[i] == "-") continue;
      if (io::same_file(files[i], files[j])) {
        usage(files[j] + ": is the same file as " + files[i] + (i == 0 ? ", the input" : ""),
              "name another output");
      }
    }
  }
}

}  // namespace

std::string encode_help() {
  const Groups groups;
  std::ostringstream text;
  text << kExamples;
  for (const auto* group : {&groups.input, &groups.coding, &groups.execution, &groups.output,
                            &groups.protection, &groups.reports}) {
    text << '\n' << *group;
  }
  return text.str() + kExitCodes;
}

std::optional<EncodeOptions> parse_encode_options(const std::vector<std::string>& arguments) {
  const Groups groups;
  const ParsedOptions parsed(arguments, groups.all(), "cu264 encode",
                             {{std::begin(kLater), std::end(kLater)}, "--qp sets the quality"});
  if (parsed.has("help")) return std::nullopt;
  EncodeOptions options;
  options.reader.max_side = kMaxSide;
  read_input(parsed, "cu264 encode", options.reader);
  read_streams(parsed, options.reader);
  read_coding(parsed, options);
  read_output(parsed, options);
  read_reports(parsed, options);
  read_protection(parsed, options);
  check_files(options);
  return options;
}

}  // namespace cu264::app
