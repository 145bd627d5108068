// Rules that the CPU's and the GPU's coders of a segment share: everything that decides its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "entropy/vle/container.h"

namespace cu264::vle {

// The plan of a segment that is to be written. Only its checksums are missing.
struct SegmentPlan {
  RecordHeader header;
  CodeTable table;  // valid if header.kind is coded

  bool coded() const { return header.kind == RecordKind::coded; }
  std::size_t record_size() const { return kRecordHeaderSize + header.body_size(); }
};

// Plans a coded segment if that is smaller than a stored one. `size` is 1 to kSegmentSize.
SegmentPlan plan_segment(const Histogram& histogram, std::size_t size, std::uint64_t position);

// Writes the header of a stored segment, or header and tables of a coded one.
void write_front(SegmentPlan& plan, std::uint32_t checksum, std::span<const std::uint64_t> chunk_index,
                 std::span<std::uint8_t> record);

// Throws Error(bad_input) unless these are the original bytes of the segment.
void check_original(const RecordHeader& header, std::span<const std::uint8_t> original);

// Host memory of the kind that suits the coder.
using HostMemory = std::unique_ptr<std::uint8_t[], std::function<void(std::uint8_t*)>>;

// Codes segments, one at a time.
class SegmentCoder {
 public:
  virtual ~SegmentCoder() = default;

  virtual HostMemory allocate(std::size_t size) = 0;
  // Codes 1 to kSegmentSize bytes into a record, which must hold at least kRecordHeaderSize more bytes.
  // Returns the record's plan.
  virtual SegmentPlan encode(std::span<const std::uint8_t> input, std::uint64_t position,
                             std::span<std::uint8_t> record) = 0;
  // Decodes what follows the header into header.size bytes. Throws Error(bad_input) if it is damaged.
  virtual void decode(const RecordHeader& header, std::span<const std::uint8_t> body,
                      std::span<std::uint8_t> output) = 0;
};

// Uses all threads of the current oneTBB arena.
std::unique_ptr<SegmentCoder> make_cpu_coder();

// Throws Error(device_unavailable) if there is no such device. Exists only in builds with CUDA.
std::unique_ptr<SegmentCoder> make_cuda_coder(int device);

}  // namespace cu264::vle
