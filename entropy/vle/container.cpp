#include "entropy/vle/container.h"

#include <algorithm>
#include <array>
#include <string>

#include "cu264/status.h"
#include "entropy/vle/crc32c.h"

namespace cu264::vle {
namespace {

using Bytes = std::span<const std::uint8_t>;

// The first byte occurs in no text, and a transfer that converts line ends damages the others.
constexpr std::array<std::uint8_t, kSignatureSize - 1> kMagic = {0x89, 'V', 'L', 'E', '\r', '\n', 0x1a};
constexpr std::uint8_t kVersion = 1;

constexpr std::size_t kMaskSize = kSymbols / 8;
constexpr std::size_t kIndexEntrySize = 2;
static_assert(kShortCode * kChunkSymbols <= 0xffff);

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::bad_input, what, "the file is damaged, or is not a cu264 vle file");
}

// Integers are stored from the lowest byte up.
template <typename T>
void put(std::span<std::uint8_t> bytes, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

template <typename T>
T get(Bytes bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value = static_cast<T>(value | T{bytes[at + i]} << (8 * i));
  return value;
}

std::size_t used_symbols(const CodeLengths& lengths) {
  return kSymbols - static_cast<std::size_t>(std::count(lengths.begin(), lengths.end(), 0));
}

void check_header(const RecordHeader& header, std::uint64_t position) {
  const std::string where = "the record after byte " + std::to_string(position) + " of the original";
  if (header.position != position) {
    refuse(where + " says that it is at byte " + std::to_string(header.position));
  }
  const bool no_tables = header.tables_size == 0 && header.tables_checksum == 0;
  const bool sized = header.size >= 1 && header.size <= kSegmentSize;
  bool good = false;
  switch (header.kind) {
    case RecordKind::end:
      good = header.size == 0 && header.bits == 0 && no_tables;
      break;
    case RecordKind::stored:
      good = sized && header.bits == std::uint64_t{8} * header.size && no_tables;
      break;
    case RecordKind::coded:
      // A segment is coded only where that makes it smaller than stored. body_size() therefore needs no more
      // memory than the original.
      good = sized && header.bits >= header.size && header.bits < std::uint64_t{8} * header.size &&
             header.tables_size >= kMaskSize && header.body_size() < header.size;
      break;
    default:
      refuse(where + " is of no known kind");
  }
  if (!good) refuse("the header of " + where + " contradicts itself");
}

}  // namespace

void write_signature(std::span<std::uint8_t, kSignatureSize> bytes) {
  std::copy(kMagic.begin(), kMagic.end(), bytes.begin());
  bytes[kMagic.size()] = kVersion;
}

void parse_signature(std::span<const std::uint8_t, kSignatureSize> bytes) {
  if (!std::equal(kMagic.begin(), kMagic.end(), bytes.begin())) {
    throw Error(ErrorCode::bad_input, "this is not a cu264 vle file", "cu264 vle compress makes such files");
  }
  if (const int version = bytes[kMagic.size()]; version != kVersion) {
    throw Error(ErrorCode::bad_input, "the file has version " + std::to_string(version) + " of the format",
                "this cu264 reads version 1");
  }
}

void write_header(const RecordHeader& header, std::span<std::uint8_t, kRecordHeaderSize> bytes) {
  put(bytes, 0, static_cast<std::uint32_t>(header.kind));
  put(bytes, 4, header.size);
  put(bytes, 8, header.position);
  put(bytes, 16, header.bits);
  put(bytes, 24, header.checksum);
  put(bytes, 28, header.tables_size);
  put(bytes, 32, header.tables_checksum);
  put(bytes, 36, crc32c(bytes.first<36>()));
}

RecordHeader parse_header(std::span<const std::uint8_t, kRecordHeaderSize> bytes, std::uint64_t position) {
  if (get<std::uint32_t>(bytes, 36) != crc32c(bytes.first<36>())) {
    refuse("the header of the record after byte " + std::to_string(position) +
           " of the original does not match its checksum");
  }
  RecordHeader header;
  header.kind = static_cast<RecordKind>(get<std::uint32_t>(bytes, 0));
  header.size = get<std::uint32_t>(bytes, 4);
  header.position = get<std::uint64_t>(bytes, 8);
  header.bits = get<std::uint64_t>(bytes, 16);
  header.checksum = get<std::uint32_t>(bytes, 24);
  header.tables_size = get<std::uint32_t>(bytes, 28);
  header.tables_checksum = get<std::uint32_t>(bytes, 32);
  check_header(header, position);
  return header;
}

std::size_t tables_size(const CodeLengths& lengths, std::size_t segment_size) {
  return kMaskSize + (used_symbols(lengths) + 1) / 2 + kIndexEntrySize * (chunk_count(segment_size) - 1);
}

void write_tables(const SegmentTables& tables, std::span<std::uint8_t> bytes) {
  std::fill(bytes.begin(), bytes.end(), 0);
  std::size_t used = 0;
  for (int s = 0; s < kSymbols; ++s) {
    if (tables.lengths[s] == 0) continue;
    bytes[s / 8] = static_cast<std::uint8_t>(bytes[s / 8] | 1 << s % 8);
    std::uint8_t& pair = bytes[kMaskSize + used / 2];
    pair = static_cast<std::uint8_t>(pair | (tables.lengths[s] - 1) << (used % 2 == 0 ? 0 : 4));
    ++used;
  }
  std::size_t at = kMaskSize + (used + 1) / 2;
  for (std::size_t chunk = 1; chunk < tables.chunk_index.size(); ++chunk, at += kIndexEntrySize) {
    put(bytes, at, static_cast<std::uint16_t>(tables.chunk_index[chunk] - tables.chunk_index[chunk - 1]));
  }
}

SegmentTables parse_tables(const RecordHeader& header, std::span<const std::uint8_t> body) {
  const Bytes bytes = body.first(header.tables_size);
  const std::string where = " of the segment after byte " + std::to_string(header.position);
  if (crc32c(bytes) != header.tables_checksum) refuse("the tables" + where + " do not match their checksum");
  SegmentTables tables;
  std::size_t used = 0;
  for (int s = 0; s < kSymbols; ++s) {
    if ((bytes[s / 8] >> s % 8 & 1) == 0) continue;
    const std::size_t at = kMaskSize + used / 2;
    if (at >= bytes.size()) refuse("the code lengths" + where + " are incomplete");
    tables.lengths[s] = static_cast<std::uint8_t>(1 + (bytes[at] >> (used % 2 == 0 ? 0 : 4) & 15));
    ++used;
  }
  if (used % 2 != 0 && bytes[kMaskSize + used / 2] >> 4 != 0)
    refuse("what pads the code lengths" + where + " is not zero");
  if (used == 0 || !is_complete_code(tables.lengths, kShortCode)) {
    refuse("the code lengths" + where + " do not make a complete code");
  }
  if (tables_size(tables.lengths, header.size) != bytes.size()) {
    refuse("the tables" + where + " have the wrong size");
  }
  std::size_t at = kMaskSize + (used + 1) / 2;
  std::uint64_t start = 0;
  tables.chunk_index.push_back(0);
  for (; at < bytes.size(); at += kIndexEntrySize) {
    start += get<std::uint16_t>(bytes, at);
    tables.chunk_index.push_back(start);
  }
  if (start >= header.bits) refuse("the chunk index" + where + " goes beyond the stream");
  return tables;
}

std::uint32_t add_checksum(std::uint32_t before, std::uint32_t checksum) {
  std::array<std::uint8_t, 4> bytes;
  put(bytes, 0, checksum);
  return crc32c(bytes, before);
}

}  // namespace cu264::vle
