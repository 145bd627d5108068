#include "io/filter_graph.h"

extern "C" {
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/opt.h>
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

bool is_named(const AVFilterContext& filter, const char* name) {
  return std::strcmp(filter.filter->name, name) == 0;
}

// Says whether a filter's pictures may each have another size: by an expression that is computed for each, by
// commands of another filter, or because they come from a file.
bool may_change_size(const AVFilterContext& filter, bool commanded) {
  if (is_named(filter, "movie")) return true;
  if (is_named(filter, "streamselect")) return commanded;
  if (!filter.filter->priv_class || !av_opt_find(filter.priv, "w", nullptr, 0, 0)) return false;
  std::int64_t evaluated = 0;
  constexpr std::int64_t kOnce = 0;  // the "init" of scale, scale2ref and pad
  return commanded || (av_opt_get_int(filter.priv, "eval", 0, &evaluated) >= 0 && evaluated != kOnce);
}

// The filter after a link, or after those that only say what format is wanted.
const AVFilterContext& next_that_works(const AVFilterLink& link) {
  const AVFilterContext* next = link.dst;
  while (is_named(*next, "format") || is_named(*next, "noformat") || is_named(*next, "null"))
    next = next->outputs[0]->dst;
  return *next;
}

// Says whether the filter makes pictures of one rate.
bool keeps_a_rate(const AVFilterContext& filter) {
  return is_named(filter, "fps") || is_named(filter, "framerate") || is_named(filter, "minterpolate");
}

// Says whether the graph has a filter by which it changes the options of others while it runs.
bool has_commands(const AVFilterGraph& graph) {
  return std::any_of(graph.filters, graph.filters + graph.nb_filters, [](const AVFilterContext* filter) {
    return is_named(*filter, "sendcmd") || is_named(*filter, "zmq");
  });
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
  // The graph's open output comes after the filters so far, and its open input is at the sink.
  Ends first = open_end("in", last_), last = open_end("out", sink_);
  AVFilterInOut *outputs = first.release(), *inputs = last.release();
  const int parsed = avfilter_graph_parse_ptr(graph_.get(), graph.c_str(), &inputs, &outputs, nullptr);
  const Ends left_outputs(outputs), left_inputs(inputs);
  check(parsed, graph);
  if (left_outputs || left_inputs) {
    throw Error(ErrorCode::invalid_argument, "--vf " + graph + ": does not lead from one input to one output",
                "label no other ends");
  }
  keep_sizes();
  check(avfilter_graph_config(graph_.get(), nullptr), graph);
}

// Filters are made for pictures of one size, and read or write beyond the planes of others. So after each
// filter that may change the size within the graph comes a scale filter, which takes any size and leaves
// pictures of the right size alone. It goes by the size of the link before it, which the changing filter may
// change as well, so a filter that does nothing separates the two.
void FilterGraph::keep_sizes() {
  const bool commanded = has_commands(*graph_);
  const std::vector<AVFilterContext*> filters(graph_->filters, graph_->filters + graph_->nb_filters);
  for (const AVFilterContext* const filter : filters) {
    if (filter == source_ || !may_change_size(*filter, commanded)) continue;
    for (unsigned i = 0; i < filter->nb_outputs; ++i) {
      AVFilterLink* const out = filter->outputs[i];
      if (!out || out->dst == sink_) continue;
      if (avfilter_pad_get_type(filter->output_pads, static_cast<int>(i)) != AVMEDIA_TYPE_VIDEO) continue;
      const AVFilterContext& next = next_that_works(*out);
      const bool takes_any_size = &next == sink_ || is_named(next, "scale");
      if (!takes_any_size) keepers_.push_back(insert("scale", *out, kScaleFlags));
      insert("null", *out, nullptr);
    }
  }
}

// Inserts a filter after the one from which the link comes.
AVFilterContext* FilterGraph::insert(const char* name, AVFilterLink& link, const char* arguments) {
  AVFilterContext* filter = nullptr;
  check(avfilter_graph_create_filter(&filter, avfilter_get_by_name(name), "inserted", arguments, nullptr,
                                     graph_.get()),
        name);
  check(avfilter_insert_filter(&link, filter, 0, 0), name);
  return filter;
}

void FilterGraph::look_for_changes() {
  for (const AVFilterContext* const keeper : keepers_) {
    const AVFilterLink &in = *keeper->inputs[0], &out = *keeper->outputs[0];
    if (changing_.empty() && (in.w != out.w || in.h != out.h))
      changing_ = in.src->inputs[0]->src->filter->name;
  }
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
  look_for_changes();
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
  const AVFilterContext* const* const filters = graph_->filters;
  return std::any_of(filters, filters + graph_->nb_filters,
                     [](const AVFilterContext* filter) { return keeps_a_rate(*filter); });
}

bool FilterGraph::times_vary(bool entering) const {
  bool vary = entering;
  for (unsigned i = 0; i < graph_->nb_filters; ++i) {
    const AVFilterContext& filter = *graph_->filters[i];
    if (keeps_a_rate(filter)) vary = false;
    for (const char* const name : {"setpts", "select", "mpdecimate"}) vary = vary || is_named(filter, name);
  }
  return vary;
}

void FilterGraph::check(int result, const std::string& doing) {
  if (result < 0) throw av_error(ErrorCode::invalid_argument, "--vf", doing, result);
}

}  // namespace cu264::io
