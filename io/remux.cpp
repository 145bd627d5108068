#include "io/remux.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <utility>

#include "io/access_unit_reader.h"
#include "io/av_input.h"
#include "io/av_output.h"
#include "io/output_container.h"

namespace cu264::io {
namespace {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

constexpr std::uint8_t kStartCode[4] = {0, 0, 0, 1};

// Converts between annex B and NAL units with a length before each (ISO/IEC 14496-15), which mp4 and mkv
// have.
class NalFraming {
 public:
  NalFraming(ByteSpan extradata, const std::string& file) : file_(file) {
    if (extradata.empty() || extradata[0] != 1) {
      headers_.assign(extradata.begin(), extradata.end());
      return;
    }
    if (extradata.size() < 7) damaged();
    length_size_ = (extradata[4] & 3) + 1;
    ByteSpan rest = extradata.subspan(5);
    for (int i = rest[0] & 31, sets = 0; sets < 2; ++sets) {
      rest = rest.subspan(1);
      for (; i > 0; --i) rest = take(rest, 2, headers_);
      if (sets == 0) {
        if (rest.empty()) damaged();
        i = rest[0];
      }
    }
  }

  const Bytes& headers() const { return headers_; }  // annex B

  Bytes to_annexb(ByteSpan packet) const {
    Bytes stream;
    if (length_size_ == 0) return {packet.begin(), packet.end()};
    while (!packet.empty()) packet = take(packet, length_size_, stream);
    return stream;
  }

  Bytes from_annexb(Bytes stream) const {
    if (length_size_ == 0) return stream;
    Bytes packet;
    std::size_t begin = next_start_code(stream, 0);
    while (begin < stream.size()) {
      begin += 3;
      const std::size_t next = next_start_code(stream, begin);
      std::size_t end = next;
      while (end > begin && stream[end - 1] == 0) --end;  // the zeros are the next unit's zero_byte
      const std::uint64_t size = end - begin;
      if (length_size_ < 4 && size >> (8 * length_size_) != 0) {
        throw Error(ErrorCode::bad_input, file_ + ": a slice outgrew its length field",
                    "remux the file first");
      }
      for (int i = length_size_ - 1; i >= 0; --i)
        packet.push_back(static_cast<std::uint8_t>(size >> (8 * i)));
      packet.insert(packet.end(), stream.begin() + static_cast<std::ptrdiff_t>(begin),
                    stream.begin() + static_cast<std::ptrdiff_t>(end));
      begin = next;
    }
    return packet;
  }

 private:
  [[noreturn]] void damaged() const {
    throw Error(ErrorCode::bad_input, file_ + ": its H.264 stream is damaged", "the file must be whole");
  }
  static std::size_t next_start_code(const Bytes& stream, std::size_t from) {
    static constexpr std::uint8_t code[3] = {0, 0, 1};
    return static_cast<std::size_t>(
        std::search(stream.begin() + static_cast<std::ptrdiff_t>(from), stream.end(), code, code + 3) -
        stream.begin());
  }
  // Appends one unit to `out` and returns the bytes that follow it.
  ByteSpan take(ByteSpan from, int length_size, Bytes& out) const {
    std::uint64_t size = 0;
    if (from.size() < static_cast<std::size_t>(length_size)) damaged();
    for (int i = 0; i < length_size; ++i) size = size << 8 | from[static_cast<std::size_t>(i)];
    from = from.subspan(static_cast<std::size_t>(length_size));
    if (from.size() < size) damaged();
    out.insert(out.end(), std::begin(kStartCode), std::end(kStartCode));
    out.insert(out.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(size));
    return from.subspan(size);
  }

  std::string file_;
  int length_size_ = 0;  // 0: annex B
  Bytes headers_;
};

// A muxer that copies the input's streams unchanged.
class CopyMuxer {
 public:
  CopyMuxer(OutputFile& file, Container container) : file_(file) {
    check(avformat_alloc_output_context2(&context_, nullptr, muxer_name(container), nullptr), "no muxer");
    io_ = make_output_io(file_);
    context_->pb = io_.get();
    context_->flags |= AVFMT_FLAG_CUSTOM_IO;
  }
  ~CopyMuxer() { avformat_free_context(context_); }
  CopyMuxer(const CopyMuxer&) = delete;
  CopyMuxer& operator=(const CopyMuxer&) = delete;

  void add(const AVStream& stream) {
    AVStream* const copy = avformat_new_stream(context_, nullptr);
    if (!copy) throw std::bad_alloc();
    check(avcodec_parameters_copy(copy->codecpar, stream.codecpar), "cannot copy a stream");
    copy->codecpar->codec_tag = 0;  // the output's muxer chooses its own tag
    copy->time_base = stream.time_base;
    copy->avg_frame_rate = stream.avg_frame_rate;
    copy->sample_aspect_ratio = stream.sample_aspect_ratio;
    copy->disposition = stream.disposition;
    av_dict_copy(&copy->metadata, stream.metadata, 0);
    copies_[stream.index] = copy;
  }
  void begin(const AVFormatContext& input) {
    av_dict_copy(&context_->metadata, input.metadata, 0);
    check(avformat_write_header(context_, nullptr), "cannot begin");
  }
  bool has(int stream_index) const { return copies_.contains(stream_index); }
  void write(AVPacket& packet, AVRational time_base) {
    const AVStream& to = *copies_.at(packet.stream_index);
    packet.stream_index = to.index;
    packet.pos = -1;
    av_packet_rescale_ts(&packet, time_base, to.time_base);
    check(av_interleaved_write_frame(context_, &packet), "cannot write");
    if (file_.error() != 0) throw file_.write_error();
  }
  void finish() {
    check(av_write_trailer(context_), "cannot finish");
    avio_flush(io_.get());
    check(io_->error, "cannot finish");
  }

 private:
  void check(int result, const char* doing) const {
    if (file_.error() != 0) throw file_.write_error();
    if (result < 0) throw av_error(ErrorCode::bad_output, file_.name(), doing, result);
  }

  OutputFile& file_;
  AvIo io_;
  AVFormatContext* context_ = nullptr;
  std::map<int, AVStream*> copies_;  // by the input's stream index
};

bool begins_like_byte_stream(std::span<const std::uint8_t> begin) {
  if (begin.size() < 5 || begin[0] != 0 || begin[1] != 0) return false;
  const std::size_t ones_at = begin[2] == 0 ? 3 : 2;
  return begin[ones_at] == 1 && begin[ones_at + 1] < 128;
}

AVStream* find_video(AVFormatContext* input, const std::string& path) {
  const int index = av_find_best_stream(input, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (index < 0) throw Error(ErrorCode::bad_input, path + ": there is no video in it");
  AVStream* const stream = input->streams[index];
  if (stream->codecpar->codec_id != AV_CODEC_ID_H264) {
    throw Error(ErrorCode::bad_input, path + ": its video is " + avcodec_get_name(stream->codecpar->codec_id),
                "only H.264 streams can be worked on");
  }
  return stream;
}

// Passes edited access units on. Each goes in the packet that it came in or, if its slices came in several,
// in the first of them. The last one waits for what is put behind it.
class EditedPackets {
 public:
  using Write = std::function<void(AVPacket&, const Bytes&)>;
  explicit EditedPackets(Write write) : write_(std::move(write)) {}

  void add(const AVPacket& packet, Bytes edited) {
    if (!begun_) begun_ = properties_of(packet);
    if (edited.empty()) return;  // the tool holds it, because its picture is unfinished
    if (last_) write_(*last_, bytes_);
    last_ = std::move(begun_);
    bytes_ = std::move(edited);
  }
  void finish(const Bytes& behind) {
    if (!last_) return;
    bytes_.insert(bytes_.end(), behind.begin(), behind.end());
    write_(*last_, bytes_);
  }

 private:
  static AvPacket properties_of(const AVPacket& packet) {
    AvPacket properties = make_packet();
    if (av_packet_copy_props(properties.get(), &packet) < 0) throw std::bad_alloc();
    properties->stream_index = packet.stream_index;
    return properties;
  }

  Write write_;
  AvPacket begun_, last_;
  Bytes bytes_;  // the content of last_
};

void put_bytes(AVPacket& packet, const Bytes& bytes) {
  AvPacket made = make_packet();
  if (av_new_packet(made.get(), packet_size(bytes.size())) < 0) throw std::bad_alloc();
  std::copy(bytes.begin(), bytes.end(), made->data);
  if (av_packet_copy_props(made.get(), &packet) < 0) throw std::bad_alloc();
  made->stream_index = packet.stream_index;
  av_packet_unref(&packet);
  av_packet_move_ref(&packet, made.get());
}

void stop_if_asked(const StreamEdit& edit) {
  if (edit.stop && edit.stop()) throw Error(ErrorCode::bad_input, "interrupted", "nothing was written");
}

void remux_container(std::unique_ptr<InputFile> file, const std::string& path, const StreamEdit& edit,
                     OutputFile* output, const std::string& output_name, std::vector<std::string>& notes) {
  InputOptions options;
  options.path = path;
  options.accepted = {"mov", "matroska", "mpegts"};
  options.stop = edit.stop;
  AvInput input(options, std::move(file));
  AVStream* const video = find_video(input.get(), path);
  const AVCodecParameters& codec = *video->codecpar;
  const NalFraming framing({codec.extradata, static_cast<std::size_t>(codec.extradata_size)}, path);
  edit.parameter_sets(framing.headers());

  std::unique_ptr<CopyMuxer> muxer;
  const bool bare = output && (output_name == "-" || container_by_extension(output_name) == Container::h264);
  if (output && !bare) {
    const Container container = container_by_extension(output_name);
    muxer = std::make_unique<CopyMuxer>(*output, container);
    std::vector<const AVStream*> others;
    for (unsigned i = 0; i < input->nb_streams; ++i) {
      const AVMediaType type = input->streams[i]->codecpar->codec_type;
      if (type == AVMEDIA_TYPE_AUDIO || type == AVMEDIA_TYPE_SUBTITLE) others.push_back(input->streams[i]);
    }
    muxer->add(*video);
    for (const AVStream* stream : copyable(container, others, notes)) muxer->add(*stream);
    muxer->begin(*input.get());
  }
  if (bare) output->write(framing.headers().data(), framing.headers().size());

  EditedPackets edited([&](AVPacket& packet, const Bytes& bytes) {
    if (bare) output->write(bytes.data(), bytes.size());
    if (!muxer) return;
    put_bytes(packet, framing.from_annexb(bytes));
    muxer->write(packet, video->time_base);
  });
  const AvPacket packet = make_packet();
  int result = 0;
  while ((result = av_read_frame(input.get(), packet.get())) >= 0) {
    const AVRational time_base = input->streams[packet->stream_index]->time_base;
    const bool is_video = packet->stream_index == video->index;
    if (is_video && packet->size != 0) {
      if ((packet->flags & AV_PKT_FLAG_CORRUPT) != 0) {
        throw Error(ErrorCode::bad_input, path + ": a packet is damaged", "the file must be whole");
      }
      const Bytes stream = framing.to_annexb({packet->data, static_cast<std::size_t>(packet->size)});
      edited.add(*packet, edit.access_units(stream));
    } else if (!is_video && muxer && muxer->has(packet->stream_index)) {
      muxer->write(*packet, time_base);
    }
    av_packet_unref(packet.get());
  }
  stop_if_asked(edit);
  if (result != AVERROR_EOF) throw av_error(ErrorCode::bad_input, path, "cannot read on", result);
  edited.finish(edit.last_units());
  if (muxer) muxer->finish();
}

}  // namespace

void remux(const std::string& input, const StreamEdit& edit, OutputFile* output,
           const std::string& output_name, std::vector<std::string>& notes) {
  auto file = std::make_unique<InputFile>(input);
  if (!begins_like_byte_stream(file->peek(5))) {
    return remux_container(std::move(file), input, edit, output, output_name, notes);
  }
  if (output && output_name != "-" && container_by_extension(output_name) != Container::h264) {
    throw Error(ErrorCode::invalid_argument,
                input + " is a bare H.264 stream and " + output_name + " a container",
                "a bare stream stays one: name the output .264, or mux the input first");
  }
  AccessUnitReader units(*file, edit.stop);
  for (ByteSpan part = units.next(); !part.empty(); part = units.next()) {
    const Bytes edited = edit.access_units(part);
    if (output) output->write(edited.data(), edited.size());
  }
  stop_if_asked(edit);
  const Bytes last = edit.last_units();
  if (output) output->write(last.data(), last.size());
}

}  // namespace cu264::io
