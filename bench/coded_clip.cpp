#include "bench/coded_clip.h"

#include <cstdint>
#include <fstream>
#include <stdexcept>

#include "encoder/cpu/ingest.h"
#include "encoder/cpu/reconstruct_slice.h"

namespace cu264::bench {

std::vector<encoder::CpuPicture> coded_clip(const std::string& path, int width, int height, int qp,
                                            std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  const std::size_t luma = static_cast<std::size_t>(width) * height;
  std::vector<std::uint8_t> samples(luma * 3 / 2);
  std::vector<encoder::CpuPicture> pictures;
  while (pictures.size() < most &&
         file.read(reinterpret_cast<char*>(samples.data()), static_cast<std::streamsize>(samples.size()))) {
    Frame frame;
    frame.width = width, frame.height = height;
    frame.plane[0] = samples.data(), frame.pitch[0] = width;
    frame.plane[1] = samples.data() + luma, frame.pitch[1] = width / 2;
    frame.plane[2] = frame.plane[1] + luma / 4, frame.pitch[2] = width / 2;
    encoder::CpuPicture& picture = pictures.emplace_back();
    picture.resize((width + 15) / 16, (height + 15) / 16, 1);
    encoder::ingest(frame, picture);
    encoder::reconstruct_slice(picture, 0, qp, Preset::fast);
  }
  if (pictures.empty()) throw std::runtime_error("no whole frame in " + path);
  return pictures;
}

}  // namespace cu264::bench
