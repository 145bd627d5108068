#include "io/file_extent.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace cu264::io {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

Bytes read_at(const InputFile& file, std::uint64_t offset, std::size_t size) {
  Bytes bytes(size);
  bytes.resize(file.try_read_at(bytes, offset));
  return bytes;
}

std::uint64_t big_endian(const Bytes& bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes.at(at + i);
  return value;
}

bool has(const Bytes& bytes, std::size_t at, const char* text) {
  const std::size_t size = std::strlen(text);
  return bytes.size() >= at + size && std::memcmp(bytes.data() + at, text, size) == 0;
}

std::string short_by(std::uint64_t end, std::uint64_t size) {
  if (end <= size) return {};
  return "the file is cut off: " + std::to_string(end - size) + " bytes are missing at its end";
}

// Reads the size of an EBML element (RFC 8794, 4), a number that says its own length, and moves `at` past it.
std::uint64_t ebml_size(const Bytes& bytes, std::size_t& at) {
  if (at >= bytes.size() || bytes[at] == 0) return kUnknown;
  std::size_t length = 1;
  while ((bytes[at] & (0x80u >> (length - 1))) == 0) ++length;
  if (at + length > bytes.size()) return kUnknown;
  const std::uint64_t ones = (std::uint64_t{1} << (7 * length)) - 1;
  const std::uint64_t value = big_endian(bytes, at, length) & ones;
  at += length;
  return value == ones ? kUnknown : value;
}

std::string missing_of_matroska(const InputFile& file, std::uint64_t size) {
  constexpr std::uint64_t kSegment = 0x18538067;
  const Bytes head = read_at(file, 0, 256);
  std::size_t at = 4;
  const std::uint64_t header = ebml_size(head, at);
  if (header > head.size() || at + header + 4 >= head.size()) return {};
  at += header;
  if (big_endian(head, at, 4) != kSegment) return {};
  at += 4;
  const std::uint64_t segment = ebml_size(head, at);
  return segment == kUnknown || segment > (std::uint64_t{1} << 56) ? "" : short_by(at + segment, size);
}

// Walks over the boxes of the file's top level (ISO/IEC 14496-12, 4.2).
std::string missing_of_mp4(const InputFile& file, std::uint64_t size) {
  for (std::uint64_t at = 0; at + 8 <= size;) {
    const Bytes box = read_at(file, at, 16);
    if (box.size() < 8) return {};
    std::uint64_t length = big_endian(box, 0, 4);
    if (length == 0) return {};  // to the end of the file
    if (length == 1) length = box.size() == 16 ? big_endian(box, 8, 8) : 0;
    if (length < 8) return {};
    if (length > size - at) return short_by(length, size - at);
    at += length;
  }
  return {};
}

// Walks over the blocks (GIF89a, appendix A) to the trailer.
std::string missing_of_gif(const InputFile& file, std::uint64_t size) {
  const auto byte_at = [&](std::uint64_t at) {
    const Bytes one = read_at(file, at, 1);
    return one.empty() ? 0 : one[0];
  };
  const auto colours = [](int flags) {
    return (flags & 0x80) != 0 ? std::uint64_t{3} << ((flags & 7) + 1) : 0;
  };
  std::uint64_t at = 13 + colours(byte_at(10));
  while (at < size) {
    const int introducer = byte_at(at);
    if (introducer == 0x3b) return {};
    if (introducer == 0x21) {
      at += 2;
    } else if (introducer == 0x2c) {
      at += 11 + colours(byte_at(at + 9));
    } else {
      return {};  // this is not a block: the decoder says what is wrong
    }
    for (int length = 0; at < size && (length = byte_at(at)) != 0;)
      at += 1 + static_cast<std::uint64_t>(length);
    ++at;
  }
  return "the file is cut off: a GIF ends with a trailer";
}

// A JPEG file ends with the marker EOI, and perhaps with what a camera put after it.
std::string missing_of_jpeg(const InputFile& file, std::uint64_t size) {
  constexpr std::array<std::uint8_t, 2> kEndOfImage{0xff, 0xd9};
  constexpr std::uint64_t kLooksBack = 1 << 16;
  const std::uint64_t from = size > kLooksBack ? size - kLooksBack : 0;
  const Bytes tail = read_at(file, from, static_cast<std::size_t>(size - from));
  if (std::search(tail.begin(), tail.end(), kEndOfImage.begin(), kEndOfImage.end()) != tail.end()) return {};
  return "the file is cut off: a JPEG ends with a marker";
}

std::string missing_of_transport_stream(const InputFile& file, std::uint64_t size) {
  constexpr std::uint8_t kSync = 0x47;
  const Bytes head = read_at(file, 0, 192 + 5);
  if (head.size() < 192 + 5) return {};
  const std::uint64_t packet = head[0] == kSync && head[188] == kSync   ? 188
                               : head[4] == kSync && head[196] == kSync ? 192
                                                                        : 0;
  if (packet == 0 || size % packet == 0) return {};
  return "the file is cut off within a packet";
}

}  // namespace

std::string missing_end(const InputFile& file) {
  if (!file.size()) return {};
  const std::uint64_t size = *file.size();
  const Bytes head = read_at(file, 0, 12);
  if (head.size() < 12) return {};
  if (has(head, 0, "\x1a\x45\xdf\xa3")) return missing_of_matroska(file, size);
  if (has(head, 4, "ftyp") || has(head, 4, "moov") || has(head, 4, "mdat") || has(head, 4, "wide"))
    return missing_of_mp4(file, size);
  if (has(head, 0, "GIF8")) return missing_of_gif(file, size);
  if (has(head, 0, "\xff\xd8\xff")) return missing_of_jpeg(file, size);
  if (has(head, 0, "RIFF")) {
    const std::uint64_t length = head[4] | head[5] << 8 | head[6] << 16 | std::uint64_t{head[7]} << 24;
    return length == 0 || length == 0xffffffff ? "" : short_by(length + 8, size);
  }
  return missing_of_transport_stream(file, size);
}

}  // namespace cu264::io
