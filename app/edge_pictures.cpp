// Writes edge maps as picture files, one for each: PNG with libavcodec, PGM directly.
#include <optional>
#include <string>

#include "app/edges_outputs.h"
#include "io/output_file.h"

namespace cu264::app {
namespace {

// Returns "out%04d.png" with the picture's number in it; empty if the name has no place for one.
std::string numbered(const std::string& pattern, std::int64_t number) {
  char name[4096];
  const bool fits = av_get_frame_filename(name, sizeof name, pattern.c_str(), static_cast<int>(number)) == 0;
  return fits ? name : "";
}

class PngCoder {
 public:
  void write(const AVFrame& frame, io::OutputFile& file) {
    io::AvFrame rgb;
    const AVFrame* coded = &frame;
    if (frame.format != AV_PIX_FMT_GRAY8) rgb = to_rgb(frame), coded = rgb.get();
    if (!codec_) open(*coded);
    check(avcodec_send_frame(codec_.get(), coded));
    check(avcodec_receive_packet(codec_.get(), packet_.get()));
    file.write(packet_->data, static_cast<std::size_t>(packet_->size));
    av_packet_unref(packet_.get());
  }

 private:
  static void check(int result) {
    if (result < 0) throw io::av_error(ErrorCode::encode_failure, "PNG", "cannot encode", result);
  }

  void open(const AVFrame& frame) {
    const AVCodec* const encoder = avcodec_find_encoder(AV_CODEC_ID_PNG);
    if (!encoder) {
      throw Error(ErrorCode::unsupported, "this FFmpeg cannot write PNG", "name the output .pgm");
    }
    codec_.reset(avcodec_alloc_context3(encoder));
    if (!codec_) check(AVERROR(ENOMEM));
    codec_->width = frame.width, codec_->height = frame.height;
    codec_->pix_fmt = static_cast<AVPixelFormat>(frame.format);
    codec_->time_base = {1, 25};
    codec_->thread_count = 1;  // each picture that goes in gives its packet at once
    check(avcodec_open2(codec_.get(), encoder, nullptr));
  }

  io::AvFrame to_rgb(const AVFrame& frame) {
    if (!scaler_) {
      scaler_.reset(sws_getContext(frame.width, frame.height, static_cast<AVPixelFormat>(frame.format),
                                   frame.width, frame.height, AV_PIX_FMT_RGB24,
                                   SWS_BICUBIC | SWS_ACCURATE_RND, nullptr, nullptr, nullptr));
      if (!scaler_) check(AVERROR(ENOMEM));
    }
    io::AvFrame rgb = io::make_frame();
    rgb->format = AV_PIX_FMT_RGB24, rgb->width = frame.width, rgb->height = frame.height;
    check(av_frame_get_buffer(rgb.get(), 0));
    check(sws_scale(scaler_.get(), frame.data, frame.linesize, 0, frame.height, rgb->data, rgb->linesize));
    return rgb;
  }

  io::AvCodec codec_;
  io::AvScaler scaler_;
  io::AvPacket packet_ = io::make_packet();
};

class PictureSink : public EdgeSink {
 public:
  explicit PictureSink(const EdgesOutput& output)
      : pattern_(output.path),
        png_(output.format == EdgeFormat::png),
        input_(output.input),
        overwrite_(output.overwrite),
        numbered_(!numbered(pattern_, 1).empty()) {
    if (pattern_ == "-") pipe_.emplace("-");
  }

  void picture(const io::VideoPicture& shown) override {
    ++count_;
    if (pipe_) return write(*shown.frame, *pipe_);
    if (!numbered_ && count_ > 1) {
      throw Error(ErrorCode::invalid_argument, pattern_ + ": names one picture, but there are more",
                  "put a number like %04d into it, or --frames 1");
    }
    const std::string name = numbered_ ? numbered(pattern_, count_) : pattern_;
    if (input_ != "-" && io::same_file(name, input_)) {
      throw Error(ErrorCode::invalid_argument, name + ": is the input", "name another output");
    }
    check_overwrite(name, overwrite_);
    // A picture under a name without a number waits for finish(); it is not written if there turn out to be
    // more.
    last_.emplace(name);
    write(*shown.frame, *last_);
    if (numbered_) last_->commit();
  }

  void finish() override {
    if (pipe_) pipe_->close();
    if (last_ && !numbered_) last_->commit();
  }

  std::uint64_t bytes() const override { return bytes_; }

 private:
  void write(const AVFrame& frame, io::OutputFile& file) {
    const std::uint64_t before = file.bytes();
    if (png_) {
      coder_.write(frame, file);
    } else {
      const std::string head =
          "P5\n" + std::to_string(frame.width) + " " + std::to_string(frame.height) + "\n255\n";
      file.write(head.data(), head.size());
      for (int y = 0; y < frame.height; ++y) {
        file.write(frame.data[0] + y * frame.linesize[0], static_cast<std::size_t>(frame.width));
      }
    }
    bytes_ += file.bytes() - before;
  }

  std::string pattern_;
  bool png_;
  std::string input_;
  Overwrite overwrite_;
  bool numbered_;
  PngCoder coder_;
  std::optional<io::OutputFile> pipe_;
  std::optional<io::OutputFile> last_;
  std::int64_t count_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<EdgeSink> open_picture_sink(const EdgesOutput& output) {
  return std::make_unique<PictureSink>(output);
}

}  // namespace cu264::app
