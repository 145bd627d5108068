#include "app/edges_outputs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cu264/version.h"

namespace cu264::app {
namespace {

io::AvFrame new_frame(AVPixelFormat format, int width, int height) {
  io::AvFrame frame = io::make_frame();
  frame->format = format, frame->width = width, frame->height = height;
  const int result = av_frame_get_buffer(frame.get(), 0);
  if (result < 0) throw io::av_error(ErrorCode::out_of_memory, "edge map", "cannot be held", result);
  return frame;
}

const char* name_of(canny::Partition partition) {
  return partition == canny::Partition::columns ? "columns"
         : partition == canny::Partition::rows  ? "rows"
                                                : "frame";
}

const char* name_of(canny::ThresholdSource source) {
  switch (source) {
    case canny::ThresholdSource::own:
      return "own";
    case canny::ThresholdSource::pooled:
      return "pooled";
    case canny::ThresholdSource::ends:
      return "ends";
    case canny::ThresholdSource::none:
      return "none";
    case canny::ThresholdSource::fixed:
      return "fixed";
  }
  return "";
}

// Converts hundredths to the number that prints with two decimal places.
double fraction(int hundredths) {
  return hundredths / 100.0;
}

}  // namespace

io::AvFrame gray_map(const std::uint8_t* edges, int width, int height) {
  io::AvFrame frame = new_frame(AV_PIX_FMT_GRAY8, width, height);
  for (int y = 0; y < height; ++y) {
    std::copy_n(edges + static_cast<std::ptrdiff_t>(y) * width, width,
                frame->data[0] + y * frame->linesize[0]);
  }
  return frame;
}

io::AvFrame overlaid(const Frame& source, const std::uint8_t* edges, bool colour) {
  constexpr std::uint8_t kRed[3] = {81, 90, 240}, kWhite = 255, kNoColour = 128;
  const int width = source.width, height = source.height;
  io::AvFrame out = new_frame(colour ? AV_PIX_FMT_YUV420P : AV_PIX_FMT_GRAY8, width, height);
  const auto edge = [&](int x, int y) {
    return x < width && y < height && edges[static_cast<std::ptrdiff_t>(y) * width + x] != 0;
  };
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* const from = source.plane[0] + y * source.pitch[0];
    std::uint8_t* const to = out->data[0] + y * out->linesize[0];
    for (int x = 0; x < width; ++x) to[x] = edge(x, y) ? (colour ? kRed[0] : kWhite) : from[x];
  }
  if (!colour) return out;
  for (int plane = 1; plane <= 2; ++plane) {
    for (int y = 0; y < (height + 1) / 2; ++y) {
      std::uint8_t* const to = out->data[plane] + y * out->linesize[plane];
      for (int x = 0; x < (width + 1) / 2; ++x) {
        const bool red = edge(2 * x, 2 * y) || edge(2 * x + 1, 2 * y) || edge(2 * x, 2 * y + 1) ||
                         edge(2 * x + 1, 2 * y + 1);
        if (red) {
          to[x] = kRed[plane];
        } else if (source.format == PixelFormat::gray8) {
          to[x] = kNoColour;
        } else if (source.format == PixelFormat::nv12) {
          to[x] = source.plane[1][y * source.pitch[1] + 2 * x + plane - 1];
        } else {
          to[x] = source.plane[plane][y * source.pitch[plane] + x];
        }
      }
    }
  }
  return out;
}

std::unique_ptr<EdgeSink> open_edge_sink(const EdgesOutput& output, const io::VideoInfo& video) {
  return output.format == EdgeFormat::video ? open_video_sink(output, video) : open_picture_sink(output);
}

ThresholdsFile::ThresholdsFile(const EdgesOptions& options, const canny::Detector& detector,
                               const io::VideoInfo& video)
    : file_(options.thresholds) {
  const canny::Params& params = options.params;
  io::Json candidates = io::Json::array();
  for (const int level : params.candidates) candidates.push_back(fraction(level));
  io::Json head = {{"cu264", version()},
                   {"input", options.reader.input.path},
                   {"width", video.width},
                   {"height", video.height},
                   {"backend", detector.backend()},
                   {"sigma", params.sigma_tenths / 10.0},
                   {"partition", name_of(params.fixed ? canny::Partition::frame : params.partition)},
                   {"sub_images", detector.sub_images()}};
  if (!params.fixed) head["candidates"] = candidates;
  file_.begin(head);
}

void ThresholdsFile::picture(std::int64_t index, double seconds,
                             std::span<const canny::Thresholds> thresholds) {
  io::Json list = io::Json::array();
  for (const canny::Thresholds& one : thresholds) {
    io::Json entry = {{"low", nullptr}, {"high", nullptr}, {"source", name_of(one.source)}};
    if (one.source != canny::ThresholdSource::none) {
      entry["low"] = fraction(one.low), entry["high"] = fraction(one.high);
    }
    list.push_back(entry);
  }
  file_.picture({{"index", index}, {"seconds", seconds}, {"thresholds", list}});
}

}  // namespace cu264::app
