// Reads a video: pictures in a format that the encoder takes, and the packets of the other streams beside
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/av_input.h"
#include "io/carried.h"
#include "io/converter.h"
#include "io/damage.h"
#include "io/filter_graph.h"
#include "io/frame_source.h"
#include "io/picture_side_data.h"
#include "io/picture_tags.h"
#include "io/picture_turner.h"
#include "io/rate_meter.h"
#include "io/scaler.h"
#include "io/side_streams.h"
#include "io/stream_choice.h"
#include "io/timestamps.h"
#include "io/video_info.h"

namespace cu264::io {

struct ReaderOptions {
  InputOptions input;
  StreamChoice streams;
  InputSpan span;
  bool allow_partial = false;  // accept a damaged or cut-off input as far as it can be read
  bool autorotate = false;     // turn the pictures, instead of asking players to
  std::int64_t frames = 0;     // the largest number of pictures; 0: all
  PictureTags tags;            // instead of what the input says of its pictures
  std::string filters;         // a graph of libavfilter; empty: none
  bool whole_rate = false;  // whether the rate varies follows from all pictures of a file, not from its first
  int max_side = 8192;      // wider or higher pictures are refused
};

class Reader {
 public:
  // Opens the input and decodes the first picture, so info() describes what was seen.
  explicit Reader(const ReaderOptions& options);

  const VideoInfo& info() const { return info_; }

  // Describes in a few words what is read: the container, the codec and the pictures before any filter.
  std::string description() const;

  // Returns what there is beside the pictures. All packets are read, until keep() says what is wanted.
  CarrySource carry_source() const;
  void keep(const Carried& carried);

  // Reads the next picture, or returns false at the end. Appends to `side` the packets that come before the
  // picture's end; their stream_index is the input's. With a seek, the times of all streams are counted from
  // there.
  bool read(VideoPicture& picture, std::vector<AvPacket>& side);

  // Returns whether pictures so far were not at equal distances in time.
  bool rate_varies() const { return frames_.timestamps().varies(); }

  // Returns notes for the user, one line each; complete when read() has returned false.
  std::vector<std::string> notes() const;

 private:
  static std::string size_text(int width, int height);
  AVRational told_frame_rate() const;
  void fill_frame_rate();
  void fill_mean_rate();
  std::string time_code() const;
  bool measure_rate(RateMeter& meter);
  void look_for_matrix(const AVFrame& frame);
  void fill_info(const AVFrame& frame);
  void fill_expected_frames();
  bool next_picture(VideoPicture& picture);
  bool next_frame(AVFrame& frame);    // as it is coded: filtered, with its time in info_.time_base
  bool next_source(AVFrame& frame);   // from the decoder, with the tags that the caller asks for
  void open_filters(AVFrame& first);  // for frames like this one
  void filter(AvFrame source);
  void push(AVFrame& source);  // to the filters, which are open
  void check_gap(double pictures) const;
  void check_ratio(AVRational ratio) const;
  void check_frame(const AVFrame& frame);
  void check_filtered(const AVFrame& frame);

  ReaderOptions options_;
  std::string name_;
  AvInput input_;
  Damage damage_;
  ChosenStreams chosen_;
  AVStream* stream_;
  SideStreams side_;
  FrameSource frames_;
  Converter converter_;
  PictureTurner turner_;
  VideoInfo info_;
  AVRational clock_rate_{25, 1};  // makes the times of a bare stream; in info_ is the mean rate

  std::optional<DisplayMatrix> matrix_;       // what players are still asked to do
  bool turned_ = false;                       // whether the pictures are turned here
  std::unique_ptr<FilterGraph> filters_;      // null before the first frame, or without --vf
  AvFrame before_filters_;                    // waits until the filters for frames like it are made
  std::vector<std::string> turning_filters_;  // that stand before the user's
  AVRational into_filters_rate_{25, 1};
  PictureShape into_filters_, out_of_filters_;    // the first frame there; of no format before it
  AVRational into_filters_ratio_{0, 1};           // its sample aspect ratio
  Timestamps filtered_{{1, 25}, {25, 1}, false};  // the times of what leaves the filters
  std::int64_t repeats_ = 0;                      // the frames that came out since the last went in
  bool pushed_ = false;                           // they saw a frame
  std::int64_t source_end_ = 0;                   // the end of the last one
  bool sources_ended_ = false;                    // whether the filters have seen the last frame
  int source_width_ = 0, source_height_ = 0;      // before the filters; 0 before the first frame
  std::int64_t pictures_ = 0;                     // the number handed out, without `ahead_`
  std::int64_t video_end_ = 0;                    // the end of the last picture handed out
  VideoPicture ahead_;                            // the next picture, already decoded
  bool has_ahead_ = false;
  PictureSideData side_data_;
  std::set<std::string> untaken_;  // what pictures have and no output takes
  bool transparent_ = false;       // whether alpha was dropped that was not opaque
  std::int64_t captioned_ = 0;     // the number of pictures that came with closed captions
  std::int64_t captions_ = 0;      // and of those that were handed out with them
  std::vector<std::string> notes_;
};

}  // namespace cu264::io
