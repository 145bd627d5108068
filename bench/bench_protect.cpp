// What protection costs and does, scheme by scheme: bench_protect [FILE.264 ...]
//
// Without files: the clips of the folder that CU264_TEST_DATA names, encoded here at QP 24. Prints a Markdown
// table. Encrypted pictures are measured against the source, marked ones against the unmarked stream.
// Throughput counts the bytes of the stream by the processor's time.
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cu264/protect.h"
#include "tests/support/decode.h"
#include "tests/support/encode.h"

namespace {

using namespace cu264;
using namespace cu264::test;
using Bytes = std::vector<std::uint8_t>;

double processor_seconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Mean SSIM of luma in 8x8 windows, four samples apart.
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

struct Distance {
  double psnr = 0, ssim = 0;
  double npcr = 0, uaci = 0;  // luma samples that changed, and by how much of 255, in per cent
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
    mean.npcr += 100 * changed / static_cast<double>(samples);
    mean.uaci += 100 * by / 255 / static_cast<double>(samples);
  }
  const double n = static_cast<double>(std::max<std::size_t>(count, 1));
  return {mean.psnr / n, mean.ssim / n, mean.npcr / n, mean.uaci / n};
}

struct Clip {
  std::string name;
  Bytes stream;
  std::vector<Picture> source;  // empty: what the stream decodes to
  std::vector<Picture> decoded;
};

std::vector<Picture> pictures_of(const DecodedStream& stream) {
  std::vector<Picture> pictures;
  for (const DecodedPicture& decoded : stream.pictures) pictures.push_back(decoded.picture);
  return pictures;
}

ProtectionKey key() {
  return ProtectionKey(std::array<std::uint8_t, 32>{2, 6, 4});
}

template <class MakeTool>
void measure(const Clip& clip, const std::string& scheme, bool encryption, MakeTool make_tool,
             std::unique_ptr<StreamTool> back) {
  Bytes out;
  StreamCounts counts;
  double seconds = 0;
  int runs = 0;
  for (; runs < 3 || (seconds < 0.3 && runs < 50); ++runs) {
    const auto tool = make_tool();
    const double begin = processor_seconds();
    out = tool->access_units(clip.stream);
    seconds += processor_seconds() - begin;
    counts = tool->counts();
  }
  const StreamResult returned = run_tool(*back, out);
  const DecodedStream decoded = decode_annexb(out);
  const Distance d = distance(encryption ? clip.source : clip.decoded, decoded.pictures);
  const double pictures = static_cast<double>(counts.pictures),
               bytes = static_cast<double>(clip.stream.size());
  const char* const error = encryption                 ? (returned.stream == clip.stream ? "0" : "LOST")
                            : returned.payload.empty() ? "LOST"
                                                       : "0";
  std::printf("| %s | %s | %.0f | %.4f | %.2f | %+.4f | %.2f | %.4f | %.2f | %.2f | %.1f | %s | %zu |\n",
              clip.name.c_str(), scheme.c_str(),
              encryption ? 0 : static_cast<double>(counts.carriers) / pictures,
              static_cast<double>(counts.carriers) /
                  static_cast<double>(std::max<std::uint64_t>(counts.coefficients, 1)),
              100 * static_cast<double>(counts.encrypted_bits) / static_cast<double>(counts.slice_bits),
              100 * (static_cast<double>(out.size()) - bytes) / bytes, d.psnr, d.ssim, d.npcr, d.uaci,
              bytes * runs / seconds / 1e6, error, decoded.complaints.size());
}

void measure_all(const Clip& clip) {
  for (int strength = 1; strength <= 3; ++strength) {
    measure(
        clip, "encrypt, strength " + std::to_string(strength), true,
        [&] {
          return make_encryptor(key(), {encryption_strength(strength), false});
        },
        make_decryptor(key()));
  }
  const Bytes payload{0x26, 0x40};
  try {
    measure(
        clip, "t1-sign", false,
        [&] {
          return make_watermark_embedder(key(), {WatermarkScheme::t1_sign, 65536}, payload);
        },
        make_watermark_extractor(key()));
    measure(
        clip, "t1-parity", false,
        [&] {
          return make_watermark_embedder(key(), {WatermarkScheme::t1_parity, 65536}, payload);
        },
        make_watermark_extractor(key()));
    // As much as there is room for.
    const auto probe = make_hider(key(), payload);
    probe->access_units(clip.stream);
    const std::uint64_t room = probe->counts().carriers / 8;
    if (room < 9) return;
    const Bytes full(room - 8, 0x26);
    measure(
        clip, "hide, full", false, [&] { return make_hider(key(), full); }, make_hidden_reader(key()));
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", clip.name.c_str(), error.what());
  }
}

Clip encoded_clip(const std::filesystem::path& path) {
  Clip clip;
  clip.name = path.stem().string();
  clip.source = load_clip(path.string(), 10);
  Config config;
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
      "| stream | scheme | carriers a picture | a coefficient | bits encrypted %% | size %% | PSNR-Y | "
      "SSIM-Y | NPCR %% "
      "| UACI %% | MB/s | errors | complaints |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  try {
    for (int i = 1; i < argc; ++i) measure_all(read_clip(argv[i]));
    const char* const data = std::getenv("CU264_TEST_DATA");
    if (argc > 1) return 0;
    if (data == nullptr) throw Error(ErrorCode::bad_input, "CU264_TEST_DATA names no folder of clips");
    std::vector<std::filesystem::path> clips;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(data) / "video")) {
      clips.push_back(entry.path());
    }
    std::sort(clips.begin(), clips.end());
    for (const auto& clip : clips) measure_all(encoded_clip(clip));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_protect: %s\n", error.what());
    return 1;
  }
}
