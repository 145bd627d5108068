// Measures what protection costs and what it does, scheme by scheme:
//   bench_protect [baseline|main|high] [FILE.264 ...]
//
// Without files it takes the clips of the folder that CU264_TEST_DATA names and encodes them at QP 24 in the
// profile (baseline). It prints a Markdown table and the mean of every scheme, for streams with CABAC of
// their signs alone. Encrypted pictures are compared with the source, marked ones with the unmarked stream.
// Times are processor time of one thread.
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "common/bitstream/parameter_sets.h"
#include "cu264/canny.h"
#include "cu264/protect.h"
#include "support/decode.h"
#include "support/encode.h"

namespace {

using namespace cu264;
using namespace cu264::test;
using Bytes = std::vector<std::uint8_t>;

double processor_seconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The mean SSIM of luma in 8x8 windows that are four samples apart.
double ssim_of(const Picture& a, const Picture& b) {
  double sum = 0;
  int windows = 0;
  for (int y = 0; y + 8 <= a.height; y += 4) {
    for (int x = 0; x + 8 <= a.width; x += 4, ++windows) {
      double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
      for (int i = 0; i < 64; ++i) {
        const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y + i / 8) * a.width + x + i % 8;
        const double p = a.plane(0)[at], q = b.plane(0)[at];
        sa += p, sb += q, saa += p * p, sbb += q * q, sab += p * q;
      }
      const double ma = sa / 64, mb = sb / 64, va = saa / 64 - ma * ma, vb = sbb / 64 - mb * mb;
      sum += (2 * ma * mb + 6.5025) * (2 * (sab / 64 - ma * mb) + 58.5225) /
             ((ma * ma + mb * mb + 6.5025) * (va + vb + 58.5225));
    }
  }
  return windows != 0 ? sum / windows : 1;
}

std::vector<std::uint8_t> edges_of(const Picture& picture) {
  canny::ExecutionOptions execution;
  execution.backend = BackendChoice::cpu;
  return canny::detect({}, picture.plane(0), picture.width, picture.width, picture.height, execution);
}

// The edge-difference ratio: the number of pixels that are edges in only one of the maps, divided by the
// number of edge pixels of both maps. It is 0 for equal edges and 1 if no edge is common.
double edge_difference(const Picture& a, const Picture& b) {
  const std::vector<std::uint8_t> one = edges_of(a), other = edges_of(b);
  double different = 0, all = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    different += one[i] != other[i], all += (one[i] != 0) + (other[i] != 0);
  }
  return all != 0 ? different / all : 0;
}

struct Distance {
  double psnr = 0, ssim = 0;
  double npcr = 0, uaci = 0;  // in per cent: luma samples that changed; mean change of all, of 255
  double edr = 0;
};

Distance distance(const std::vector<Picture>& a, const std::vector<DecodedPicture>& b) {
  Distance mean;
  const std::size_t count = std::min(a.size(), b.size());
  for (std::size_t p = 0; p < count; ++p) {
    const Picture& one = a[p];
    const Picture& other = b[p].picture;
    mean.psnr += luma_psnr(one, other), mean.ssim += ssim_of(one, other);
    double changed = 0, by = 0;
    const std::size_t samples = one.plane_offset(1);
    for (std::size_t i = 0; i < samples; ++i) {
      const int difference = std::abs(one.samples[i] - other.samples[i]);
      changed += difference != 0, by += difference;
    }
    mean.edr += edge_difference(one, other);
    mean.npcr += 100 * changed / static_cast<double>(samples);
    mean.uaci += 100 * by / 255 / static_cast<double>(samples);
  }
  const double n = static_cast<double>(std::max<std::size_t>(count, 1));
  return {mean.psnr / n, mean.ssim / n, mean.npcr / n, mean.uaci / n, mean.edr / n};
}

struct Clip {
  std::string name;
  Bytes stream;
  std::vector<Picture> source;  // if empty, the decoded stream takes its place
  std::vector<Picture> decoded;
};

std::vector<Picture> pictures_of(const DecodedStream& stream) {
  std::vector<Picture> pictures;
  for (const DecodedPicture& decoded : stream.pictures) pictures.push_back(decoded.picture);
  return pictures;
}

bool has_cabac(const Bytes& stream) {
  bitstream::ParameterSets sets;
  for (const bitstream::NalUnit& nal : bitstream::split_annexb(stream).units) sets.read(nal);
  return sets.have_cabac();
}

ProtectionKey key() {
  return ProtectionKey(std::array<std::uint8_t, 32>{2, 6, 4});
}

// One row of the table. For the mean of several rows, the last two figures are sums.
constexpr int kFigures = 13;
using Row = std::array<double, kFigures>;

void print_row(const std::string& clip, const std::string& scheme, const Row& row) {
  std::printf(
      "| %s | %s | %.0f | %.4f | %.2f | %+.4f | %.2f | %.4f | %.2f | %.2f | %.3f | %.2f | %.1f | %.0f | %.0f "
      "|\n",
      clip.c_str(), scheme.c_str(), row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8],
      row[9], row[10], row[11], row[12]);
  std::fflush(stdout);
}

// The sum and the number of the rows of each scheme.
std::map<std::string, std::pair<Row, int>>& totals() {
  static std::map<std::string, std::pair<Row, int>> sums;
  return sums;
}

std::uint64_t bit_errors(const Bytes& expected, const Bytes& found) {
  if (found.size() != expected.size()) return 8 * std::max(expected.size(), found.size());
  std::uint64_t errors = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    errors += static_cast<unsigned>(__builtin_popcount(static_cast<unsigned>(found[i] ^ expected[i])));
  }
  return errors;
}

Bytes random_payload(std::uint64_t size) {
  std::mt19937 random(264);
  Bytes payload(size);
  for (std::uint8_t& byte : payload) byte = static_cast<std::uint8_t>(random());
  return payload;
}

// `payload` is what the inverse tool must give; null: it must give the stream.
template <class MakeTool>
void measure(const Clip& clip, const std::string& scheme, const Bytes* payload, MakeTool make_tool,
             std::unique_ptr<StreamTool> back) {
  Bytes out;
  StreamCounts counts;
  double seconds = 0;
  int runs = 0;
  for (; runs < 3 || (seconds < 0.2 && runs < 50); ++runs) {
    const auto tool = make_tool();
    const double begin = processor_seconds();
    out = tool->access_units(clip.stream);
    seconds += processor_seconds() - begin;
    counts = tool->counts();
  }
  StreamResult returned;
  try {
    returned = run_tool(*back, out);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s, %s: %s\n", clip.name.c_str(), scheme.c_str(), error.what());
  }
  const DecodedStream decoded = decode_annexb(out);
  const Distance d = distance(payload == nullptr ? clip.source : clip.decoded, decoded.pictures);
  const double pictures = static_cast<double>(counts.pictures),
               bytes = static_cast<double>(clip.stream.size());
  const double coefficients = static_cast<double>(std::max<std::uint64_t>(counts.coefficients, 1));
  const double carriers = payload == nullptr ? 0 : static_cast<double>(counts.carriers);
  const std::uint64_t errors =
      payload == nullptr ? bit_errors(clip.stream, returned.stream) : bit_errors(*payload, returned.payload);
  const Row row{carriers / pictures,
                carriers / coefficients,
                100 * static_cast<double>(counts.encrypted_bits) / static_cast<double>(counts.slice_bits),
                100 * (static_cast<double>(out.size()) - bytes) / bytes,
                d.psnr,
                d.ssim,
                d.npcr,
                d.uaci,
                d.edr,
                1000 * seconds / runs / pictures,
                bytes * runs / seconds / 1e6,
                static_cast<double>(errors),
                static_cast<double>(decoded.complaints.size())};
  print_row(clip.name, scheme, row);
  auto& [sum, rows] = totals()[scheme];
  for (int i = 0; i < kFigures; ++i) sum[static_cast<std::size_t>(i)] += row[static_cast<std::size_t>(i)];
  ++rows;
}

void print_means() {
  for (const auto& [scheme, total] : totals()) {
    Row row = total.first;
    for (std::size_t i = 0; i < kFigures - 2; ++i) row[i] /= total.second;
    print_row("mean of " + std::to_string(total.second), scheme, row);
  }
}

// Hides as much payload as there is room for after the frame's header, or `percent` of it: at a density below
// 65536, the nonce decides which blocks are used.
template <class MakeTool>
void measure_full(const Clip& clip, const std::string& scheme, std::uint64_t header, std::uint64_t percent,
                  MakeTool make_tool, std::unique_ptr<StreamTool> back) {
  const auto probe = make_tool(Bytes{1});
  probe->access_units(clip.stream);
  const std::uint64_t room = probe->counts().carriers / 8 * percent / 100;
  if (room <= header) return;
  const Bytes payload = random_payload(room - header);
  measure(
      clip, scheme, &payload, [&] { return make_tool(payload); }, std::move(back));
}

void measure_all(const Clip& clip) {
  const auto encrypt = [&](const std::string& scheme, const EncryptionParts& parts) {
    measure(
        clip, "encrypt " + scheme, nullptr,
        [&] {
          return make_encryptor(key(), {parts, false});
        },
        make_decryptor(key()));
  };
  encrypt("signs (strength 1)", encryption_strength(1));
  if (has_cabac(clip.stream)) return;
  encrypt("modes", {false, true, false});
  encrypt("codewords", {false, false, true});
  encrypt("signs,modes (strength 2)", encryption_strength(2));
  encrypt("all (strength 3)", encryption_strength(3));
  for (const WatermarkScheme scheme : {WatermarkScheme::t1_sign, WatermarkScheme::t1_parity}) {
    for (const std::uint32_t density : {65536u, 16384u}) {
      const std::string name = scheme == WatermarkScheme::t1_sign ? "t1-sign" : "t1-parity";
      measure_full(
          clip, name + (density == 65536 ? ", full" : ", density 1/4"), 4, density == 65536 ? 100 : 75,
          [&](const Bytes& payload) {
            return make_watermark_embedder(key(), {scheme, density}, payload);
          },
          make_watermark_extractor(key()));
    }
  }
  measure_full(
      clip, "hide, full", 8, 100, [&](const Bytes& payload) { return make_hider(key(), payload); },
      make_hidden_reader(key()));
}

Clip encoded_clip(const std::filesystem::path& path, const std::string& profile) {
  Clip clip;
  clip.name = path.stem().string();
  clip.source = load_clip(path.string(), 10);
  Config config;
  config.set("profile", profile);
  config.set("backend", "cpu");
  config.set("qp", "24");
  clip.stream = encode(config, clip.source).bytes();
  clip.decoded = pictures_of(decode_annexb(clip.stream));
  return clip;
}

Clip read_clip(const std::string& path) {
  Clip clip;
  clip.name = std::filesystem::path(path).stem().string();
  std::ifstream file(path, std::ios::binary);
  clip.stream.assign(std::istreambuf_iterator<char>(file), {});
  clip.source = clip.decoded = pictures_of(decode_annexb(clip.stream));
  return clip;
}

}  // namespace

int main(int argc, char** argv) {
  std::printf(
      "| stream | scheme | bits a picture | bits a coefficient | bits encrypted %% | size %% | PSNR-Y | "
      "SSIM-Y | "
      "NPCR %% | UACI %% | EDR | ms a picture | MB/s | bit errors | complaints |\n");
  for (int i = 0; i < kFigures + 2; ++i) std::printf("|---");
  std::printf("|\n");
  try {
    std::string profile = "baseline";
    std::vector<std::string> files(argv + 1, argv + argc);
    if (!files.empty() && (files[0] == "baseline" || files[0] == "main" || files[0] == "high")) {
      profile = files[0];
      files.erase(files.begin());
    }
    for (const std::string& file : files) measure_all(read_clip(file));
    const char* const data = std::getenv("CU264_TEST_DATA");
    if (!files.empty()) return print_means(), 0;
    if (data == nullptr) throw Error(ErrorCode::bad_input, "CU264_TEST_DATA names no folder of clips");
    std::vector<std::filesystem::path> clips;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(data) / "video")) {
      clips.push_back(entry.path());
    }
    std::sort(clips.begin(), clips.end());
    for (const auto& clip : clips) measure_all(encoded_clip(clip, profile));
    print_means();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_protect: %s\n", error.what());
    return 1;
  }
}
