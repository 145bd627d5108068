#include "tests/fuzz/container_seeds.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "cu264/encoder.h"
#include "io/av.h"
#include "io/muxer.h"
#include "io/output_file.h"

namespace cu264::fuzz {
namespace {

constexpr int kSide = 32;

Config config_for(io::Container container, int gop = 1) {
  Config config;
  config.gop = gop;
  config.width = config.height = kSide;
  config.set("backend", "cpu");
  config.set("qp", "30");
  config.headers = io::separate_headers(container)  ? HeaderPlacement::separate
                   : container == io::Container::ts ? HeaderPlacement::every_packet
                                                    : HeaderPlacement::first_packet;
  return config;
}

// Passes two pictures through the encoder, and what comes out to `use`.
template <class Use>
void encode_two(Encoder& encoder, const Use& use) {
  std::vector<std::uint8_t> samples(kSide * kSide * 3 / 2);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<std::uint8_t>(i * i / 7 + i / 5 * 40);
  Frame frame;
  frame.width = frame.height = kSide;
  frame.plane[0] = samples.data(), frame.plane[1] = samples.data() + kSide * kSide;
  frame.plane[2] = frame.plane[1] + kSide * kSide / 4;
  frame.pitch[0] = kSide, frame.pitch[1] = frame.pitch[2] = kSide / 2;
  const auto receive = [&] {
    while (const auto packet = encoder.receive()) use(*packet);
  };
  for (frame.pts = 0; frame.pts < 2; ++frame.pts) {
    while (!encoder.send(frame)) receive();
  }
  encoder.flush();
  receive();
}

std::vector<std::uint8_t> film(io::Container container, bool fragmented, int gop = 1) {
  const auto name = std::filesystem::temp_directory_path() / ("cu264-seed-" + std::to_string(getpid()));
  Encoder encoder(config_for(container, gop));
  io::MuxerOptions options;
  options.container = container;
  options.fragmented = fragmented;
  options.video.width = options.video.height = kSide;
  options.headers = encoder.headers();
  io::OutputFile output(name.string());
  io::Muxer muxer(output, options);
  encode_two(encoder, [&](const Packet& packet) { muxer.write(packet.data, packet.pts, 1, packet.key); });
  muxer.finish();
  output.commit();
  std::ifstream file(name, std::ios::binary);
  std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(name);
  return bytes;
}

void require(bool condition) {
  if (!condition) throw std::runtime_error("a seed cannot be made");
}

void write_packet(AVFormatContext* output, int stream, const std::vector<std::uint8_t>& data,
                  std::int64_t milliseconds) {
  const io::AvPacket packet = io::make_packet();
  require(av_new_packet(packet.get(), static_cast<int>(data.size())) >= 0);
  std::copy(data.begin(), data.end(), packet->data);
  packet->stream_index = stream, packet->flags = AV_PKT_FLAG_KEY;
  packet->pts = packet->dts = milliseconds, packet->duration = 40;
  av_packet_rescale_ts(packet.get(), AVRational{1, 1000}, output->streams[stream]->time_base);
  require(av_interleaved_write_frame(output, packet.get()) >= 0);
}

// A film with other streams, by libavformat alone.
std::vector<std::uint8_t> carried_film(const char* muxer, AVCodecID sound, AVCodecID text) {
  const CodedPicture picture = coded_picture();
  AVFormatContext* output = nullptr;
  require(avformat_alloc_output_context2(&output, nullptr, muxer, nullptr) >= 0);
  require(avio_open_dyn_buf(&output->pb) >= 0);
  const auto add = [&](AVMediaType type, AVCodecID codec) {
    AVStream* const stream = avformat_new_stream(output, nullptr);
    require(stream != nullptr);
    stream->codecpar->codec_type = type, stream->codecpar->codec_id = codec;
    stream->time_base = {1, 1000};
    return stream->codecpar;
  };
  AVCodecParameters& video = *add(AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_H264);
  video.width = video.height = kSide, video.format = AV_PIX_FMT_YUV420P;
  video.extradata =
      static_cast<std::uint8_t*>(av_mallocz(picture.headers.size() + AV_INPUT_BUFFER_PADDING_SIZE));
  require(video.extradata != nullptr);
  std::copy(picture.headers.begin(), picture.headers.end(), video.extradata);
  video.extradata_size = static_cast<int>(picture.headers.size());
  AVCodecParameters& audio = *add(AVMEDIA_TYPE_AUDIO, sound);
  audio.sample_rate = 8000, audio.format = AV_SAMPLE_FMT_S16, audio.frame_size = 320;
  audio.bits_per_coded_sample = 16, audio.block_align = 2;
  av_channel_layout_default(&audio.ch_layout, 1);
  if (text != AV_CODEC_ID_NONE) add(AVMEDIA_TYPE_SUBTITLE, text);
  av_dict_set(&output->metadata, "title", "seed", 0);
  av_dict_set(&output->streams[1]->metadata, "language", "eng", 0);
  require(avformat_write_header(output, nullptr) >= 0);
  for (int i = 0; i < 2; ++i) {
    std::vector<std::uint8_t> unit = picture.headers;
    unit.insert(unit.end(), picture.access_unit.begin(), picture.access_unit.end());
    write_packet(output, 0, unit, 40 * i);
    std::vector<std::uint8_t> samples(640, static_cast<std::uint8_t>(i));
    if (sound == AV_CODEC_ID_MP2) samples[0] = 0xff, samples[1] = 0xfd, samples[2] = 0x14;
    write_packet(output, 1, samples, 40 * i);
    if (text == AV_CODEC_ID_MOV_TEXT) write_packet(output, 2, {0, 2, 'h', 'i'}, 40 * i);
    if (text == AV_CODEC_ID_SUBRIP) write_packet(output, 2, {'h', 'i'}, 40 * i);
  }
  require(av_write_trailer(output) >= 0);
  std::uint8_t* data = nullptr;
  const int size = avio_close_dyn_buf(output->pb, &data);
  std::vector<std::uint8_t> bytes(data, data + size);
  av_free(data);
  avformat_free_context(output);
  return bytes;
}

}  // namespace

std::vector<ContainerSeed> container_seeds() {
  return {{"mov", film(io::Container::mp4, false)},
          {"mov", film(io::Container::mp4, true)},
          {"matroska", film(io::Container::mkv, false)},
          {"mpegts", film(io::Container::ts, false)},
          {"h264", film(io::Container::h264, false)},
          {"mov", film(io::Container::mp4, false, 0)},  // with a P picture
          {"mpegts", film(io::Container::ts, false, 0)}};
}

std::vector<ContainerSeed> carried_seeds() {
  return {{"matroska", carried_film("matroska", AV_CODEC_ID_PCM_S16LE, AV_CODEC_ID_SUBRIP)},
          {"mov", carried_film("mov", AV_CODEC_ID_PCM_S16LE, AV_CODEC_ID_MOV_TEXT)},
          {"mov", carried_film("mp4", AV_CODEC_ID_MP2, AV_CODEC_ID_MOV_TEXT)},
          {"mpegts", carried_film("mpegts", AV_CODEC_ID_MP2, AV_CODEC_ID_NONE)}};
}

CodedPicture coded_picture() {
  Encoder encoder(config_for(io::Container::mp4));
  CodedPicture coded{encoder.headers(), {}};
  encode_two(encoder,
             [&](const Packet& packet) { coded.access_unit.assign(packet.data.begin(), packet.data.end()); });
  return coded;
}

}  // namespace cu264::fuzz
