// Filters of libavfilter between the decoder and the encoder, in the syntax of ffmpeg's -vf.
#pragma once

#include <cstdint>  // libavutil insists on its macros

extern "C" {
#include <libavfilter/avfilter.h>
}

#include <memory>
#include <string>
#include <vector>

#include "io/av.h"

namespace cu264::io {

class FilterGraph {
 public:
  // `first` shows what the frames are like; their times are in `time_base`. Throws Error(invalid_argument)
  // with libavfilter's reason if the graph is not understood, or does not have one input and one output of
  // video. The filters that `before` names stand before the graph.
  FilterGraph(const std::string& graph, const AVFrame& first, AVRational time_base, AVRational frame_rate,
              const std::vector<std::string>& before = {});

  void push(AVFrame& frame);      // takes what the frame refers to
  void finish(std::int64_t end);  // no more frames will be pushed; `end` is when the last one ends
  // Takes the next frame that the filters have ready. Returns false if they need more or, after finish(), if
  // there are no more.
  bool pull(AVFrame& frame);

  // These describe the frames that come out.
  AVRational time_base() const;
  // Whether pictures that leave the graph may last differently long, if those that enter it do, or do not.
  bool times_vary(bool entering) const;
  AVRational frame_rate() const;  // 0/1 if the filters do not know
  // The filter after which pictures changed their size within the graph, and were scaled to that of the
  // first; empty if there was none.
  const std::string& changing() const { return changing_; }
  // True if a filter fills the time between two frames with as many as its rate asks for.
  bool fills_gaps() const;

 private:
  struct Deleter {
    void operator()(AVFilterGraph* graph) const { avfilter_graph_free(&graph); }
  };

  void add_source(const AVFrame& first, AVRational time_base, AVRational frame_rate);
  void append(const std::string& filter);
  void link(const std::string& graph);
  void keep_sizes();
  AVFilterContext* insert(const char* name, AVFilterLink& link, const char* arguments);
  void look_for_changes();
  static void check(int result, const std::string& doing);

  std::unique_ptr<AVFilterGraph, Deleter> graph_;
  AVFilterContext* source_ = nullptr;  // all three belong to the graph
  AVFilterContext* last_ = nullptr;    // the user's graph follows this one
  AVFilterContext* sink_ = nullptr;
  std::vector<AVFilterContext*> keepers_;  // scale filters whose output has one size
  std::string changing_;
};

}  // namespace cu264::io
