// Encrypts an H.264 stream, or decrypts it: selective_encryption encrypt|decrypt INPUT.264 KEYFILE OUTPUT.264
// The stream must consist of progressive all-intra CAVLC pictures, as written by cu264 --cavlc or
// x264 --no-cabac --keyint 1; of CABAC pictures, signs alone can be encrypted (encryption_strength(1)).
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "cu264/protect.h"

namespace {

std::vector<std::uint8_t> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("the input cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const char* path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("the output cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 5 ? argv[1] : "";
  if (what != "encrypt" && what != "decrypt") {
    std::fprintf(stderr, "usage: selective_encryption encrypt|decrypt INPUT.264 KEYFILE OUTPUT.264\n");
    return 1;
  }
  try {
    const cu264::ProtectionKey key = cu264::ProtectionKey::from_file(argv[3]);
    cu264::EncryptionOptions options;
    options.parts = cu264::encryption_strength(3);  // signs, prediction modes and codewords
    options.authenticate = true;
    const auto tool = what == "encrypt" ? make_encryptor(key, options) : make_decryptor(key);
    write(argv[4], run_tool(*tool, read(argv[2])).stream);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "selective_encryption: %s\n", error.what());
    return 2;
  }
}
