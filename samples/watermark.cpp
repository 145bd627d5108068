// Marks an H.264 stream with a text, or reads the mark:
//   watermark embed INPUT.264 KEYFILE OUTPUT.264 TEXT
//   watermark extract INPUT.264 KEYFILE
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "cu264/protect.h"

namespace {

std::vector<std::uint8_t> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("the input cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (!(what == "embed" && argc == 6) && !(what == "extract" && argc == 4)) {
    std::fprintf(stderr,
                 "usage: watermark embed INPUT.264 KEYFILE OUTPUT.264 TEXT\n"
                 "       watermark extract INPUT.264 KEYFILE\n");
    return 1;
  }
  try {
    const std::vector<std::uint8_t> stream = read(argv[2]);
    const cu264::ProtectionKey key = cu264::ProtectionKey::from_file(argv[3]);
    if (what == "extract") {
      const auto payload = run_tool(*cu264::make_watermark_extractor(key), stream).payload;
      std::printf("%.*s\n", static_cast<int>(payload.size()), reinterpret_cast<const char*>(payload.data()));
      return 0;
    }
    const std::string text = argv[5];
    cu264::WatermarkOptions options;
    options.scheme = cu264::WatermarkScheme::t1_sign;  // every block that can carry a bit carries one
    const auto embedder =
        make_watermark_embedder(key, options, std::vector<std::uint8_t>(text.begin(), text.end()));
    const std::vector<std::uint8_t> marked = run_tool(*embedder, stream).stream;
    std::ofstream output(argv[4], std::ios::binary);
    output.write(reinterpret_cast<const char*>(marked.data()), static_cast<std::streamsize>(marked.size()));
    if (!output.flush()) throw std::runtime_error("the output cannot be written");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "watermark: %s\n", error.what());
    return 2;
  }
}
