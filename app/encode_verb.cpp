// cu264 encode: opens what the options ask for, runs the loop and reports the result.
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/encode_loop.h"
#include "app/encode_outputs.h"
#include "app/interrupt.h"
#include "app/options.h"
#include "app/stream_command.h"
#include "app/verbs.h"

namespace cu264::app {
namespace {

Config complete_config(const EncodeOptions& options, const io::VideoInfo& video) {
  Config config = options.config;
  config.width = video.width, config.height = video.height;
  config.frame_rate = {video.frame_rate.num, video.frame_rate.den};
  config.time_base = {video.time_base.num, video.time_base.den};
  config.fixed_frame_rate = video.fixed_frame_rate;
  config.sample_aspect_ratio = {video.sample_aspect_ratio.num, video.sample_aspect_ratio.den};
  config.colour = {video.primaries, video.transfer, video.matrix, video.full_range};
  config.headers = io::separate_headers(options.container)  ? HeaderPlacement::separate
                   : io::repeats_headers(options.container) ? HeaderPlacement::every_packet
                                                            : HeaderPlacement::first_packet;
  config.reconstruction = !options.recon.empty() || options.psnr || options.ssim || options.verify;
  return config;
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

ExitCode encode(EncodeOptions options) {
  if (options.config.watermark) options.config.watermark->payload = read_payload(options.payload);
  std::atomic<bool> stop_reading{false};
  options.reader.input.stop = [&] { return stop_reading || interrupted(); };
  const auto opened = open_reader(options.reader);
  if (!opened) return interrupted_exit();
  io::Reader& reader = *opened;
  const io::VideoInfo& video = reader.info();

  std::vector<std::string> notes;
  const auto copied = io::copyable(options.container, reader.side_streams(), notes);
  reader.keep(copied);
  const Config config = complete_config(options, video);
  Encoder encoder = options.coder ? published::open_encoder(config, *options.coder) : Encoder(config);
  for (const std::string& warning : encoder.info().warnings) notes.push_back(warning);

  std::string summary;
  {
    EncodeOutputs outputs(options, config, encoder.info(), encoder.headers(), video, copied);
    if (encode_all(reader, encoder, outputs, stop_reading) == 0) return interrupted_exit();
    for (const std::string& note : reader.notes()) notes.push_back(note);
    outputs.finish(notes);
    summary = outputs.summary();
  }
  if (!options.quiet) {
    for (const std::string& note : notes) std::fprintf(stderr, "cu264: note: %s\n", note.c_str());
    std::fprintf(stderr, "cu264: %s%s\n", summary.c_str(), interrupted() ? ", interrupted" : "");
  }
  return interrupted() ? interrupted_exit() : ExitCode::done;
}

}  // namespace

ExitCode encode_verb(const std::vector<std::string>& arguments) {
  io::capture_av_log();
  catch_signals();
  const auto options = parse_encode_options(arguments);
  if (!options) return std::fputs(encode_help().c_str(), stdout), ExitCode::done;
  return encode(*options);
}

}  // namespace cu264::app
