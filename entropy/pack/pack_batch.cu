// The scratch of `code` and `pack`, and their order.
#include <cstddef>
#include <cstdint>

#include "entropy/cavlc/code_batch.h"
#include "entropy/pack/pack_batch.h"
#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {
namespace {

// Cuts aligned arrays out of one allocation; without one it only measures.
class Carver {
 public:
  explicit Carver(void* memory) : memory_(static_cast<std::uint8_t*>(memory)) {}

  template <class T>
  T* take(std::size_t count) {
    T* const array = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + size_);
    size_ += (count * sizeof(T) + 255) / 256 * 256;
    return array;
  }
  std::size_t size() const { return size_; }

 private:
  std::uint8_t* memory_;
  std::size_t size_ = 0;
};

PackScratch carve(Carver& carver, const GroupLayout& layout, int mb_width, int mb_height) {
  PackScratch scratch;
  scratch.code = carver.take<std::uint8_t>(code_scratch_bytes(layout));
  scratch.coded.words = carver.take<std::uint32_t>(group_words(layout, mb_width, mb_height));
  scratch.coded.records = carver.take<GroupRecord>(layout.groups());
  scratch.positions = carver.take<std::uint64_t>(layout.groups());
  scratch.escapes = carver.take<std::uint32_t>(layout.groups());
  scratch.slices = carver.take<SliceRecord>(static_cast<std::size_t>(layout.pictures) * layout.slices);
  return scratch;
}

}  // namespace

std::size_t pack_scratch_bytes(int pictures, int mb_width, int mb_height, int slices) {
  Carver carver(nullptr);
  carve(carver, group_layout(pictures, mb_width, mb_height, slices), mb_width, mb_height);
  return carver.size();
}

std::size_t max_packed_bytes(int mb_width, int mb_height, int slices) {
  // Header and trailing bits: 9 bytes; the NAL unit's prefix: 5. Every second byte may need an escape.
  const std::size_t rbsp = static_cast<std::size_t>(mb_width) * mb_height * kMacroblockWords * 4 +
                           static_cast<std::size_t>(slices) * 9;
  return rbsp + rbsp / 2 + static_cast<std::size_t>(slices) * 5;
}

void launch_code_and_pack(const core::BatchView& batch, const SliceHeaderBits* d_headers,
                          std::uint64_t first_picture, void* scratch, std::uint8_t* d_stream,
                          std::uint64_t capacity, PackedPicture* d_pictures, cudaStream_t stream) {
  Carver carver(scratch);
  PackJob job;
  job.batch = batch;
  job.layout = group_layout(batch);
  job.headers = d_headers;
  job.first_parity = static_cast<std::uint32_t>(first_picture & 1);
  job.scratch = carve(carver, job.layout, batch.mb_width, batch.mb_height);
  job.stream = d_stream;
  job.capacity = capacity;
  job.pictures = d_pictures;
  launch_code(batch, job.scratch.code, job.scratch.coded, stream);
  launch_place(job, stream);
  launch_escape(job, stream);
  launch_write(job, stream);
}

}  // namespace cu264::entropy
