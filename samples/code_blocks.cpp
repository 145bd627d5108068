// Codes the first plane of a raw picture without a video encoder: with a transform of its own (Hadamard, 4x4)
// and the CAVLC of cavlc.h. Decodes it and compares: code_blocks FILE WIDTH HEIGHT STEP
// Sides are multiples of 4. STEP quantises what the transform gives; with 1 nothing is lost.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "cu264/cavlc.h"

namespace {

constexpr int kZigzag[16] = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};

// Applied twice, it multiplies by 16. Rows of its matrix are in order of frequency.
void hadamard(int* block) {
  for (int i = 0; i < 8; ++i) {
    int *const v = i < 4 ? block + 4 * i : block + i - 4, s = i < 4 ? 1 : 4;
    const int a = v[0] + v[s], b = v[0] - v[s], c = v[2 * s] + v[3 * s], d = v[2 * s] - v[3 * s];
    v[0] = a + c, v[s] = a - c, v[2 * s] = b - d, v[3 * s] = b + d;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5) throw std::runtime_error("usage: code_blocks FILE WIDTH HEIGHT STEP");
  const int width = std::atoi(argv[2]), height = std::atoi(argv[3]), step = std::atoi(argv[4]);
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<unsigned char> picture(std::istreambuf_iterator<char>(file), {});
  if (width < 4 || height < 4 || width % 4 + height % 4 > 0 || step < 1 ||
      picture.size() / width < unsigned(height))
    throw std::runtime_error("no such picture");

  const cu264::cavlc::Grids grids{width / 4, height / 4};
  std::vector<std::int16_t> levels(grids.blocks() * 16), decoded(levels.size());
  const auto sample = [&](std::size_t block, int i) {
    return picture[(block / grids.width * 4 + i / 4) * width + block % grids.width * 4 + i % 4] - 128;
  };
  for (std::size_t block = 0; block < grids.blocks(); ++block) {
    int values[16];
    for (int i = 0; i < 16; ++i) values[i] = sample(block, i);
    hadamard(values);
    for (int k = 0; k < 16; ++k)
      levels[16 * block + k] = std::int16_t(std::lround(double(values[kZigzag[k]]) / step));
  }
  std::vector<std::uint8_t> stream(cu264::cavlc::max_stream_bytes(grids));
  std::vector<std::uint64_t> index(grids.count + 1);
  const std::uint64_t bits = cu264::cavlc::encode(grids, levels, {}, stream, index);
  cu264::cavlc::decode(grids, stream, index, {}, decoded);

  double error = 0;
  for (std::size_t block = 0; block < grids.blocks(); ++block) {
    int values[16];
    for (int k = 0; k < 16; ++k) values[kZigzag[k]] = decoded[16 * block + k] * step;
    hadamard(values);
    for (int i = 0; i < 16; ++i) error += std::pow(values[i] / 16. - sample(block, i), 2);
  }
  std::printf("%.2f bits a sample, a mean squared error of %.3f\n", double(bits) / width / height,
              error / width / height);
  return decoded == levels ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
