// The outputs of edge maps: picture files or a video, and on request the thresholds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/edges_options.h"
#include "io/statistics.h"
#include "io/video_info.h"

namespace cu264::app {

// One kind of output. Files that were not finished are removed.
class EdgeSink {
 public:
  virtual ~EdgeSink() = default;
  // `shown` is the edge map as gray8, or the picture with edges drawn on it.
  virtual void picture(const io::VideoPicture& shown) = 0;
  virtual void finish() = 0;
  virtual std::uint64_t bytes() const = 0;
};

// Opens what the output asks for.
std::unique_ptr<EdgeSink> open_edge_sink(const EdgesOutput& output, const io::VideoInfo& video);
std::unique_ptr<EdgeSink> open_picture_sink(const EdgesOutput& output);
std::unique_ptr<EdgeSink> open_video_sink(const EdgesOutput& output, const io::VideoInfo& video);

// The first returns the edge map as a picture of its own, the second the source with the edges on it: in red
// as yuv420p, or in white as gray8.
io::AvFrame gray_map(const std::uint8_t* edges, int width, int height);
io::AvFrame overlaid(const Frame& source, const std::uint8_t* edges, bool colour);

// Writes the --thresholds file.
class ThresholdsFile {
 public:
  ThresholdsFile(const EdgesOptions& options, const canny::Detector& detector, const io::VideoInfo& video);
  void picture(std::int64_t index, double seconds, std::span<const canny::Thresholds> thresholds);
  void finish(std::int64_t count) { file_.finish({{"count", count}}); }

 private:
  io::Statistics file_;
};

}  // namespace cu264::app
