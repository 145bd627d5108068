// cu264 edges: reads pictures, finds their edges and writes them.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/edges_options.h"
#include "app/edges_outputs.h"
#include "app/interrupt.h"
#include "app/verbs.h"
#include "io/progress.h"
#include "vision/published/open_detector.h"

namespace cu264::app {
namespace {

using Clock = std::chrono::steady_clock;

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

canny::Detector open_detector(const EdgesOptions& options, const io::VideoInfo& video) {
  if (options.published)
    return published::open_detector(options.params, video.width, video.height, options.execution);
  return canny::Detector(options.params, video.width, video.height, options.execution);
}

class EdgesRun {
 public:
  EdgesRun(const EdgesOptions& options, io::Reader& reader)
      : options_(options),
        reader_(reader),
        video_(reader.info()),
        detector_(open_detector(options, video_)),
        sink_(open_edge_sink(options.output, video_)),
        progress_(options.progress),
        edges_(static_cast<std::size_t>(video_.width) * static_cast<std::size_t>(video_.height)),
        thresholds_(static_cast<std::size_t>(detector_.sub_images())) {
    if (!options.thresholds.empty()) thresholds_file_.emplace(options, detector_, video_);
  }

  void all() {
    std::vector<io::AvPacket> side;
    for (io::VideoPicture source; !interrupted() && reader_.read(source, side);) {
      side.clear();
      one(source);
    }
    progress_.clear();
    if (count_ == 0) return;  // interrupted: a file without a picture is none, and goes with its sink
    sink_->finish();
    if (thresholds_file_) thresholds_file_->finish(count_);
  }

  std::string summary() const {
    char text[120];
    std::snprintf(text, sizeof text, "edges of %lld picture%s of %dx%d in %.2f s, backend ",
                  static_cast<long long>(count_), count_ == 1 ? "" : "s", video_.width, video_.height,
                  elapsed());
    return text + detector_.backend() + " (" + detector_.backend_reason() + ")";
  }

 private:
  void one(const io::VideoPicture& source) {
    const Frame frame = source.view();
    detector_.detect({frame.plane[0], frame.pitch[0]}, {edges_.data(), video_.width}, thresholds_.data());
    io::VideoPicture shown;
    shown.frame = options_.output.overlay
                      ? overlaid(frame, edges_.data(), options_.output.format != EdgeFormat::pgm)
                      : gray_map(edges_.data(), video_.width, video_.height);
    shown.pts = source.pts, shown.duration = source.duration;
    sink_->picture(shown);
    const double unit = av_q2d(video_.time_base);
    if (thresholds_file_) {
      thresholds_file_->picture(count_, static_cast<double>(source.pts) * unit, thresholds_);
    }
    ++count_;
    seconds_ += static_cast<double>(source.duration) * unit;
    progress_.update({count_, video_.expected_frames, sink_->bytes(), seconds_, elapsed()});
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  const EdgesOptions& options_;
  io::Reader& reader_;
  io::VideoInfo video_;
  canny::Detector detector_;
  std::unique_ptr<EdgeSink> sink_;
  std::optional<ThresholdsFile> thresholds_file_;
  io::Progress progress_;
  std::vector<std::uint8_t> edges_;
  std::vector<canny::Thresholds> thresholds_;
  std::int64_t count_ = 0;
  double seconds_ = 0;
  Clock::time_point start_ = Clock::now();
};

ExitCode edges(EdgesOptions options) {
  options.reader.input.stop = [] { return interrupted(); };
  const auto reader = open_reader(options.reader);
  if (!reader) return interrupted_exit();
  check_overwrite(options.thresholds, options.output.overwrite);
  if (options.output.format == EdgeFormat::video)
    check_overwrite(options.output.path, options.output.overwrite);
  reader->keep({});
  std::string summary;
  {
    EdgesRun run(options, *reader);
    run.all();
    summary = run.summary();
  }
  if (!options.quiet) {
    for (const std::string& note : reader->notes()) std::fprintf(stderr, "cu264: note: %s\n", note.c_str());
    std::fprintf(stderr, "cu264: %s%s\n", summary.c_str(), interrupted() ? ", interrupted" : "");
  }
  return interrupted() ? interrupted_exit() : ExitCode::done;
}

}  // namespace

ExitCode edges_verb(const std::vector<std::string>& arguments) {
  io::set_up_av();
  catch_signals();
  const auto options = parse_edges_options(arguments);
  if (!options) return std::fputs(help_text(edges_help()).c_str(), stdout), ExitCode::done;
  return edges(*options);
}

}  // namespace cu264::app
