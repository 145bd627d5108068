// Writes edge maps as a video with the encoder: in gray, or as the picture with edges on it.
#include <deque>

#include "app/edges_outputs.h"
#include "app/video_config.h"
#include "io/muxer.h"
#include "io/output_file.h"

namespace cu264::app {
namespace {

Config complete_config(const EdgesOutput& output, const io::VideoInfo& video) {
  Config config = output.config;
  take_video(video, config);
  if (output.overlay) {
    config.colour = {video.primaries, video.transfer, video.matrix, video.full_range};
  } else {
    config.colour.full_range = true;  // the samples are 0 and 255
  }
  config.headers =
      io::separate_headers(output.container) ? HeaderPlacement::separate : HeaderPlacement::every_packet;
  return config;
}

io::MuxerOptions muxer_options(const EdgesOutput& output, const Encoder& encoder,
                               const io::VideoInfo& video) {
  io::MuxerOptions muxer;
  muxer.container = output.container;
  muxer.video = video;
  muxer.video.width = encoder.info().width, muxer.video.height = encoder.info().height;
  if (!output.overlay) muxer.video.full_range = true;
  muxer.headers = encoder.headers();
  return muxer;
}

class VideoSink : public EdgeSink {
 public:
  VideoSink(const EdgesOutput& output, const io::VideoInfo& video)
      : encoder_(complete_config(output, video)),
        file_(output.path),
        muxer_(file_, muxer_options(output, encoder_, video)) {}

  void picture(const io::VideoPicture& shown) override {
    while (!encoder_.send(shown.view())) write(encoder_.receive().value());
    durations_.push_back(shown.duration);
  }

  void finish() override {
    encoder_.flush();
    while (const auto packet = encoder_.receive()) write(*packet);
    muxer_.finish();
    file_.commit();
  }

  std::uint64_t bytes() const override { return file_.bytes(); }

 private:
  void write(const Packet& packet) {
    muxer_.write(packet.data, packet.pts, durations_.front());
    durations_.pop_front();
  }

  Encoder encoder_;
  io::OutputFile file_;
  io::Muxer muxer_;
  std::deque<std::int64_t> durations_;  // durations of the pictures that were sent and not yet received
};

}  // namespace

std::unique_ptr<EdgeSink> open_video_sink(const EdgesOutput& output, const io::VideoInfo& video) {
  return std::make_unique<VideoSink>(output, video);
}

}  // namespace cu264::app
