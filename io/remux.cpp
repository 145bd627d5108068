#include "io/remux.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "io/access_unit_reader.h"
#include "io/av_input.h"
#include "io/av_output.h"
#include "io/av_versions.h"
#include "io/carried.h"
#include "io/container_writer.h"
#include "io/display_matrix.h"
#include "io/inside_av.h"
#include "io/output_container.h"
#include "io/stream_choice.h"
#include "io/timeline.h"

namespace cu264::io {
namespace {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

constexpr std::uint8_t kStartCode[4] = {0, 0, 0, 1};

constexpr int kSlice = 1, kSliceIdr = 5, kSps = 7, kPps = 8;  // nal_unit_type

int type_of(ByteSpan unit) {
  return unit.empty() ? 0 : unit[0] & 31;
}

// Returns the position of the next 00 00 01, or the end.
std::size_t next_start_code(ByteSpan stream, std::size_t from) {
  const ByteSpan code = ByteSpan(kStartCode).subspan(1);
  const auto begin = stream.begin() + static_cast<std::ptrdiff_t>(from);
  return static_cast<std::size_t>(std::search(begin, stream.end(), code.begin(), code.end()) -
                                  stream.begin());
}

// Calls `take` with each unit of a byte stream. The zero bytes after it are the next unit's zero_byte.
template <class Take>
void each_unit(ByteSpan stream, Take take) {
  std::size_t begin = next_start_code(stream, 0);
  while (begin < stream.size()) {
    begin += 3;
    const std::size_t next = next_start_code(stream, begin);
    std::size_t end = next;
    while (end > begin && stream[end - 1] == 0) --end;
    take(stream.subspan(begin, end - begin));
    begin = next;
  }
}

// Returns how many pictures begin in a packet.
int pictures_in(ByteSpan stream) {
  int pictures = 0;
  each_unit(stream, [&](ByteSpan unit) {
    const bool slice = type_of(unit) == kSlice || type_of(unit) == kSliceIdr;
    if (slice && unit.size() > 1 && (unit[1] & 0x80) != 0) ++pictures;  // first_mb_in_slice is 0: ue(v) '1'
  });
  return pictures;
}

void append_unit(Bytes& out, ByteSpan unit) {
  out.insert(out.end(), std::begin(kStartCode), std::end(kStartCode));
  out.insert(out.end(), unit.begin(), unit.end());
}

// Converts between annex B and NAL units with a length before each (ISO/IEC 14496-15), which mp4 and mkv
// have.
class NalFraming {
 public:
  NalFraming(ByteSpan extradata, const std::string& file) : file_(file) {
    if (extradata.empty() || extradata[0] != 1) {
      each_unit(extradata, [this](ByteSpan unit) {
        if (type_of(unit) == kSps || type_of(unit) == kPps) append_unit(headers_, unit);
      });
      return;
    }
    if (extradata.size() < 7) damaged();
    length_size_ = (extradata[4] & 3) + 1;
    ByteSpan rest = extradata.subspan(5);
    for (const int type : {kSps, kPps}) {
      if (rest.empty()) damaged();
      const int sets = type == kSps ? rest[0] & 31 : rest[0];
      rest = rest.subspan(1);
      for (int i = 0; i < sets; ++i) {
        const std::size_t header = headers_.size() + std::size(kStartCode);
        rest = take(rest, 2, headers_);
        if (type_of(ByteSpan(headers_).subspan(header)) != type) damaged();
      }
    }
  }

  // The parameter sets that the container keeps outside the stream, as annex B.
  const Bytes& headers() const { return headers_; }

  Bytes to_annexb(ByteSpan packet) const {
    Bytes stream;
    if (length_size_ == 0) return {packet.begin(), packet.end()};
    while (!packet.empty()) packet = take(packet, length_size_, stream);
    return stream;
  }

  Bytes from_annexb(Bytes stream) const {
    if (length_size_ == 0) return stream;
    Bytes packet;
    each_unit(stream, [&](ByteSpan unit) {
      const std::uint64_t size = unit.size();
      if (length_size_ < 4 && size >> (8 * length_size_) != 0) {
        throw Error(ErrorCode::bad_input, file_ + ": a slice outgrew its length field",
                    "remux the file first");
      }
      for (int i = length_size_ - 1; i >= 0; --i)
        packet.push_back(static_cast<std::uint8_t>(size >> (8 * i)));
      packet.insert(packet.end(), unit.begin(), unit.end());
    });
    return packet;
  }

 private:
  [[noreturn]] void damaged() const {
    throw Error(ErrorCode::bad_input, file_ + ": its H.264 stream is damaged", "the file must be whole");
  }
  // Appends one unit to `out` and returns the bytes that follow it.
  ByteSpan take(ByteSpan from, int length_size, Bytes& out) const {
    std::uint64_t size = 0;
    if (from.size() < static_cast<std::size_t>(length_size)) damaged();
    for (int i = 0; i < length_size; ++i) size = size << 8 | from[static_cast<std::size_t>(i)];
    from = from.subspan(static_cast<std::size_t>(length_size));
    if (from.size() < size) damaged();
    const ByteSpan unit = from.first(size);
    // A start code, which no unit may contain (7.4.1), would split the unit in two, but only for readers that
    // search for start codes.
    if (next_start_code(unit, 0) != unit.size()) damaged();
    append_unit(out, unit);
    return from.subspan(size);
  }

  std::string file_;
  int length_size_ = 0;  // 0: annex B
  Bytes headers_;
};

bool begins_like_byte_stream(std::span<const std::uint8_t> begin) {
  if (begin.size() < 5 || begin[0] != 0 || begin[1] != 0) return false;
  const std::size_t ones_at = begin[2] == 0 ? 3 : 2;
  return begin[ones_at] == 1 && begin[ones_at + 1] < 128;
}

ChosenStreams choose_h264(AVFormatContext* input, const std::string& path) {
  StreamChoice all;
  all.every_program = true;
  ChosenStreams chosen = choose_streams(input, all, path);
  const AVCodecID codec = chosen.video->codecpar->codec_id;
  if (codec != AV_CODEC_ID_H264) {
    throw Error(ErrorCode::bad_input, path + ": its video is " + avcodec_get_name(codec),
                "only H.264 streams can be worked on");
  }
  return chosen;
}

CarrySource carry_source(const AvInput& input, const ChosenStreams& chosen, const std::string& path) {
  CarrySource source;
  source.input = input.get();
  source.video = chosen.video;
  source.others = chosen.others;
  source.matrix = display_matrix_of(*chosen.video);
  source.file = path;
  return source;
}

// Begins a container whose video is described as the input's is.
std::unique_ptr<ContainerWriter> begin_writer(OutputFile& output, Container container,
                                              const Carried& carried) {
  const AVStream& from = *carried.source.video;
  auto writer = std::make_unique<ContainerWriter>(output, container);
  AVStream& video = writer->add_video();
  writer->check(avcodec_parameters_copy(video.codecpar, from.codecpar), "cannot copy a stream");
  copy_side_data(video, from);
  AVCodecParameters& codec = *video.codecpar;
  if (container == Container::ts && codec.extradata_size > 0 && codec.extradata[0] != 1) {
    // The packets hold their parameter sets. FFmpeg 7 would put those of the description before every
    // picture.
    av_freep(&codec.extradata);
    codec.extradata_size = 0;
  }
  codec.codec_tag = 0;  // the output's muxer chooses its own tag
  video.time_base = from.time_base;
  video.avg_frame_rate = from.avg_frame_rate;
  video.sample_aspect_ratio = from.sample_aspect_ratio;
  // Muxers take one answer; the container's takes precedence over that of the stream inside.
  if (from.sample_aspect_ratio.num != 0) codec.sample_aspect_ratio = from.sample_aspect_ratio;
  video.disposition = from.disposition;
  writer->check(av_dict_copy(&video.metadata, from.metadata, 0), "cannot copy a stream");
  writer->carry(carried);
  AvOptions none;
  try {
    writer->begin(none);
  } catch (const Error& error) {
    if (output.error() != 0) throw;
    throw Error(ErrorCode::bad_input,
                carried.source.file + ": what it says of its streams cannot be written: " + error.what());
  }
  return writer;
}

// Passes edited access units on. Each goes into the packet that it came in or, if it came in several, into
// the one in which its picture begins. The last one waits for what is put after it.
class EditedPackets {
 public:
  using Write = std::function<void(AVPacket&, const Bytes&)>;
  explicit EditedPackets(Write write) : write_(std::move(write)) {}

  void add(const AVPacket& packet, bool begins_picture, Bytes edited) {
    if (!begun_ || begins_picture) begun_ = properties_of(packet);
    if (edited.empty()) return;  // the tool holds it, because its picture is unfinished or has not begun
    if (last_) write_(*last_, bytes_);
    last_ = std::move(begun_);
    bytes_ = std::move(edited);
  }
  void finish(const Bytes& after) {
    if (!last_) return;
    bytes_.insert(bytes_.end(), after.begin(), after.end());
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

// Says whether the packet comes with a description of the stream that is not the one in force: a second
// sample entry.
bool has_new_description(const AVPacket& packet, const AVCodecParameters& codec) {
  std::size_t size = 0;
  const std::uint8_t* const data = av_packet_get_side_data(&packet, AV_PKT_DATA_NEW_EXTRADATA, &size);
  if (data == nullptr) return false;
  return !std::ranges::equal(ByteSpan(data, size),
                             ByteSpan(codec.extradata, static_cast<std::size_t>(codec.extradata_size)));
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
  const ChosenStreams chosen = choose_h264(input.get(), path);
  AVStream* const video = chosen.video;
  const AVCodecParameters& codec = *video->codecpar;
  // What FFmpeg says of a transport stream it has found in its packets, perhaps in later ones.
  const bool described = std::string_view(input->iformat->name) != "mpegts";
  const NalFraming framing(
      described ? ByteSpan(codec.extradata, static_cast<std::size_t>(codec.extradata_size)) : ByteSpan(),
      path);
  edit.parameter_sets(framing.headers());

  std::unique_ptr<ContainerWriter> writer;
  Timeline timeline(0, false);
  const bool bare = output && (output_name == "-" || container_by_extension(output_name) == Container::h264);
  if (output) {
    const Container container = bare ? Container::h264 : container_by_extension(output_name);
    CarrySource source = carry_source(input, chosen, path);
    // The clock of a transport stream begins anywhere and may jump, which a player of other files does not
    // expect.
    if (container != Container::ts && (input->iformat->flags & AVFMT_TS_DISCONT) != 0) {
      source.begin = input->start_time != AV_NOPTS_VALUE ? input->start_time : 0;
      timeline = Timeline(source.begin, true);
    }
    const Carried carried = carry(container, std::move(source), notes);
    if (!bare) writer = begin_writer(*output, container, carried);
  }
  if (bare) output->write(framing.headers().data(), framing.headers().size());

  const int video_index = 0;  // the output's
  std::int64_t last_dts = AV_NOPTS_VALUE;
  EditedPackets edited([&](AVPacket& packet, const Bytes& bytes) {
    if (bare) output->write(bytes.data(), bytes.size());
    if (!writer) return;
    put_bytes(packet, framing.from_annexb(bytes));
    const AVStream& to = *writer->context().streams[video_index];
    packet.stream_index = video_index;
    packet.pos = -1;
    av_packet_rescale_ts(&packet, video->time_base, to.time_base);
    if (last_dts != AV_NOPTS_VALUE && packet.dts != AV_NOPTS_VALUE && packet.dts < last_dts) {
      throw Error(ErrorCode::bad_input, path + ": the times of its pictures go back",
                  "copy its H.264 stream into a .264 file and take that");
    }
    last_dts = packet.dts;
    writer->write(packet);
  });
  const AvPacket packet = make_packet();
  int result = 0;
  const auto read = [&] {
    const InsideAv inside;
    return av_read_frame(input.get(), packet.get());
  };
  while ((result = read()) >= 0) {
    const AVStream& stream = *input->streams[packet->stream_index];
    timeline.apply(*packet, stream);
    packet->time_base = stream.time_base;
    if (stream.index == video->index && packet->size != 0) {
      if ((packet->flags & AV_PKT_FLAG_CORRUPT) != 0) {
        throw Error(ErrorCode::bad_input, path + ": a packet is damaged", "the file must be whole");
      }
      if (has_new_description(*packet, codec)) {
        throw Error(ErrorCode::bad_input, path + ": the description of its H.264 stream changes on the way",
                    "split the file there");
      }
      const Bytes units = framing.to_annexb({packet->data, static_cast<std::size_t>(packet->size)});
      // A decoder shows one picture of a packet, whatever else is in it.
      const int pictures = pictures_in(units);
      if (pictures > 1) {
        throw Error(ErrorCode::bad_input, path + ": a packet holds more than one picture",
                    "copy its H.264 stream into a .264 file and take that");
      }
      edited.add(*packet, pictures != 0, edit.access_units(units));
    } else if (stream.index != video->index && writer) {
      writer->copy(*packet);
    }
    av_packet_unref(packet.get());
  }
  stop_if_asked(edit);
  if (result != AVERROR_EOF) throw av_error(ErrorCode::bad_input, path, "cannot read on", result);
  const std::string missing = input.missing_end();
  if (!missing.empty()) throw Error(ErrorCode::bad_input, path + ": " + missing, "the file must be whole");
  edited.finish(edit.last_units());
  if (writer) writer->finish();
  if (timeline.impossible() > 0) {
    notes.push_back(path + ": " + std::to_string(timeline.impossible()) +
                    " packets tell times centuries away, which were not used");
  }
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
