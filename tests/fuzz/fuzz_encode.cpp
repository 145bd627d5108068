// Small clips with P pictures of arbitrary content and options: libavcodec decodes every stream without a
// message to exactly the reconstruction, and the bytes do not depend on the number of threads.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "support/decode.h"
#include "support/encode.h"

namespace {

using namespace cu264;
using namespace cu264::test;

// Hands out the input's bytes one after another, and zeros after its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  int byte() { return at_ < size_ ? data_[at_++] : 0; }
  int below(int count) { return byte() % count; }
  bool flag() { return byte() % 2 != 0; }
  bool at_end() const { return at_ >= size_; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

Config draw_config(Input& input) {
  Config config;
  config.backend = BackendChoice::cpu;
  config.threads = 1;
  constexpr Preset kPresets[] = {Preset::fast, Preset::balanced, Preset::best};
  constexpr Profile kProfiles[] = {Profile::baseline, Profile::main, Profile::high, Profile::high};
  config.preset = kPresets[input.below(3)];
  config.profile = kProfiles[input.below(4)];
  config.cavlc = input.flag() && config.profile != Profile::baseline;
  config.gop = input.below(8);
  config.scene_cuts = input.flag() && config.gop != 1;
  config.width = 16 + input.below(64), config.height = 16 + input.below(64);
  config.slices = 1 + input.below((config.height + 15) / 16);
  config.deblock = !input.flag();
  if (input.flag()) config.aq = AdaptiveQuantisation::variance;
  if (const int control = input.below(6); control == 0) {
    config.crf = input.below(52);
  } else if (control == 1) {
    config.bitrate = 100000 + 4000 * input.byte();  // a buffer that holds any picture at QP 51
    config.lookahead = input.below(4);
  } else {
    config.qp = input.below(52);
  }
  return config;
}

// The first picture repeats some bytes of the input. Each of the others is the one before, moved, with
// rectangles that are painted, altered or moved on their own.
std::vector<Picture> draw_clip(Input& input, int width, int height) {
  std::vector<Picture> clip(static_cast<std::size_t>(2 + input.below(6)), Picture(width, height));
  std::vector<std::uint8_t> pattern(static_cast<std::size_t>(1 + input.byte()));
  for (std::uint8_t& sample : pattern) sample = static_cast<std::uint8_t>(input.byte());
  Picture& first = clip.front();
  for (std::size_t i = 0; i < first.samples.size(); ++i) first.samples[i] = pattern[i % pattern.size()];
  for (std::size_t k = 1; k < clip.size(); ++k) {
    clip[k] = clip[k - 1];
    for (int strokes = input.below(5); strokes > 0 && !input.at_end(); --strokes) {
      const int kind = input.below(4), plane = input.below(3);
      const int left = input.byte(), top = input.byte(), wide = 1 + input.byte(), high = 1 + input.byte();
      const int dx = input.byte() - 128, dy = input.byte() - 128;
      const int columns = clip[k].plane_width(plane), rows = clip[k].plane_height(plane);
      for (int y = top % rows; y < std::min(rows, top % rows + high); ++y) {
        for (int x = left % columns; x < std::min(columns, left % columns + wide); ++x) {
          std::uint8_t& sample = clip[k].plane(plane)[y * columns + x];
          const int from = std::clamp(y + dy, 0, rows - 1) * columns + std::clamp(x + dx, 0, columns - 1);
          sample = kind < 2    ? clip[k - 1].plane(plane)[from]
                   : kind == 2 ? static_cast<std::uint8_t>(sample + dx % 8)
                               : pattern[static_cast<std::size_t>(y * wide + x + 128 + dy) % pattern.size()];
        }
      }
    }
  }
  return clip;
}

void fail(const char* what, std::size_t picture) {
  std::fprintf(stderr, "picture %zu: %s\n", picture, what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  Config config = draw_config(input);
  const int threads = 2 + input.below(3);
  const std::vector<Picture> clip = draw_clip(input, config.width, config.height);
  const EncodedStream stream = encode(config, clip);

  const DecodedStream decoded = decode_annexb(stream.bytes());
  if (!decoded.complaints.empty()) fail(decoded.complaints.front().c_str(), decoded.pictures.size());
  if (decoded.pictures.size() != clip.size()) fail("not as many as were sent", decoded.pictures.size());
  for (std::size_t i = 0; i < clip.size(); ++i) {
    if (decoded.pictures[i].key != stream.packets[i].key) fail("a key picture for one of the two alone", i);
    if (decoded.pictures[i].picture.samples != reconstruction_of(stream, i).samples)
      fail("decodes to something else", i);
  }

  config.threads = threads;
  if (encode(config, clip).bytes() != stream.bytes()) fail("other bytes with several threads", 0);
  return 0;
}
