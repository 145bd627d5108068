// Small pictures of frames in host memory.
#include "core/colour.h"
#include "encoder/cpu/ingest.h"
#include "encoder/scene_cuts.h"

namespace cu264::encoder {
namespace {

class CpuShrinker final : public Shrinker {
 public:
  explicit CpuShrinker(const StreamParams& params)
      : matrix_(core::make_colour_matrix(params.input.matrix_coefficients, params.input.full_range)) {
    for (int plane = 0; plane < 3; ++plane) {
      const int side = plane == 0 ? 16 : 8;
      copy_.source[plane].resize(params.format.mb_width * side, params.format.mb_height * side);
    }
  }

  void shrink(const Frame& frame, SmallPicture& small) override {
    ingest(frame, copy_, matrix_);
    const Plane& luma = copy_.source[0];
    small.width = luma.width / 8, small.height = luma.height / 8;
    small.samples.resize(static_cast<std::size_t>(small.width) * static_cast<std::size_t>(small.height));
    std::uint8_t* out = small.samples.data();
    for (int y = 0; y < small.height; ++y) {
      for (int x = 0; x < small.width; ++x) {
        int sum = 32;
        for (int row = 0; row < 8; ++row) {
          const std::uint8_t* const in = luma.row(8 * y + row) + 8 * x;
          for (int i = 0; i < 8; ++i) sum += in[i];
        }
        *out++ = static_cast<std::uint8_t>(sum >> 6);
      }
    }
  }

 private:
  const core::ColourMatrix matrix_;
  CpuPicture copy_;
};

}  // namespace

std::unique_ptr<Shrinker> make_cpu_shrinker(const StreamParams& params) {
  return std::make_unique<CpuShrinker>(params);
}

}  // namespace cu264::encoder
