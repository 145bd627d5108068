// Writes the first inputs of the fuzz targets: fuzz_seeds FOLDER
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/bits.h"
#include "core/block.h"
#include "core/cavlc_block.h"
#include "cu264/encoder.h"
#include "cu264/protect.h"
#include "cu264/vle.h"
#if CU264_FUZZES_CONTAINERS
#include "tests/fuzz/container_seeds.h"
#endif

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(std::uint8_t selector, const std::string& text) {
  Bytes bytes = {selector};
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

Bytes with_prefix(std::uint8_t selector, const Bytes& content) {
  Bytes bytes = {selector};
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

Bytes with_prefix(Bytes begin, const Bytes& stream) {
  begin.insert(begin.end(), stream.begin(), stream.end());
  return begin;
}

// A few blocks of each kind, after the byte that selects the kind (see fuzz_cavlc_parse.cpp).
Bytes cavlc_seed(int selector) {
  const bool chroma_dc = selector % 4 == 3;
  const int max_num_coeff = chroma_dc ? 4 : selector % 4 == 2 ? 15 : 16;
  const int nC = chroma_dc ? cu264::core::kChromaDcNc : selector / 4 % 17;
  std::uint8_t buffer[1024];
  cu264::core::BitWriter writer(buffer, sizeof buffer);
  std::uint32_t state = static_cast<std::uint32_t>(selector) + 1;
  const auto next = [&](std::uint32_t n) { return (state = state * 1664525 + 1013904223) >> 16 & (n - 1); };
  for (int block = 0; block < 6; ++block) {
    std::int16_t levels[cu264::core::kLevelsPerBlock] = {};
    for (int k = 0; k < max_num_coeff; ++k) {
      const bool zero = next(8) < static_cast<std::uint32_t>(block);
      const int magnitude = block == 5 ? 2063 : 1 + static_cast<int>(next(1u << (block * 2)));
      if (!zero) levels[k] = static_cast<std::int16_t>(next(2) != 0 ? magnitude : -magnitude);
    }
    cu264::core::put_block(writer, levels, cu264::core::cavlc_symbols(levels, max_num_coeff), max_num_coeff,
                           nC);
  }
  writer.align_with_zeros();
  Bytes bytes = {static_cast<std::uint8_t>(selector)};
  bytes.insert(bytes.end(), buffer, buffer + writer.size());
  return bytes;
}

std::vector<Bytes> cavlc_seeds() {
  std::vector<Bytes> all;
  for (const int selector : {0, 4, 8, 16, 32, 64, 2, 18, 34, 3}) all.push_back(cavlc_seed(selector));
  return all;
}

std::vector<Bytes> option_seeds() {
  return {
      bytes_of(0,
               "qp\n27\npreset\nbest\nprofile\nbaseline\ncqm\nINTRA4X4_LUMA = 6,13 20 # "
               "7\nslices\n4\ndeblock\noff\nbackend\ncpu\nthreads\n2"),
      bytes_of(0, "fps\n30000/1001\nsar\n16:11\nrange\nfull\nsize\n1920x1080\nheaders\nevery\nfps\n29.97"),
      bytes_of(1, "in.mkv\n-o\nout.mp4\n--qp\n24\n--preset\nfast\n--slices\n3\n--fragmented\n--psnr\n--ssim"),
      bytes_of(
          1, "in.yuv\n--size\n64x48\n--fps\n25\n--pix-fmt\nnv12\n--output=out.264\n--seek\n1.5\n--frames\n9"),
      bytes_of(
          1, "-\n-o\n-\n--format\nh264\n--threads\n0\n--stats\ns.json\n--recon\nr.yuv\n--progress\noff\n-q"),
      bytes_of(1,
               "in.y4m\n-o\nout.mkv\n--verify\n--no-deblock\n--backend\nauto\n--allow-partial\n--"
               "quality\n3\n--profile\nmain\n--cavlc")};
}

std::string y4m(const std::string& header, int width, int height, int samples_of_six, int frames) {
  std::string text =
      "YUV4MPEG2 W" + std::to_string(width) + " H" + std::to_string(height) + " " + header + "\n";
  for (int i = 0; i < frames; ++i) {
    text += "FRAME\n";
    const int bytes = width * height * samples_of_six / 6;
    for (int at = 0; at < bytes; ++at) text += static_cast<char>(at * 7 + i);
  }
  return text;
}

std::vector<Bytes> reader_seeds() {
  std::vector<Bytes> all = {
      bytes_of(0, y4m("F25:1 Ip A1:1 C420jpeg", 16, 8, 9, 3)),
      bytes_of(0, y4m("F30000:1001 Cmono", 9, 5, 6, 2)),
      bytes_of(8, y4m("F25:1 C444", 6, 6, 18, 2) + "FRAME\nshort"),
      bytes_of(0x42, std::string(200, 'x')),
      bytes_of(0x2a, std::string(77, '\x80')),
      bytes_of(1, std::string(
                      "\0\0\0\1\x67\x42\xc0\x0a\xda\x7a\x20\0\0\0\1\x68\xce\x3c\x80\0\0\1\x65\x88\x84", 26)),
      bytes_of(3, "\x1a\x45\xdf\xa3\x84\x42\x86\x81\x01")};
#if CU264_FUZZES_CONTAINERS
  for (const cu264::fuzz::ContainerSeed& seed : cu264::fuzz::container_seeds()) {
    const int format = seed.demuxer == "matroska" ? 3
                       : seed.demuxer == "mov"    ? 4
                       : seed.demuxer == "mpegts" ? 5
                                                  : 1;
    for (const int flags : {0, 8, 0xc0})
      all.push_back(with_prefix(static_cast<std::uint8_t>(format | flags), seed.file));
  }
#endif
  return all;
}

#if CU264_FUZZES_CONTAINERS
// Each follows the byte that names the tool and the output (see fuzz_remux.cpp).
std::vector<Bytes> remux_seeds() {
  std::vector<Bytes> all;
  for (const cu264::fuzz::ContainerSeed& seed : cu264::fuzz::container_seeds()) {
    for (std::uint8_t mode = 0; mode < 16; ++mode) all.push_back(with_prefix(mode, seed.file));
  }
  return all;
}
#endif

#if CU264_FUZZES_CONTAINERS
// Each follows the bytes that name the formats (see fuzz_carried.cpp).
std::vector<Bytes> carried_seeds() {
  std::vector<Bytes> all;
  for (const cu264::fuzz::ContainerSeed& seed : cu264::fuzz::carried_seeds()) {
    const int format = seed.demuxer == "matroska" ? 0 : seed.demuxer == "mov" ? 1 : 2;
    for (const int output : {0, 1, 2, 3, 16, 64, 130})
      all.push_back(
          with_prefix({static_cast<std::uint8_t>(format), static_cast<std::uint8_t>(output)}, seed.file));
  }
  return all;
}

// Each follows the bytes that name the graph and the format (see fuzz_filters.cpp).
std::vector<Bytes> filters_seeds() {
  std::vector<std::pair<std::uint8_t, Bytes>> files = {
      {0, bytes_of(0, y4m("F25:1 Ip A1:1 C420jpeg", 16, 8, 9, 3))},
      {0, bytes_of(0, y4m("F30000:1001 It A12:11 C444", 6, 6, 18, 4))}};
  for (const cu264::fuzz::ContainerSeed& seed : cu264::fuzz::container_seeds()) {
    const int format = seed.demuxer == "matroska" ? 2
                       : seed.demuxer == "mov"    ? 3
                       : seed.demuxer == "mpegts" ? 4
                                                  : 1;
    files.emplace_back(static_cast<std::uint8_t>(format), with_prefix(0, seed.file));
  }
  std::vector<Bytes> all;
  for (std::uint8_t graph = 0; graph < 16; ++graph) {
    for (const auto& [format, file] : files) {
      Bytes seed{graph, format};
      seed.insert(seed.end(), file.begin() + 1, file.end());
      all.push_back(seed);
    }
  }
  return all;
}

// Captions of some sizes and pictures of some kinds (see fuzz_captions.cpp).
std::vector<Bytes> captions_seeds() {
  std::vector<Bytes> all;
  const Bytes slice{0, 0, 0, 1, 0x65, 0x88, 0x84},
      other{0, 0, 1, 9, 0xf0, 0, 0, 0, 1, 6, 5, 1, 0, 0x80, 0, 0, 1, 0x65, 0x88};
  for (const int count : {0, 3, 93, 96, 300}) {
    for (const Bytes& unit : {slice, other, Bytes{}, Bytes(slice.begin() + 1, slice.end())}) {
      Bytes seed{static_cast<std::uint8_t>(count >> 8), static_cast<std::uint8_t>(count)};
      for (int i = 0; i < count; ++i) seed.push_back(static_cast<std::uint8_t>(i % 5 == 0 ? 0xfc : i % 3));
      seed.insert(seed.end(), unit.begin(), unit.end());
      all.push_back(seed);
    }
  }
  return all;
}
#endif

// Options, a pattern and strokes (see fuzz_encode.cpp).
std::vector<Bytes> encode_seeds() {
  std::vector<Bytes> all;
  for (std::uint8_t number = 0; number < 36; ++number) {
    Bytes seed{number,
               static_cast<std::uint8_t>(number / 3),  // profile
               static_cast<std::uint8_t>(number % 5 == 0),
               static_cast<std::uint8_t>(number % 7),  // gop
               static_cast<std::uint8_t>(number % 2)};
    for (int i = 0; i < 300; ++i)
      seed.push_back(static_cast<std::uint8_t>(i * i / (1 + number) + i * (number % 3)));
    all.push_back(seed);
  }
  return all;
}

void write(const std::filesystem::path& folder, const std::vector<Bytes>& seeds) {
  std::filesystem::remove_all(folder);  // this also removes what an earlier run added
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(folder / ("seed" + std::to_string(i)), std::ios::binary);
    file.write(reinterpret_cast<const char*>(seeds[i].data()), static_cast<std::streamsize>(seeds[i].size()));
  }
}

// Makes a stream of two pictures of `side` x `side` samples, the second of which is a P picture with `gop` 0.
Bytes stream_of(int side, int qp, int slices,
                const std::optional<cu264::EncoderWatermark>& watermark = std::nullopt,
                cu264::Profile profile = cu264::Profile::baseline, int gop = 1) {
  cu264::Config config;
  config.profile = profile;
  config.width = config.height = side;
  config.set("backend", "cpu");
  config.set("qp", std::to_string(qp));
  config.set("slices", std::to_string(slices));
  config.gop = gop;
  config.watermark = watermark;
  const int area = side * side;
  Bytes samples(static_cast<std::size_t>(area) * 3 / 2);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<std::uint8_t>(i * i / 7 + i / 5 * 40);
  cu264::Frame frame;
  frame.width = frame.height = side;
  frame.plane[0] = samples.data(), frame.plane[1] = samples.data() + area;
  frame.plane[2] = frame.plane[1] + area / 4;
  frame.pitch[0] = side, frame.pitch[1] = frame.pitch[2] = side / 2;
  cu264::Encoder encoder(config);
  Bytes stream;
  const auto receive = [&] {
    while (const auto packet = encoder.receive())
      stream.insert(stream.end(), packet->data.begin(), packet->data.end());
  };
  for (frame.pts = 0; frame.pts < 2; ++frame.pts) {
    while (!encoder.send(frame)) receive();
  }
  encoder.flush();
  receive();
  return stream;
}

// A different one for each number.
Bytes small_stream(int number) {
  return stream_of(32, 4 + 5 * number, number % 2 == 0 ? 1 : 2);
}

// The same with CABAC.
Bytes small_cabac_stream(int number) {
  const auto profile = number % 3 == 0 ? cu264::Profile::main : cu264::Profile::high;
  return stream_of(32, 5 * number, number % 2 == 0 ? 1 : 2, std::nullopt, profile);
}

// Each follows the byte that names the tool (see fuzz_protect.cpp).
std::vector<Bytes> protect_seeds() {
  std::vector<Bytes> all;
  for (int number = 0; number < 8; ++number)
    all.push_back(with_prefix(std::uint8_t{0}, small_cabac_stream(number)));  // encrypts signs
  for (int tool = 0; tool < 8; ++tool) {
    all.push_back(with_prefix(static_cast<std::uint8_t>(tool), small_stream(tool)));
    const auto profile = tool % 2 == 0 ? cu264::Profile::baseline : cu264::Profile::main;
    all.push_back(
        with_prefix(static_cast<std::uint8_t>(tool), stream_of(32, 30, 1, std::nullopt, profile, 0)));
  }
  return all;
}

// Each follows the bytes that say how it is cut (see fuzz_protect_calls.cpp).
std::vector<Bytes> protect_calls_seeds() {
  std::vector<Bytes> all;
  for (std::uint8_t how = 0; how < 16; ++how)
    all.push_back(with_prefix({how, 1, how}, small_stream(how % 8)));
  return all;
}

// Adds what `make` makes at the first of several QPs at which there is room for a payload.
template <class Make>
void add_where_there_is_room(std::vector<Bytes>& streams, const Make& make) {
  for (int qp = 44; qp >= 8; qp -= 4) {
    try {
      streams.push_back(make(qp));
      return;
    } catch (const cu264::Error&) {
    }
  }
  throw std::runtime_error("no seed has room for a payload");
}

// Each is the output of a tool for a small stream, after the byte that names another tool (see
// fuzz_sealed.cpp).
std::vector<Bytes> sealed_seeds() {
  using namespace cu264;
  const ProtectionKey key(std::array<std::uint8_t, 32>{1, 2, 3});
  const Bytes payload{0x5a};
  std::vector<Bytes> streams;
  for (int number = 0; number < 4; ++number) {
    for (const bool authenticate : {false, true}) {
      const auto tool = make_encryptor(key, {encryption_strength(authenticate ? 1 : 3), authenticate});
      streams.push_back(run_tool(*tool, small_stream(number)).stream);
      const auto signs = make_encryptor(key, {encryption_strength(1), authenticate});
      streams.push_back(run_tool(*signs, small_cabac_stream(number)).stream);
    }
  }
  for (const int side : {48, 64, 80}) {
    add_where_there_is_room(
        streams, [&](int qp) { return run_tool(*make_hider(key, payload), stream_of(side, qp, 1)).stream; });
  }
  for (const WatermarkScheme scheme : {WatermarkScheme::t1_sign, WatermarkScheme::t1_parity}) {
    add_where_there_is_room(streams, [&](int qp) {
      return run_tool(*make_watermark_embedder(key, {scheme, 65536}, payload), stream_of(112, qp, 2)).stream;
    });
    for (const WatermarkSpread spread : {WatermarkSpread::coded, WatermarkSpread::drawn}) {
      add_where_there_is_room(streams, [&](int qp) {
        return stream_of(64, qp, 1, EncoderWatermark{key, payload, scheme, 65536, spread});
      });
    }
  }
  std::vector<Bytes> all;
  for (const Bytes& stream : streams) {
    for (std::uint8_t tool = 0; tool < 5; ++tool) all.push_back(with_prefix(tool, stream));
  }
  return all;
}

// Containers and plain bytes, after the byte that says what to do with them (see fuzz_vle.cpp).
std::vector<Bytes> vle_seeds() {
  std::vector<Bytes> all;
  cu264::vle::StreamOptions on_cpu;
  on_cpu.backend = cu264::BackendChoice::cpu;
  for (const int size : {0, 1, 40, 700, 3000}) {
    for (const unsigned symbols : {1u, 3u, 25u, 256u}) {
      Bytes plain(static_cast<std::size_t>(size));
      for (std::size_t i = 0; i < plain.size(); ++i) {
        plain[i] = static_cast<std::uint8_t>((i * i / 3 + i * 7) % symbols * (i % 3 == 0));
      }
      const Bytes coded = cu264::vle::compress(plain, on_cpu);
      for (std::uint8_t mode = 0; mode < 3; ++mode) {
        Bytes seed{mode};
        const Bytes& content = mode == 2 ? plain : coded;
        seed.insert(seed.end(), content.begin(), content.end());
        all.push_back(seed);
      }
    }
  }
  return all;
}

}  // namespace

int main(int count, char** values) {
  if (count != 2) return std::fputs("usage: fuzz_seeds FOLDER\n", stderr), 1;
  const std::filesystem::path folder = values[1];
  write(folder / "cavlc_parse", cavlc_seeds());
  write(folder / "encode", encode_seeds());
  write(folder / "options", option_seeds());
  write(folder / "reader", reader_seeds());
  write(folder / "protect", protect_seeds());
  write(folder / "protect_calls", protect_calls_seeds());
  write(folder / "sealed", sealed_seeds());
  write(folder / "vle", vle_seeds());
#if CU264_FUZZES_CONTAINERS
  write(folder / "captions", captions_seeds());
  write(folder / "carried", carried_seeds());
  write(folder / "filters", filters_seeds());
  write(folder / "remux", remux_seeds());
#endif
  return 0;
}
