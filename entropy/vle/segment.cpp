#include "entropy/vle/segment.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cu264/status.h"
#include "entropy/vle/cpu_decode.h"
#include "entropy/vle/cpu_encode.h"
#include "entropy/vle/cpu_histogram.h"
#include "entropy/vle/crc32c.h"

namespace cu264::vle {
namespace {

using Bytes = std::span<const std::uint8_t>;

class CpuCoder final : public SegmentCoder {
 public:
  HostMemory allocate(std::size_t size) override {
    // The memory is not initialised, so that pages that no segment fills are never touched.
    return {new std::uint8_t[size], [](std::uint8_t* memory) { delete[] memory; }};
  }

  SegmentPlan encode(Bytes input, std::uint64_t position, std::span<std::uint8_t> record) override {
    SegmentPlan plan = plan_segment(count_parallel(input), input.size(), position);
    const std::span<std::uint8_t> body = record.subspan(kRecordHeaderSize, plan.header.body_size());
    if (plan.coded()) {
      chunk_index_.resize(chunk_count(input.size()));
      encode_parallel(plan.table, input, body.subspan(plan.header.tables_size), chunk_index_);
    } else {
      std::copy(input.begin(), input.end(), body.begin());
    }
    write_front(plan, crc32c(input), chunk_index_, record);
    return plan;
  }

  void decode(const RecordHeader& header, Bytes body, std::span<std::uint8_t> output) override {
    if (header.kind == RecordKind::coded) {
      const SegmentTables tables = parse_tables(header, body);
      const Decoder decoder(assign_codes(tables.lengths));
      decoder.decode_parallel(body.subspan(header.tables_size), header.bits, tables.chunk_index, output);
    } else {
      std::copy(body.begin(), body.end(), output.begin());
    }
    check_original(header, output);
  }

 private:
  std::vector<std::uint64_t> chunk_index_;
};

}  // namespace

SegmentPlan plan_segment(const Histogram& histogram, std::size_t size, std::uint64_t position) {
  SegmentPlan plan;
  RecordHeader& header = plan.header;
  plan.table = make_code_table(histogram, kShortCode);
  header.size = static_cast<std::uint32_t>(size);
  header.position = position;
  header.kind = RecordKind::coded;
  header.bits = stream_bits(plan.table, histogram);
  header.tables_size = static_cast<std::uint32_t>(tables_size(plan.table.length, size));
  if (header.body_size() >= size) {
    header.kind = RecordKind::stored;
    header.bits = std::uint64_t{8} * size;
    header.tables_size = 0;
  }
  return plan;
}

void write_front(SegmentPlan& plan, std::uint32_t checksum, std::span<const std::uint64_t> chunk_index,
                 std::span<std::uint8_t> record) {
  plan.header.checksum = checksum;
  if (plan.coded()) {
    const std::span<std::uint8_t> tables = record.subspan(kRecordHeaderSize, plan.header.tables_size);
    write_tables({plan.table.length, {chunk_index.begin(), chunk_index.end()}}, tables);
    plan.header.tables_checksum = crc32c(tables);
  }
  write_header(plan.header, record.first<kRecordHeaderSize>());
}

void check_original(const RecordHeader& header, Bytes original) {
  if (crc32c(original) == header.checksum) return;
  throw Error(ErrorCode::bad_input,
              "the segment after byte " + std::to_string(header.position) +
                  " of the original does not match its checksum",
              "the file is damaged");
}

std::unique_ptr<SegmentCoder> make_cpu_coder() {
  return std::make_unique<CpuCoder>();
}

}  // namespace cu264::vle
