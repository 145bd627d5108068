// The container: round trips of any size with any number of threads, and every kind of damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cu264/status.h"
#include "cu264/vle.h"
#include "entropy/vle/container.h"
#include "entropy/vle/crc32c.h"
#include "tests/support/quick.h"
#include "tests/unit/vle_inputs.h"

namespace cu264 {
namespace {

using namespace test;

constexpr std::size_t kSignature = 8, kHeader = 40;

vle::StreamOptions on_cpu(int threads) {
  vle::StreamOptions options;
  options.backend = BackendChoice::cpu, options.threads = threads;
  return options;
}

ByteVector compress(const ByteVector& input, int threads = 1) {
  return vle::compress(input, on_cpu(threads));
}
ByteVector expand(const ByteVector& container) {
  return vle::expand(container, on_cpu(1));
}

// True if the file is refused as damaged; otherwise it must expand to its original content.
bool refused(const ByteVector& container, const ByteVector& original) {
  try {
    EXPECT_EQ(expand(container), original);
    return false;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input) << error.what();
    return true;
  }
}

// The checksum, bit by bit from the polynomial.
std::uint32_t crc32c_by_definition(const ByteVector& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0x82f63b78 & (0 - (crc & 1)));
  }
  return ~crc;
}

TEST(VleContainer, Crc32c) {
  const std::string text = "123456789";
  EXPECT_EQ(vle::crc32c(ByteVector(text.begin(), text.end())), 0xe3069283u);
  for (std::size_t size = 0; size < 100; ++size) {
    const ByteVector bytes = random_bytes(size, 256, 1);
    const std::uint32_t expected = crc32c_by_definition(bytes);
    EXPECT_EQ(vle::crc32c(bytes), expected);
    EXPECT_EQ(vle::crc32c_portable(bytes), expected);
    const std::span<const std::uint8_t> all(bytes);
    EXPECT_EQ(vle::crc32c(all.subspan(size / 3), vle::crc32c(all.first(size / 3))), expected);
    EXPECT_EQ(vle::crc32c_portable(all.subspan(size / 3), vle::crc32c(all.first(size / 3))), expected);
  }
}

TEST(VleContainer, RoundTrips) {
  for (const std::size_t size : {0, 1, 2, 3, 4, 5, 31, 200, 1023, 1024, 1025, 50001, 1000000}) {
    for (const NamedInput& input : inputs_of_size(size)) {
      SCOPED_TRACE(input.name + ", " + std::to_string(size) + " bytes");
      const ByteVector container = compress(input.bytes);
      ASSERT_EQ(container, compress(input.bytes, 0));
      ASSERT_EQ(expand(container), input.bytes);
      ASSERT_LE(container.size(), kSignature + kHeader + (size > 0 ? kHeader + size : 0));
    }
  }
}

TEST(VleContainer, Corpora) {
  const std::vector<NamedInput> files = corpora();
  if (files.empty()) GTEST_SKIP() << kNoCorpora;
  for (const NamedInput& file : files) {
    const ByteVector container = compress(file.bytes);
    EXPECT_EQ(container, compress(file.bytes, 0)) << file.name;
    EXPECT_EQ(expand(container), file.bytes) << file.name;
    EXPECT_LT(container.size(), file.bytes.size() * 7 / 10) << file.name;
  }
}

// Segments of different kinds, one of them full, one of a single byte.
TEST(VleContainer, SeveralSegments) {
  ByteVector input = random_bytes(vle::kSegmentSize, 256, 1);
  const ByteVector text = random_bytes(vle::kSegmentSize, 20, 2);
  input.insert(input.end(), text.begin(), text.end());
  input.insert(input.end(), 1, 'x');
  const ByteVector container = compress(input, 0);
  ASSERT_TRUE(container == compress(input, 1));
  ASSERT_TRUE(expand(container) == input);
  // The first segment cannot be compressed.
  const vle::RecordHeader first = vle::parse_header(std::span(container).subspan<kSignature, kHeader>(), 0);
  EXPECT_EQ(first.kind, vle::RecordKind::stored);
  const std::size_t second_at = kSignature + kHeader + first.body_size();
  const vle::RecordHeader second =
      vle::parse_header(std::span(container).subspan(second_at).first<kHeader>(), vle::kSegmentSize);
  EXPECT_EQ(second.kind, vle::RecordKind::coded);
  EXPECT_LT(container.size(), vle::kSegmentSize + vle::kSegmentSize * 6 / 10);

  // The second record is missing or repeated; each record says where it belongs.
  const auto begin = container.begin() + static_cast<std::ptrdiff_t>(second_at);
  const auto end = begin + static_cast<std::ptrdiff_t>(kHeader + second.body_size());
  ByteVector without(container.begin(), begin);
  without.insert(without.end(), end, container.end());
  EXPECT_TRUE(refused(without, input));
  ByteVector twice(container.begin(), end);
  twice.insert(twice.end(), begin, container.end());
  EXPECT_TRUE(refused(twice, input));
}

TEST(VleContainer, SourceAndSinkInPieces) {
  const ByteVector input = random_bytes(3 * vle::kSegmentSize + 77, 9, 4);
  std::size_t at = 0, calls = 0;
  ByteVector container;
  vle::StreamOptions options = on_cpu(0);
  vle::StreamTotals seen;
  options.progress = [&](const vle::StreamTotals& totals) {
    ++calls;
    EXPECT_GT(totals.original, seen.original);
    EXPECT_GT(totals.container, seen.container);
    seen = totals;
  };
  const vle::StreamReport report = vle::compress(
      [&](std::span<std::uint8_t> memory) {
        const std::size_t size = std::min(memory.size(), input.size() - at);
        std::copy_n(input.begin() + static_cast<std::ptrdiff_t>(at), size, memory.begin());
        at += size;
        return size;
      },
      [&](std::span<const std::uint8_t> bytes) {
        container.insert(container.end(), bytes.begin(), bytes.end());
      },
      options);
  EXPECT_EQ(calls, 4u);
  EXPECT_EQ(report.backend, "cpu");
  EXPECT_EQ(report.totals.original, input.size());
  EXPECT_EQ(report.totals.container, container.size());
  EXPECT_TRUE(expand(container) == input);
}

TEST(VleContainer, ErrorsOfSourceAndSinkComeThrough) {
  struct Mine {};
  const vle::Source endless = [](std::span<std::uint8_t> memory) {
    std::fill(memory.begin(), memory.end(), 1);
    return memory.size();
  };
  for (const int threads : {1, 0}) {
    EXPECT_THROW(vle::compress([](std::span<std::uint8_t>) -> std::size_t { throw Mine(); },
                               [](std::span<const std::uint8_t>) {}, on_cpu(threads)),
                 Mine);
    int writes = 0;
    EXPECT_THROW(vle::compress(
                     endless,
                     [&](std::span<const std::uint8_t>) {
                       if (++writes == 3) throw Mine();
                     },
                     on_cpu(threads)),
                 Mine);
    vle::StreamOptions options = on_cpu(threads);
    options.progress = [](const vle::StreamTotals&) { throw Mine(); };
    EXPECT_THROW(vle::compress(
                     endless, [](std::span<const std::uint8_t>) {}, options),
                 Mine);
  }
}

TEST(VleContainer, EveryTruncationIsRefused) {
  for (const std::size_t size : {0, 1, 60, 3000}) {
    const ByteVector input = random_bytes(size, 5, 8);
    const ByteVector container = compress(input);
    for (std::size_t left = 0; left < container.size(); ++left) {
      ASSERT_TRUE(refused(
          ByteVector(container.begin(), container.begin() + static_cast<std::ptrdiff_t>(left)), input))
          << left;
    }
    ByteVector longer = container;
    longer.push_back(0);
    EXPECT_TRUE(refused(longer, input));
    ByteVector doubled = container;
    doubled.insert(doubled.end(), container.begin(), container.end());
    EXPECT_TRUE(refused(doubled, input));
  }
}

TEST(VleContainer, EveryDamagedByteIsRefused) {
  for (const std::size_t size : {0, 1, 60, 1500}) {
    const ByteVector input = steep_bytes(size, 8);
    const ByteVector container = compress(input);
    for (std::size_t at = 0; at < container.size(); ++at) {
      for (const std::uint8_t flip : {0x01, 0x80}) {
        ByteVector bad = container;
        bad[at] ^= flip;
        ASSERT_TRUE(refused(bad, input)) << "byte " << at << " of " << container.size() << ", " << int{flip};
      }
    }
  }
}

// Forged files: every checksum matches what it covers, but the content contradicts itself.
TEST(VleContainer, ForgedRecordsAreRefused) {
  const ByteVector input = steep_bytes(5000, 3);
  const ByteVector container = compress(input);
  const std::span<const std::uint8_t> bytes(container);
  const vle::RecordHeader good = vle::parse_header(bytes.subspan<kSignature, kHeader>(), 0);
  ASSERT_EQ(good.kind, vle::RecordKind::coded);
  const auto with_header = [&](vle::RecordHeader header) {
    ByteVector forged = container;
    vle::write_header(header, std::span(forged).subspan<kSignature, kHeader>());
    return forged;
  };
  ASSERT_FALSE(refused(with_header(good), input));
  std::vector<vle::RecordHeader> forged(13, good);
  forged[0].kind = static_cast<vle::RecordKind>(0);
  forged[1].size = 0;
  forged[2].size = vle::kSegmentSize + 1;
  forged[3].size = good.size + 1;
  forged[4].position = 1;
  forged[5].bits = ~std::uint64_t{0};
  forged[6].bits = good.bits + 1;
  forged[7].bits = good.bits - 1;
  forged[8].checksum ^= 1;
  forged[9].tables_size += 1;
  forged[10].tables_size = 0xffffffff;
  forged[11].kind = vle::RecordKind::stored;
  forged[12].kind = vle::RecordKind::end;
  for (std::size_t i = 0; i < forged.size(); ++i) EXPECT_TRUE(refused(with_header(forged[i]), input)) << i;

  // Every byte of the tables is changed, under a checksum that matches.
  for (std::size_t at = 0; at < good.tables_size; ++at) {
    for (const std::uint8_t flip : {0x01, 0x10, 0x80}) {
      ByteVector bad = container;
      bad[kSignature + kHeader + at] ^= flip;
      vle::RecordHeader header = good;
      header.tables_checksum = vle::crc32c(std::span(bad).subspan(kSignature + kHeader, good.tables_size));
      vle::write_header(header, std::span(bad).subspan<kSignature, kHeader>());
      ASSERT_TRUE(refused(bad, input)) << at;
    }
  }
}

TEST(VleContainer, PositionsBeyond4GiB) {
  for (const std::uint64_t position : {std::uint64_t{1} << 32, (std::uint64_t{1} << 62) + 12345}) {
    for (const vle::RecordKind kind : {vle::RecordKind::stored, vle::RecordKind::end}) {
      vle::RecordHeader header;
      header.kind = kind, header.position = position;
      if (kind == vle::RecordKind::stored) header.size = 9, header.bits = 72;
      std::array<std::uint8_t, kHeader> bytes;
      vle::write_header(header, bytes);
      EXPECT_EQ(vle::parse_header(bytes, position).position, position);
      EXPECT_THROW(vle::parse_header(bytes, position & 0xffffffff), Error);
    }
  }
}

TEST(VleContainer, TablesKeepLengthsAndIndex) {
  for (const std::size_t size : {1u, 1024u, 1025u, 100000u}) {
    for (const NamedInput& input : inputs_of_size(size)) {
      vle::SegmentTables tables;
      const vle::CodeTable table = vle::make_code_table(vle::histogram(input.bytes));
      tables.lengths = table.length;
      const BitByBit coded = encode_bit_by_bit(table, input.bytes);
      tables.chunk_index = coded.chunk_index;
      ByteVector bytes(vle::tables_size(tables.lengths, size));
      vle::write_tables(tables, bytes);
      vle::RecordHeader header;
      header.kind = vle::RecordKind::coded;
      header.size = static_cast<std::uint32_t>(size);
      header.bits = coded.bits;
      header.tables_size = static_cast<std::uint32_t>(bytes.size());
      header.tables_checksum = vle::crc32c(bytes);
      const vle::SegmentTables parsed = vle::parse_tables(header, bytes);
      EXPECT_EQ(parsed.lengths, tables.lengths);
      EXPECT_EQ(parsed.chunk_index, tables.chunk_index);
    }
  }
}

TEST(VleContainer, OtherFilesAndVersions) {
  const auto message = [](const ByteVector& bytes) -> std::string {
    try {
      expand(bytes);
      return "taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      return error.what();
    }
  };
  EXPECT_NE(message({}).find("empty"), std::string::npos);
  EXPECT_NE(message(random_bytes(1000, 256, 1)).find("not a cu264 vle file"), std::string::npos);
  ByteVector later = compress({1, 2, 3});
  later[7] = 2;
  EXPECT_NE(message(later).find("version 2"), std::string::npos);
}

// Arbitrary bytes after a good signature, with checksums that match.
TEST(VleContainer, RandomTablesAndStreams) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    vle::RecordHeader header;
    header.kind = vle::RecordKind::coded;
    header.size = 200 + random() % 3000;
    header.bits = header.size + random() % (6 * header.size);
    ByteVector tables = random_bytes(32 + random() % 100, 256, seed);
    if (seed % 2 == 0) std::fill(tables.begin() + 1, tables.begin() + 32, 0);  // few symbols
    header.tables_size = static_cast<std::uint32_t>(tables.size());
    header.tables_checksum = vle::crc32c(tables);
    if (header.body_size() >= header.size) continue;
    ByteVector file(kSignature + kHeader);
    vle::write_signature(std::span(file).first<kSignature>());
    vle::write_header(header, std::span(file).subspan<kSignature, kHeader>());
    file.insert(file.end(), tables.begin(), tables.end());
    const ByteVector stream = random_bytes(header.stream_size(), 256, seed + 1);
    file.insert(file.end(), stream.begin(), stream.end());
    ASSERT_TRUE(refused(file, {}));
  }
}

TEST(VleContainer, AutomaticBackendIsOneOfTheTwo) {
  const ByteVector input = random_bytes(100000, 30, 1);
  std::size_t at = 0;
  const vle::StreamReport report = vle::compress(
      [&](std::span<std::uint8_t> memory) {
        const std::size_t size = std::min(memory.size(), input.size() - at);
        std::copy_n(input.begin() + static_cast<std::ptrdiff_t>(at), size, memory.begin());
        at += size;
        return size;
      },
      [](std::span<const std::uint8_t>) {});
  EXPECT_TRUE(report.backend == "cpu" || report.backend == "cuda") << report.backend;
  EXPECT_FALSE(report.reason.empty());
}

}  // namespace
}  // namespace cu264
