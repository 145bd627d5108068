// The container of `cu264 vle`: the bytes of its records, which docs/vle-format.md describes.
//
// A file consists of a signature of 8 bytes, segments that each stand alone, and an end record. Nothing that
// is read is trusted: every parse_ function throws Error(bad_input) on bytes that no writer of version 1 can
// have written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "entropy/vle/huffman.h"

namespace cu264::vle {

// Original bytes of each segment but the last.
inline constexpr std::size_t kSegmentSize = std::size_t{1} << 22;
inline constexpr std::size_t kSignatureSize = 8;
inline constexpr std::size_t kRecordHeaderSize = 40;

enum class RecordKind : std::uint32_t {  // four letters, the first one in the lowest byte
  coded = 0x45444f43,                    // "CODE"
  stored = 0x59504f43,                   // "COPY"
  end = 0x53444e45,                      // "ENDS"
};

struct RecordHeader {
  RecordKind kind = RecordKind::end;
  std::uint32_t size = 0;             // original bytes of this segment; end: 0
  std::uint64_t position = 0;         // original bytes before it; end: bytes of the whole file
  std::uint64_t bits = 0;             // bits of the stream; stored: 8 * size; end: 0
  std::uint32_t checksum = 0;         // CRC-32C of the original bytes; end: that of all segments' checksums
  std::uint32_t tables_size = 0;      // bytes of code lengths and chunk index; 0 unless coded
  std::uint32_t tables_checksum = 0;  // their CRC-32C

  std::size_t stream_size() const { return static_cast<std::size_t>(bits / 8 + (bits % 8 != 0)); }
  std::size_t body_size() const { return tables_size + stream_size(); }  // what follows the header
};

// Code lengths and chunk index of a coded segment.
struct SegmentTables {
  CodeLengths lengths{};
  std::vector<std::uint64_t> chunk_index;
};

void write_signature(std::span<std::uint8_t, kSignatureSize> bytes);
void parse_signature(std::span<const std::uint8_t, kSignatureSize> bytes);

void write_header(const RecordHeader& header, std::span<std::uint8_t, kRecordHeaderSize> bytes);
// `position` is the position that the record must state.
RecordHeader parse_header(std::span<const std::uint8_t, kRecordHeaderSize> bytes, std::uint64_t position);

std::size_t tables_size(const CodeLengths& lengths, std::size_t segment_size);
// `bytes` has exactly the size that tables_size() returns.
void write_tables(const SegmentTables& tables, std::span<std::uint8_t> bytes);
// `body` is what follows the header; its first tables_size bytes are parsed.
SegmentTables parse_tables(const RecordHeader& header, std::span<const std::uint8_t> body);

// The CRC-32C of the segments' checksums, one after the other in the byte order of their headers.
std::uint32_t add_checksum(std::uint32_t before, std::uint32_t checksum);

}  // namespace cu264::vle
