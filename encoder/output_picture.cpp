#include "encoder/output_picture.h"

#include <cstddef>
#include <cstring>

#include "core/deblock.h"
#include "encoder/deblock_picture.h"

namespace cu264::encoder {

std::vector<std::uint8_t> output_picture(CpuPicture& picture, bool deblock, const StreamParams& params) {
  if (deblock) filter_picture(picture);
  return output_samples(picture, params);
}

void filter_picture(CpuPicture& picture, const ForRows& for_rows) {
  const core::FilterOffsets offsets = core::filter_offsets(!picture.inter);
  deblock_picture(picture, offsets.a, offsets.b, for_rows);
}

std::vector<std::uint8_t> output_samples(const CpuPicture& picture, const StreamParams& params) {
  const int width = params.format.coded_width, height = params.format.coded_height;
  std::vector<std::uint8_t> out(static_cast<std::size_t>(width) * height * 3 / 2);
  std::uint8_t* to = out.data();
  for (int c = 0; c < 3; ++c) {
    const int w = c == 0 ? width : width / 2;
    const int h = c == 0 ? height : height / 2;
    for (int y = 0; y < h; ++y, to += w) {
      std::memcpy(to, picture.reconstruction[c].row(y), static_cast<std::size_t>(w));
    }
  }
  return out;
}

}  // namespace cu264::encoder
