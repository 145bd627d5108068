#include "app/options.h"

#include <filesystem>

#include "app/common_options.h"
#include "app/input_options.h"
#include "app/option_values.h"
#include "app/parsed_options.h"
#include "app/protection_values.h"
#include "app/verbs.h"

namespace cu264::app {
namespace {

// Returns nothing for the production kernel.
std::optional<published::Coder> parse_entropy_kernel(const std::string& name) {
  if (name == "production") return std::nullopt;
  if (name == "cavlcu") return published::Coder::cavlcu;
  if (name == "cavlcu_tuned") return published::Coder::cavlcu_tuned;
  if (name == "cavlc_su") return published::Coder::cavlc_su;
  usage("bad entropy-kernel \"" + name + "\"", "use production, cavlcu, cavlcu_tuned or cavlc_su");
}

// The papers' stages work on CAVLC, so choosing them chooses CAVLC.
void check_stages(const ParsedOptions& parsed, const EncodeOptions& options) {
  const bool coder = options.config.entropy == EntropyCoder::cavlcu;
  const bool packer = options.config.packing == Packing::gvle;
  if (coder && options.coder)
    usage("--entropy and --entropy-kernel both choose what codes the levels", "give one of them");
  if ((coder || packer) && parsed.has("cavlc") && !options.config.cavlc)
    usage(std::string(coder ? "--entropy cavlcu" : "--packing gvle") + " works on CAVLC", "drop --cavlc=off");
}

void read_coding(const ParsedOptions& parsed, EncodeOptions& options) {
  for (const ConfigOption& option : config_options()) {
    using Group = ConfigOption::Group;
    const bool ours =
        option.group == Group::rate || option.group == Group::coding || option.group == Group::execution;
    if (!ours) continue;
    if (option.off_switch != nullptr) {
      if (parsed.has(option.off_switch)) options.config.set(option.name, "off");
    } else if (parsed.has(option.name)) {
      options.config.set(option.name, parsed[option.name]);
    }
  }
  if (parsed.has("cqmfile")) {
    if (parsed["cqmfile"].empty()) usage("--cqmfile names no file", "as --cqmfile lists.cfg");
    if (parsed.has("cqm")) usage("--cqm and --cqmfile both give the scaling lists", "give one of them");
  }
  options.list_file = parsed["cqmfile"];
  if (parsed.has("entropy-kernel")) options.coder = parse_entropy_kernel(parsed["entropy-kernel"]);
  check_stages(parsed, options);
  if (parsed.has("device")) {
    if (options.config.backend == BackendChoice::cpu)
      usage("--device is of no use to --backend cpu", "drop one");
    options.config.backend = BackendChoice::cuda;  // a device was chosen by number
  }
}

// Reads the options of rate control that Config::set does not take.
void read_rate(const ParsedOptions& parsed, const std::string& input, EncodeOptions& options) {
  const char* decides = nullptr;
  for (const char* const name : {"qp", "crf", "bitrate", "target-size"}) {
    if (!parsed.has(name)) continue;
    if (decides)
      usage(std::string("--") + decides + " and --" + name + " both decide the quality", "give one of them");
    decides = name;
  }
  if (parsed.has("qpfile") && parsed["qpfile"].empty())
    usage("--qpfile names no file", "as --qpfile qps.txt");
  options.qp_file = parsed["qpfile"];
  if (!parsed.has("target-size")) return;
  options.target_size = parse_count("target-size", parsed["target-size"]);
  const Config& config = options.config;
  if (config.cbr || config.frame_bytes > 0)
    usage("--cbr and --frame-bytes decide the size themselves", "drop them or --target-size");
  std::error_code unknown;
  const bool pipe = input == "-" || input.rfind("pipe:", 0) == 0 ||
                    std::filesystem::is_fifo(input, unknown) ||
                    std::filesystem::is_character_file(input, unknown);
  if (pipe) usage("--target-size reads the input several times, which a pipe does not allow", "name a file");
}

// Filler data have no place in these files (ISO/IEC 14496-15).
void check_filler(const EncodeOptions& options) {
  const Config& config = options.config;
  if ((config.cbr || config.frame_bytes > 0) && io::is_mp4_family(options.container)) {
    usage(std::string(config.cbr ? "--cbr" : "--frame-bytes") +
              " makes filler data, which mp4 and mov do not allow",
          "write .264, .ts or .mkv");
  }
}

void read_output(const ParsedOptions& parsed, const std::string& path, EncodeOptions& options) {
  options.output = path;
  options.overwrite = read_overwrite(parsed);
  if (parsed.has("format")) {
    options.container = io::container_by_name(parsed["format"]);
  } else if (options.output != "-") {
    options.container = io::container_by_extension(options.output);
  }
  check_not_a_terminal(options.output);
  const bool mp4 = io::is_mp4_family(options.container);
  options.fragmented = parsed.has("fragmented");
  if (options.fragmented && !mp4) usage("--fragmented is for mp4 and mov", "drop it");
  if (options.output == "-" && mp4 && !options.fragmented) {
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
  options.faststart = mp4 && !options.fragmented;
  if (parsed.has("faststart")) {
    const bool wanted = parse_on_off("faststart", parsed["faststart"]);
    if (wanted && !options.faststart) usage("--faststart is for mp4 and mov without --fragmented", "drop it");
    options.faststart = wanted;
  }
  options.recon = parsed["recon"], options.stats = parsed["stats"];
  check_not_a_terminal(options.recon);
}

// Reads --edges-out. `output` is known.
void read_edges(const ParsedOptions& parsed, const std::string& input, EncodeOptions& options) {
  if (!parsed.has("edges-out")) return;
  const Config& config = options.config;
  if (config.edge_guided == 0 && config.aq != AdaptiveQuantisation::edges)
    usage("--edges-out writes the maps of --edge-guided, which is off", "add --edge-guided, or drop it");
  const std::string path = parsed["edges-out"];
  if (path.empty()) usage("--edges-out names no file", "as --edges-out edges%04d.png");
  if (path == "-" && options.output == "-")
    usage("--edges-out and the output both go to standard output", "name a file for one of them");
  options.edges = edges_output(path, options.overwrite, input);
  // A video of edges is coded alongside the pictures and leaves the device to them.
  options.edges->config.backend = BackendChoice::cpu, options.edges->config.threads = config.threads;
  options.config.edge_maps = true;
}

void read_streams(const ParsedOptions& parsed, io::ReaderOptions& reader) {
  reader.streams.audio = !parsed.has("no-audio");
  reader.streams.subtitles = !parsed.has("no-subtitles");
  reader.streams.map = parsed["map"];
  if (parsed.has("map") && reader.streams.map.empty()) usage("--map names no stream", "as --map v:0,a:1");
  reader.span.copy_times = parsed.has("copyts");
  reader.autorotate = parsed.has("autorotate");
}

void read_reports(const ParsedOptions& parsed, EncodeOptions& options) {
  options.psnr = parsed.has("psnr"), options.ssim = parsed.has("ssim");
  options.verify = parsed.has("verify"), options.quiet = parsed.has("quiet");
  options.verbose = parsed.has("verbose");
  if (options.quiet && options.verbose) usage("--quiet and --verbose contradict each other", "drop one");
  if (options.verify && options.output == "-") {
    usage("--verify cannot read standard output again", "write to a file");
  }
  options.progress = read_progress(parsed);
}

void read_encryption(const ParsedOptions& parsed, EncodeOptions& options) {
  options.encryption.emplace();
  options.encryption->parts = parsed.has("strength")
                                  ? parse_encryption_strength("strength", parsed["strength"])
                                  : parse_encryption_parts("encrypt", parsed["encrypt"]);
  options.encryption->authenticate = parsed.has("authenticate");
  if (options.encryption->parts.suffixes)
    usage("suffixes are encrypted in finished streams with CABAC", "drop them, or use cu264 protect encrypt");
  // Authentication covers finished slices, so with it all encryption is done after the encoder.
  const Config& config = options.config;
  const bool limits = config.max_frame_bytes > 0 || config.frame_bytes > 0 || config.cbr;
  if (options.encryption->authenticate && limits) {
    usage("--authenticate adds bytes to pictures whose size was decided",
          "leave --max-frame-bytes, --frame-bytes and --cbr out, or --authenticate");
  }
  if (!options.encryption->authenticate)
    options.config.encryption = EncoderEncryption{*options.key, options.encryption->parts};
  if (options.verify) {
    usage("--verify cannot compare what is encrypted",
          "verify without --encrypt, or what protect decrypt gives back");
  }
}

// Reads everything except the payload, which is read once everything else is known to be right.
void read_watermark(const ParsedOptions& parsed, EncodeOptions& options) {
  const WatermarkScheme scheme = parse_watermark_scheme("watermark", parsed["watermark"]);
  options.payload = parsed["payload"];
  if (options.payload.empty()) usage("--watermark has no payload", "give --payload FILE");
  options.config.watermark = EncoderWatermark{*options.key, {}, scheme};
  if (parsed.has("density")) {
    options.config.watermark->density = parse_density("density", parsed["density"]);
  }
  if (parsed.has("watermark-spread")) {
    options.config.watermark->spread = parse_watermark_spread("watermark-spread", parsed["watermark-spread"]);
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
  for (const char* const name : {"payload", "density", "watermark-spread"}) {
    if (!marks) refuse(name, "--watermark");
  }
  if (!encrypts && !marks) return refuse("key-file", "--encrypt or --watermark");
  options.key.emplace(parsed.has("key-file") ? key_of_file(parsed["key-file"])
                                             : ProtectionKey::from_environment());
  if (encrypts) read_encryption(parsed, options);
  if (marks) read_watermark(parsed, options);
}

// The encoder chooses CAVLC for what it does itself. Published coders take its place, and an authenticated
// stream is encrypted after it.
void choose_cavlc(EncodeOptions& options) {
  if (options.config.profile != Profile::automatic || options.config.cavlc) return;
  if (options.encryption && options.encryption->authenticate) options.cavlc_for = "encryption";
  if (options.coder) options.cavlc_for = "the entropy kernel";
  options.config.cavlc = !options.cavlc_for.empty();
}

}  // namespace

std::optional<EncodeOptions> parse_encode_options(const std::vector<std::string>& arguments) {
  const VerbHelp help = encode_help();
  const ParsedOptions parsed(arguments, help.options(), help.name);
  if (parsed.has("help")) return std::nullopt;
  const NamedFiles files = named_files(parsed, parsed.words(), help.forms[0]);
  EncodeOptions options;
  options.reader.max_side = kMaxSide;
  read_input(parsed, files.input, options.reader);
  read_streams(parsed, options.reader);
  read_coding(parsed, options);
  read_rate(parsed, files.input, options);
  read_output(parsed, files.output, options);
  read_edges(parsed, files.input, options);
  check_filler(options);
  if (options.target_size > 0 && options.output == "-")
    usage("--target-size writes the output several times, which a pipe does not allow", "name a file");
  read_reports(parsed, options);
  read_protection(parsed, options);
  choose_cavlc(options);
  check_files_differ({files.input, options.output, options.recon, options.stats, options.payload,
                      options.qp_file, options.list_file, options.edges ? options.edges->path : ""});
  return options;
}

}  // namespace cu264::app
