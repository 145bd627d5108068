// Prints a SHA-256 of each picture that openh264 shows of a byte stream: openh264_pictures FILE.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/support/openh264_decode.h"
#include "tests/support/sha256.h"

int main(int count, char** arguments) {
  if (count != 2) return 1;
  std::ifstream file(arguments[1], std::ios::binary);
  const std::vector<std::uint8_t> stream{std::istreambuf_iterator<char>(file), {}};
  for (const cu264::test::Picture& picture : cu264::test::decode_with_openh264(stream))
    std::printf("%dx%d %s\n", picture.width, picture.height, cu264::test::sha256(picture.samples).c_str());
  return 0;
}
