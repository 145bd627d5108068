// The CPU backend: several pictures in flight, and the slices of each side by side, on oneTBB.
//
// The caller's thread is one of Config::threads: it works while it waits in collect(). Slices are taken by
// ticket, those of the oldest picture first, so it does not matter which thread runs which task, and the
// bytes depend on neither.
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "common/bitstream/nal_unit.h"
#include "core/bits.h"
#include "core/slice_header.h"
#include "encoder/cpu/ingest.h"
#include "encoder/cpu/reconstruct_slice.h"
#include "encoder/cpu_picture.h"
#include "encoder/headers.h"
#include "encoder/output_picture.h"
#include "encoder/stages.h"
#include "entropy/cavlc/slice_coder.h"
#include "vision/half_size_steps.h"

namespace cu264::encoder {
namespace {

// A slice on its way. The payload's memory holds the worst case and is left uninitialised: pages that no
// slice ever fills are never touched.
struct SliceWork {
  std::unique_ptr<std::uint8_t[]> payload;
  std::size_t capacity = 0;
  std::size_t size = 0;
  entropy::SliceStats stats;
  std::exception_ptr error;
};

// A picture in flight and everything it needs.
struct Slot {
  CpuPicture picture;
  core::PictureParams params;
  std::vector<SliceWork> slices;
  std::vector<std::uint8_t> nal_units;
  CodedAccessUnit unit;
  std::exception_ptr error;
  std::atomic<int> slices_left = 0;
  std::atomic<bool> done = false;
  tbb::task_group tasks;  // as many as slices; which slices they take is the tickets' affair
};

// oneTBB has no more workers than the machine has cores to offer.
int usable_threads(int threads) {
  const int cores = tbb::info::default_concurrency();
  return threads > 0 ? std::min(threads, cores) : cores;
}

// Pictures that keep `threads` busy, and a few more for them to go on with while the caller, who is one of
// them, is at a picture of its own: with one spare picture two threads are 1.7 times as fast as one, with
// four 1.83 times.
int pictures_in_flight(int threads, int slices) {
  return threads == 1 ? 1 : (threads + slices - 1) / slices + 4;
}

// The slices in order, and their statistics in sum. `scratch` grows to the largest picture and stays.
CodedAccessUnit pack(const std::vector<SliceWork>& slices, std::vector<std::uint8_t>& scratch, int qp) {
  CodedAccessUnit unit;
  unit.stats.qp = qp;
  scratch.clear();
  for (const SliceWork& slice : slices) {
    // The first slice may begin the access unit, which wants the long start code (H.264 B.1.2).
    bitstream::append_nal(scratch, kNalRefIdc, kNalIdrSlice, {slice.payload.get(), slice.size},
                          &slice == slices.data());
    unit.stats.intra4x4_mbs += slice.stats.intra4x4_mbs;
    unit.stats.intra16x16_mbs += slice.stats.intra16x16_mbs;
    unit.stats.pcm_mbs += slice.stats.pcm_mbs;
    unit.stats.header_bits += slice.stats.header_bits;
    unit.stats.residual_bits += slice.stats.residual_bits;
  }
  unit.slices = scratch;
  return unit;
}

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const StageParams& params)
      : params_(params),
        matrix_(core::make_colour_matrix(params.matrix_coefficients, params.full_range)),
        threads_(usable_threads(params.threads)),
        arena_(threads_, 1),
        slots_(static_cast<std::size_t>(pictures_in_flight(threads_, params.slices))),
        qp_offsets_(static_cast<std::size_t>(params.streams)) {
    check_streams(params);
    for (Slot& slot : slots_) {
      slot.picture.resize(params.mb_width, params.mb_height, params.slices);
      if (params.marks) {
        slot.picture.marks.resize(slot.picture.macroblocks.size());
        slot.picture.mark_parity = params.marks->by_parity();
      }
      slot.slices.resize(static_cast<std::size_t>(params.slices));
      for (int s = 0; s < params.slices; ++s) {
        const int rows = core::slice_first_row(s + 1, params.slices, params.mb_height) -
                         core::slice_first_row(s, params.slices, params.mb_height);
        SliceWork& slice = slot.slices[static_cast<std::size_t>(s)];
        slice.capacity = entropy::max_slice_rbsp_bytes(rows * params.mb_width);
        slice.payload.reset(new std::uint8_t[slice.capacity]);
      }
    }
  }

  ~CpuBackend() override {
    next_ = submitted_.load();  // whatever has not begun is not wanted any more
    arena_.execute([this] {
      for (Slot& slot : slots_) slot.tasks.wait();
    });
  }

  int capacity() const override { return static_cast<int>(slots_.size()); }

  void submit(const Frame& frame, const core::PictureParams& params) override {
    check_picture(params, params_);
    Slot& slot = slots_[sent_++ % slots_.size()];
    ingest(frame, slot.picture, matrix_);
    if (params_.aq) {
      // A stream's pictures come in order, and each one's offsets lean on those of the picture before.
      std::vector<std::int8_t>& qp_offsets = qp_offsets_[params.stream];
      const Plane& luma = slot.picture.source[0];
      arena_.execute([&] {
        tbb::this_task_arena::isolate([&] {
          picture_qp_offsets(*params_.aq, luma.row(0), luma.width, params_.mb_width, params_.mb_height,
                             qp_offsets);
        });
      });
      slot.picture.qp_offsets = qp_offsets;
    }
    if (params_.marks) params_.marks->plan(static_cast<std::uint32_t>(params.index), slot.picture.marks);
    slot.params = params;
    slot.slices_left = params_.slices;
    slot.done = false;
    submitted_ += static_cast<std::uint64_t>(params_.slices);
    arena_.execute([&] {
      for (int s = 0; s < params_.slices; ++s) slot.tasks.run([this] { encode_next(); });
    });
  }

  void flush() override {}  // nothing waits for company here

  bool ready() const override { return collected_ < sent_ && slots_[collected_ % slots_.size()].done; }

  CodedAccessUnit collect() override {
    Slot& slot = slots_[collected_++ % slots_.size()];
    arena_.execute([&] { slot.tasks.wait(); });
    slot.done.wait(false);  // a later picture's task may have taken a ticket of this one, and still be at it
    if (slot.error) std::rethrow_exception(std::exchange(slot.error, nullptr));
    return std::move(slot.unit);
  }

 private:
  // Takes the next ticket, if there is one.
  void encode_next() {
    const auto slices = static_cast<std::uint64_t>(params_.slices);
    std::uint64_t ticket = next_;
    do {
      if (ticket >= submitted_) return;
    } while (!next_.compare_exchange_weak(ticket, ticket + 1));
    Slot& slot = slots_[ticket / slices % slots_.size()];
    encode_slice(slot, static_cast<int>(ticket % slices));
    if (--slot.slices_left > 0) return;
    finish(slot);
    slot.done = true;
    slot.done.notify_all();
  }

  void encode_slice(Slot& slot, int index) const {
    SliceWork& slice = slot.slices[static_cast<std::size_t>(index)];
    try {
      reconstruct_slice(slot.picture, index, slot.params.qp, params_.preset);
      if (params_.cipher) {
        const auto number = static_cast<std::uint32_t>(slot.params.index);
        params_.cipher->encrypt_slice(slot.picture.view(), index, number);
      }
      const int first_row = core::slice_first_row(index, params_.slices, params_.mb_height);
      const core::SliceHeaderBits header = core::slice_header(first_row * params_.mb_width, slot.params);
      core::BitWriter writer(slice.payload.get(), slice.capacity);
      slice.stats = {};
      entropy::code_slice(slot.picture.view(), index, header.bits, header.length, writer, slice.stats);
      if (writer.overflowed())
        throw Error(ErrorCode::encode_failure, "a slice is larger than any slice can be");
      slice.size = writer.size();
    } catch (...) {
      slice.error = std::current_exception();
    }
  }

  // When the last slice of a picture is coded.
  void finish(Slot& slot) const {
    try {
      for (SliceWork& slice : slot.slices) {
        if (slice.error) std::rethrow_exception(std::exchange(slice.error, nullptr));
      }
      slot.unit = pack(slot.slices, slot.nal_units, slot.params.qp);
      if (params_.reconstruction)
        slot.unit.reconstruction = output_picture(slot.picture, slot.params.deblock, params_);
    } catch (...) {
      slot.error = std::current_exception();
    }
  }

  const StageParams params_;
  const core::ColourMatrix matrix_;
  const int threads_;
  tbb::task_arena arena_;
  std::vector<Slot> slots_;
  // [stream] of its last picture submitted, with adaptive quantisation
  std::vector<std::vector<std::int8_t>> qp_offsets_;
  std::atomic<std::uint64_t> next_ = 0;  // the first ticket not taken: ticket / slices is the picture's index
  std::atomic<std::uint64_t> submitted_ = 0;  // tickets there are
  std::uint64_t sent_ = 0;                    // pictures
  std::uint64_t collected_ = 0;
};

}  // namespace

std::unique_ptr<Backend> open_cpu_backend(const StageParams& params) {
  try {
    return std::make_unique<CpuBackend>(params);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "not enough memory for the pictures in flight",
                "use fewer threads");
  }
}

}  // namespace cu264::encoder
