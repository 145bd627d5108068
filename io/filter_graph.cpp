#include "io/filter_graph.h"

extern "C" {
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
}

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

#include "io/inside_av.h"

namespace cu264::io {
namespace {

// These flags are for scale filters that name none: those of ffmpeg and, as in Converter, the bit-exact code
// paths, so that the same input gives the same stream on every processor.
constexpr char kScaleFlags[] = "flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp+bitexact";

struct EndsDeleter {
  void operator()(AVFilterInOut* ends) const { avfilter_inout_free(&ends); }
};
using Ends = std::unique_ptr<AVFilterInOut, EndsDeleter>;

// Describes the open end of a graph where `filter` is.
Ends open_end(const char* name, AVFilterContext* filter) {
  Ends end(avfilter_inout_alloc());
  if (!end) throw std::bad_alloc();
  end->name = av_strdup(name);
  if (!end->name) throw std::bad_alloc();
  end->filter_ctx = filter;
  return end;
}

}  // namespace

FilterGraph::FilterGraph(const std::string& graph, const AVFrame& first, AVRational time_base,
                         AVRational frame_rate, const std::vector<std::string>& before)
    : graph_(avfilter_graph_alloc()) {
  const InsideAv inside;
  if (!graph_) throw std::bad_alloc();
  forget_av_log();
  graph_->scale_sws_opts = av_strdup(kScaleFlags);
  add_source(first, time_base, frame_rate);
  for (const std::string& filter : before) append(filter);
  check(avfilter_graph_create_filter(&sink_, avfilter_get_by_name("buffersink"), "out", nullptr, nullptr,
                                     graph_.get()),
        "the end of the graph");
  link(graph);
}

void FilterGraph::add_source(const AVFrame& first, AVRational time_base, AVRational frame_rate) {
  source_ = avfilter_graph_alloc_filter(graph_.get(), avfilter_get_by_name("buffer"), "in");
  AVBufferSrcParameters* parameters = av_buffersrc_parameters_alloc();
  if (!source_ || !parameters) {
    av_free(parameters);
    throw std::bad_alloc();
  }
  parameters->format = first.format;
  parameters->width = first.width, parameters->height = first.height;
  parameters->sample_aspect_ratio = first.sample_aspect_ratio;
  parameters->time_base = time_base, parameters->frame_rate = frame_rate;
#if LIBAVFILTER_VERSION_MAJOR >= 10  // FFmpeg 7.0
  parameters->color_space = first.colorspace, parameters->color_range = first.color_range;
#endif
  const int result = av_buffersrc_parameters_set(source_, parameters);
  av_free(parameters);
  check(result, "the beginning of the graph");
  check(avfilter_init_str(source_, nullptr), "the beginning of the graph");
  last_ = source_;
}

void FilterGraph::append(const std::string& filter) {
  AVFilterContext* added = nullptr;
  check(avfilter_graph_create_filter(&added, avfilter_get_by_name(filter.c_str()), filter.c_str(), nullptr,
                                     nullptr, graph_.get()),
        filter);
  check(avfilter_link(last_, 0, added, 0), filter);
  last_ = added;
}

void FilterGraph::link(const std::string& graph) {
  // The graph's open output is behind the filters so far, and its open input where the sink is.
  Ends first = open_end("in", last_), last = open_end("out", sink_);
  AVFilterInOut *outputs = first.release(), *inputs = last.release();
  const int parsed = avfilter_graph_parse_ptr(graph_.get(), graph.c_str(), &inputs, &outputs, nullptr);
  const Ends left_outputs(outputs), left_inputs(inputs);
  check(parsed, graph);
  if (left_outputs || left_inputs) {
    throw Error(ErrorCode::invalid_argument, "--vf " + graph + ": does not lead from one input to one output",
                "label no other ends");
  }
  check(avfilter_graph_config(graph_.get(), nullptr), graph);
}

void FilterGraph::push(AVFrame& frame) {
  const InsideAv inside;
  check(av_buffersrc_add_frame(source_, &frame), "cannot filter");
}

void FilterGraph::finish(std::int64_t end) {
  check(av_buffersrc_close(source_, end, 0), "cannot finish");
}

bool FilterGraph::pull(AVFrame& frame) {
  const InsideAv inside;
  const int result = av_buffersink_get_frame(sink_, &frame);
  if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) return false;
  check(result, "cannot filter");
  // Not every filter that changes the shape of samples says so in each frame.
  frame.sample_aspect_ratio = av_buffersink_get_sample_aspect_ratio(sink_);
  return true;
}

AVRational FilterGraph::time_base() const {
  return av_buffersink_get_time_base(sink_);
}
AVRational FilterGraph::frame_rate() const {
  const AVRational rate = av_buffersink_get_frame_rate(sink_);
  return rate.num > 0 && rate.den > 0 ? rate : AVRational{0, 1};
}

bool FilterGraph::fills_gaps() const {
  static constexpr const char* kNames[] = {"fps", "framerate", "minterpolate"};
  for (unsigned i = 0; i < graph_->nb_filters; ++i) {
    const char* const name = graph_->filters[i]->filter->name;
    if (std::any_of(std::begin(kNames), std::end(kNames),
                    [&](const char* one) { return std::strcmp(one, name) == 0; }))
      return true;
  }
  return false;
}

void FilterGraph::check(int result, const std::string& doing) {
  if (result < 0) throw av_error(ErrorCode::invalid_argument, "--vf", doing, result);
}

}  // namespace cu264::io
