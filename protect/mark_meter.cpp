// Counts how many blocks of a stream can carry a bit of a watermark.
#include "protect/mark_capacity.h"
#include "protect/marked_blocks.h"
#include "protect/payload.h"

namespace cu264::protect {
namespace {

class MeterJob : public SliceJob {
 public:
  MeterJob(WatermarkScheme scheme, StreamCounts& sums) : scheme_(scheme), sums_(sums) {}

  void run() override {
    blocks_.begin_slice(slice, nullptr, {scheme_}, Marking::in_turn);
    parse(blocks_);
    all_ = blocks_.candidates.size();
    blocks_.keep_free_ones();
  }
  bool finish() override {
    sums_.carriers += all_, sums_.free_carriers += blocks_.candidates.size();
    return false;
  }

 private:
  WatermarkScheme scheme_;
  StreamCounts& sums_;
  SliceBlocks blocks_;
  std::uint64_t all_ = 0;
};

class Meter : public NalTool {
 public:
  explicit Meter(WatermarkScheme scheme) : scheme_(scheme) {}

 private:
  bool message(const Message& message) override {
    refuse_encrypted(message);
    return false;
  }
  std::unique_ptr<SliceJob> make_job() override { return std::make_unique<MeterJob>(scheme_, sums_); }
  void add_counts(StreamCounts& counts) const override {
    counts.carriers = sums_.carriers, counts.free_carriers = sums_.free_carriers;
  }

  WatermarkScheme scheme_;
  StreamCounts sums_;
};

std::uint64_t chosen(std::uint64_t carriers, std::uint32_t density) {
  return static_cast<std::uint64_t>(static_cast<double>(carriers) * density / 65536);
}

}  // namespace
}  // namespace cu264::protect

namespace cu264 {

std::unique_ptr<StreamTool> make_watermark_meter(WatermarkScheme scheme) {
  return std::make_unique<protect::Meter>(scheme);
}

std::uint64_t watermark_room(const StreamCounts& counts, std::uint32_t density) {
  const std::uint64_t bytes = protect::chosen(counts.free_carriers, density) / 8;
  return bytes < protect::kMarkFrameHeaderBytes ? 0 : bytes - protect::kMarkFrameHeaderBytes;
}

std::uint64_t encoder_watermark_room(const StreamCounts& counts, std::uint32_t density,
                                     WatermarkSpread spread) {
  return protect::mark_capacity(protect::chosen(counts.carriers, density), density, spread);
}

}  // namespace cu264
