// One of libavformat's muxers that writes into an OutputFile: a coded video, and what is carried beside it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/av.h"
#include "io/carried.h"
#include "io/output_container.h"
#include "io/output_file.h"
#include "io/subtitle_converter.h"

namespace cu264::io {

class ContainerWriter {
 public:
  // `file` belongs to the caller, who commits it after finish().
  ContainerWriter(OutputFile& file, Container container);
  ~ContainerWriter();
  ContainerWriter(const ContainerWriter&) = delete;
  ContainerWriter& operator=(const ContainerWriter&) = delete;

  AVFormatContext& context() { return *context_; }
  // Adds the stream of the coded video. The caller describes it.
  AVStream& add_video();
  // Adds streams, chapters and tags, after the video.
  void carry(const Carried& carried);
  void begin(AvOptions& options);

  // Writes a packet whose stream_index and times are the output's.
  void write(AVPacket& packet);
  // Writes a packet of a carried stream, with its input's stream_index and in its time_base; drops any other.
  void copy(AVPacket& packet);
  void finish();

  // Returns notes for the user, one line each; complete after finish().
  std::vector<std::string> notes() const;

  // Throws for a result of libav that is an error, with the cause in the file if there is one.
  void check(int result, const char* doing) const;

 private:
  struct Copy {
    AVStream* to;
    std::unique_ptr<SubtitleConverter> converter;  // null: the packets are copied
    int delay = 0;                                 // how many pictures a video's decoder holds back
    std::int64_t next_dts = AV_NOPTS_VALUE;        // expected, in the input's time base
    std::int64_t last_dts = AV_NOPTS_VALUE;        // in the output's
    std::int64_t dropped = 0;                      // subtitles that do not say how long they are shown
  };

  AVStream& add_stream();
  void add(const CarriedStream& carried, const std::string& file);
  void add_cover(const AVStream& cover);
  void write_covers();
  std::int64_t movie_timescale() const;
  static void complete_times(Copy& copy, AVPacket& packet);
  void keep_order(Copy& copy, AVPacket& packet) const;

  OutputFile& file_;
  Container container_;
  AvIo io_;
  AVFormatContext* context_ = nullptr;
  std::map<int, Copy> copies_;  // by the input's stream index
  std::map<const AVStream*, const AVStream*>
      covers_;  // by the output's stream: pictures that are written first
};

}  // namespace cu264::io
