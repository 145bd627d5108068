// cu264 encode: opens what the options ask for, runs the loop and reports the result.
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/encode_loop.h"
#include "app/encode_outputs.h"
#include "app/interrupt.h"
#include "app/option_files.h"
#include "app/options.h"
#include "app/profile_text.h"
#include "app/rate_report.h"
#include "app/size_plan.h"
#include "app/stream_command.h"
#include "app/verbs.h"
#include "app/video_config.h"

namespace cu264::app {
namespace {

// Returns whether the caller asks for a buffer, which counts pictures.
bool has_buffer(const Config& config) {
  return config.max_bitrate > 0 || config.buffer_bits > 0 || config.cbr;
}

std::string number_text(AVRational rate) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", av_q2d(rate));
  return text;
}

Config complete_config(const EncodeOptions& options, const io::VideoInfo& video) {
  Config config = options.config;
  take_video(video, config);
  config.colour = {video.primaries, video.transfer, video.matrix, video.full_range};
  // Type 0, to the left, is what decoders assume.
  if (video.chroma_location > AVCHROMA_LOC_LEFT) config.chroma_location = video.chroma_location - 1;
  config.headers = io::separate_headers(options.container) ? HeaderPlacement::separate
                   : options.headers_first                 ? HeaderPlacement::first_packet
                                                           : HeaderPlacement::every_packet;
  // A bare stream has no times, so that its pictures count at its rate; so they do for a buffer.
  config.timed_bitrate = video.times_vary && options.container != io::Container::h264 && config.bitrate > 0 &&
                         !has_buffer(config);
  config.reconstruction = !options.recon.empty() || options.psnr || options.ssim || options.verify;
  return config;
}

std::string buffer_note(const io::VideoInfo& video) {
  return "the input's frame rate varies; the bitrate and its buffer count pictures at " +
         number_text(video.frame_rate) + " a second, whatever their times are";
}

// A bare stream has no times of its pictures, only the rate in its headers.
std::string fixed_rate_note(const io::VideoInfo& video) {
  return "the input's frame rate varies; a bare stream plays at " + number_text(video.frame_rate) +
         " frames a second, other outputs keep the times";
}

// Returns null if interrupted before the first picture.
std::unique_ptr<io::Reader> open_reader(const io::ReaderOptions& options) {
  try {
    auto reader = std::make_unique<io::Reader>(options);
    return reader->info().width > 0 ? std::move(reader) : nullptr;
  } catch (const Error&) {
    if (interrupted()) return nullptr;
    throw;
  }
}

// Says how the input is coded, for --verbose.
void print_details(const EncodeOptions& options, const io::Reader& reader, const EncoderInfo& info,
                   const io::Carried& carried) {
  const io::VideoInfo& video = reader.info();
  std::fprintf(stderr, "cu264: input: %s\n", reader.description().c_str());
  if (!options.reader.filters.empty())
    std::fprintf(stderr, "cu264: filters: %s\n", options.reader.filters.c_str());
  std::fprintf(stderr, "cu264: video: %dx%d, %.6g pictures a second, %s, level_idc %d, %s range\n",
               info.width, info.height, av_q2d(video.frame_rate), rate_text(options.config).c_str(),
               info.level_idc, video.full_range ? "full" : "limited");
  for (const io::CarriedStream& one : carried.streams) {
    std::fprintf(stderr, "cu264: %s: stream %d, %s\n",
                 one.convert_to == AV_CODEC_ID_NONE ? "copied" : "converted", one.stream->index,
                 avcodec_get_name(one.stream->codecpar->codec_id));
  }
  std::fprintf(stderr, "cu264: profile: %s\n", profile_text(info).c_str());
  std::fprintf(stderr, "cu264: backend: %s (%s), batches of %d\n", info.backend.c_str(),
               info.backend_reason.c_str(), info.batch);
}

// With a constant QP it is not known beforehand how many bits a stream takes.
std::string bit_rate_note(const EncodeOptions& options, const EncoderInfo& info, double kbps) {
  const double most = static_cast<double>(info.level_bit_rate) / 1000;
  if (options.config.level_idc == 0 || kbps <= most) return {};
  char text[120];
  std::snprintf(text, sizeof text, "the stream has %.0f kb/s, more than the %.0f that --level allows", kbps,
                most);
  return text;
}

// A picture that no QP makes small enough ends the video, and the pictures before it are a complete file.
[[noreturn]] void end_before_limit(const Error& error, const EncodeOptions& options, EncodeOutputs& outputs,
                                   const std::vector<std::string>& notes) {
  outputs.close();
  outputs.finish(notes);
  throw Error(error.code(), std::string(error.what()) + "; " + options.output + " has the " +
                                std::to_string(outputs.totals().frames()) + " pictures before it");
}

// The first pass of --target-size gives nothing but sizes.
EncodeOptions measuring_options(EncodeOptions options) {
  options.config.preset = Preset::fast;
  options.recon.clear();
  options.stats.clear();
  options.edges.reset(), options.config.edge_maps = false;
  options.psnr = options.ssim = options.verify = false;
  return options;
}

// One pass over the input. Returns nothing if the file does not have the size that --target-size asks for;
// the file is then removed, and `plan` has learnt from it.
std::optional<ExitCode> encode_once(const EncodeOptions& wanted, io::Reader& reader,
                                    const PictureRequests& requests, std::atomic<bool>& stop_reading,
                                    std::optional<SizePlan>& plan) {
  const io::VideoInfo& video = reader.info();
  if (wanted.target_size > 0 && !plan) {
    plan.emplace(wanted.target_size, wanted.config.preset, static_cast<double>(video.width) * video.height,
                 video.expected_frames);
  }
  EncodeOptions options = plan && plan->measures() ? measuring_options(wanted) : wanted;
  if (plan) options.config.crf = plan->crf(0);

  std::vector<std::string> notes;
  const io::Carried carried = io::carry(options.container, reader.carry_source(), notes);
  reader.keep(carried);
  const Config config = complete_config(options, video);
  Encoder encoder = options.coder ? published::open_encoder(config, *options.coder) : Encoder(config);
  const EncoderInfo info = described(options, encoder);
  for (const std::string& warning : info.warnings) notes.push_back(warning);
  if (const std::string chosen = profile_note(options, info); !chosen.empty()) notes.push_back(chosen);
  if (options.verbose) print_details(options, reader, info, carried);

  EncodeOutputs outputs(options, config, info, encoder.headers(), video, carried);
  try {
    if (encode_all(reader, encoder, outputs, stop_reading, requests, plan ? &*plan : nullptr) == 0)
      return interrupted_exit();
  } catch (const Error& error) {
    const bool limit = info.limits_pictures && error.code() == ErrorCode::encode_failure;
    if (!limit || plan || outputs.totals().frames() == 0) throw;
    end_before_limit(error, options, outputs, notes);
  }
  if (outputs.totals().frames() == 0)
    throw Error(ErrorCode::encode_failure, "every picture was dropped", "allow more bytes a picture");
  for (const std::string& note : reader.notes()) notes.push_back(note);
  if (options.container == io::Container::h264 && reader.rate_varies())
    notes.push_back(fixed_rate_note(video));
  else if (video.times_vary && config.bitrate > 0 && has_buffer(config))
    notes.push_back(buffer_note(video));
  const std::string exceeded = bit_rate_note(options, info, outputs.totals().kbps());
  if (!exceeded.empty()) notes.push_back(exceeded);
  const std::int64_t bytes = outputs.close();
  if (plan && !interrupted()) {
    const bool measured = plan->measures(), kept = plan->take(bytes);
    if (options.verbose)
      std::fprintf(stderr, "cu264: pass %d%s: %s\n", plan->passes(), measured ? " (fast)" : "",
                   plan->pass_text().c_str());
    if (!kept) return std::nullopt;
  }
  for (const std::string& note : outputs.notes()) notes.push_back(note);
  outputs.finish(notes);
  if (!options.quiet) {
    for (const std::string& note : notes) std::fprintf(stderr, "cu264: note: %s\n", note.c_str());
    const std::string found = plan && !interrupted() ? ", " + plan->summary() : "";
    std::fprintf(stderr, "cu264: %s%s%s\n", outputs.summary().c_str(), found.c_str(),
                 interrupted() ? ", interrupted" : "");
  }
  return interrupted() ? interrupted_exit() : ExitCode::done;
}

ExitCode encode(EncodeOptions options) {
  if (options.config.watermark) options.config.watermark->payload = read_payload(options.payload);
  PictureRequests requests;
  if (!options.list_file.empty()) options.config.scaling_lists = read_scaling_list_file(options.list_file);
  if (!options.qp_file.empty()) requests = read_qp_file(options.qp_file, options.config.gop != 1);
  std::atomic<bool> stop_reading{false};
  options.reader.whole_rate = options.config.bitrate > 0;
  options.reader.input.stop = [&] { return stop_reading || interrupted(); };
  std::optional<SizePlan> plan;
  for (bool first = true;; first = false) {
    const auto reader = open_reader(options.reader);
    if (!reader) return interrupted_exit();
    if (first) {
      for (const std::string& file : {options.output, options.recon, options.stats}) {
        check_overwrite(file, options.overwrite);
      }
      if (options.edges && options.edges->format == EdgeFormat::video)
        check_overwrite(options.edges->path, options.overwrite);
    }
    if (const auto exit = encode_once(options, *reader, requests, stop_reading, plan)) return *exit;
    stop_reading = false;  // the previous pass has ended
    // It may have left maps, which are the same in every pass.
    if (options.edges && plan && plan->passes() > 1) options.edges->overwrite = Overwrite::yes;
  }
}

}  // namespace

ExitCode encode_verb(const std::vector<std::string>& arguments) {
  io::set_up_av();
  catch_signals();
  const auto options = parse_encode_options(arguments);
  if (!options) return std::fputs(help_text(encode_help()).c_str(), stdout), ExitCode::done;
  return encode(*options);
}

}  // namespace cu264::app
