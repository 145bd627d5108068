// A warp takes a row of macroblocks and waits for the vectors of the row above. Rows hand them on in words
// that say themselves whether they are there; nothing else is needed, so no row waits until another's samples
// are in memory.
#include "encoder/cuda/inter/decide_skips.h"

#include <cstddef>
#include <cstdint>
#include <cuda/atomic>

#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "core/block.h"
#include "core/coded_picture.h"
#include "core/mb_qp_delta.h"
#include "core/qp_settings.h"
#include "core/skip_decision.h"
#include "encoder/cuda/inter/inter_prediction.cuh"
#include "encoder/cuda/inter/motion_launch.cuh"
#include "encoder/cuda/inter/motion_step.cuh"
#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/warp_satd.cuh"
#include "encoder/presets.h"

namespace cu264::encoder::cuda {
namespace {

constexpr int kWarps = 4;

// Two vectors of a macroblock, or none. No vector has the components of the two constants.
using HandedVectors = unsigned long long;
constexpr int kNotHandedByte = 0x80;  // of memory that nobody has written
constexpr HandedVectors kNotHanded = 0x8080808080808080u, kNoVectors = 0x7f7f7f7f7f7f7f7fu;

__device__ HandedVectors handed(std::uint32_t first, std::uint32_t second) {
  return first | static_cast<HandedVectors>(second) << 32;
}

struct SkipRows {
  HandedVectors* vectors;  // [picture][mb], of 8x8 blocks 2 and 3; kNotHanded at first
  unsigned* ticket;
};

// What the kernels before have made of a macroblock; the same in all lanes.
struct FoundMacroblock {
  std::uint32_t first_word;  // of its record
  std::uint32_t vector[4];   // as word_of has it
  std::int32_t satd, bits;
  bool intra_is_likely;

  __device__ core::MacroblockKind kind() const {
    return static_cast<core::MacroblockKind>(first_word & 0xff);
  }
  // Where SATD decides there is one kind of inter macroblock, so the compiler leaves out the others.
  template <bool kRd>
  __device__ core::MacroblockKind inter_kind() const {
    return kRd ? kind() : core::MacroblockKind::p16x16;
  }
  __device__ int coded_block_pattern() const { return static_cast<int>(first_word >> 24); }
  __device__ core::MotionVector operator[](int block) const { return vector_of(vector[block]); }
};

// Those of 32 macroblocks, one in each lane.
class FoundMacroblocks {
 public:
  // `mb` is the index of the lane's macroblock in the picture.
  __device__ void load(const BatchView& batch, const ChainView& chain, std::size_t first_of_picture,
                       std::size_t mb) {
    own_.first_word = *reinterpret_cast<const std::uint32_t*>(batch.macroblocks + first_of_picture + mb);
    const core::MotionRecord& motion = batch.motion[first_of_picture + mb];
    for (int block = 0; block < 4; ++block) own_.vector[block] = word_of(motion.vector[block]);
    const InterChoice& choice = chain.choices[mb];
    own_.satd = choice.satd, own_.bits = choice.bits, own_.intra_is_likely = choice.intra_is_likely;
  }
  // All lanes call it.
  __device__ FoundMacroblock at(int lane) const {
    FoundMacroblock found;
    found.first_word = __shfl_sync(kAllLanes, own_.first_word, lane);
    for (int block = 0; block < 4; ++block)
      found.vector[block] = __shfl_sync(kAllLanes, own_.vector[block], lane);
    found.satd = __shfl_sync(kAllLanes, own_.satd, lane),
    found.bits = __shfl_sync(kAllLanes, own_.bits, lane);
    found.intra_is_likely = __shfl_sync(kAllLanes, own_.intra_is_likely ? 1 : 0, lane) != 0;
    return found;
  }

 private:
  FoundMacroblock own_{};
};

// The motion in and around a macroblock, for core::motion_neighbours.
struct HandedMotion {
  static constexpr int kRow = 1 << 16;  // MotionPlace::mb_width

  const FoundMacroblock& own;
  HandedVectors left, above, above_right, above_left;

  __device__ static core::MotionNeighbour of(HandedVectors vectors, bool second) {
    if (vectors == kNoVectors) return {true, false, {}};
    return {true, true, vector_of(static_cast<std::uint32_t>(second ? vectors >> 32 : vectors))};
  }
  __device__ core::MotionNeighbour operator()(int offset, int block) const {
    if (offset == 0) return {true, true, own[block]};
    if (offset == -1) return of(left, block == 3);
    return of(offset == -kRow ? above : offset == 1 - kRow ? above_right : above_left, block == 3);
  }
};

// A row that goes from left to right.
class SkipRow {
 public:
  MacroblockPosition position{};  // of the current macroblock

  // Tickets stand for row 0 of every picture, then row 1 of every picture, and so on.
  __device__ SkipRow(const BatchView& batch, const SkipRows& rows, unsigned ticket)
      : mb_width_(batch.mb_width) {
    position.mb_y = static_cast<int>(ticket / static_cast<unsigned>(batch.pictures));
    position.picture = static_cast<int>(ticket % static_cast<unsigned>(batch.pictures));
    const int slice = core::slice_of_row(position.mb_y, batch.slices, batch.mb_height);
    position.above = position.mb_y > core::slice_first_row(slice, batch.slices, batch.mb_height);
    vectors_ = rows.vectors + (static_cast<std::size_t>(position.picture) * batch.mb_height + position.mb_y) *
                                  static_cast<std::size_t>(mb_width_);
    position.mb_x = -1;
  }

  // Goes to the next macroblock, once the vectors above it are final. Returns false if there is none.
  __device__ bool next() {
    if (++position.mb_x == mb_width_) return false;
    position.left = position.mb_x > 0;
    position.above_right = position.above && position.mb_x + 1 < mb_width_;
    above_left_ = above_, above_ = above_right_;
    if (!position.above) return true;
    if (position.mb_x == 0) above_ = take(0, look(0));
    if (position.above_right) above_right_ = take(position.mb_x + 1, ahead_);
    if (position.mb_x + 2 < mb_width_) ahead_ = look(position.mb_x + 2);
    return true;
  }

  __device__ core::MotionPlace place() const {
    return {position.left, position.above, position.above_right, position.above && position.left,
            HandedMotion::kRow};
  }
  __device__ HandedMotion motion(const FoundMacroblock& own) const {
    return {own, left_, above_, above_right_, above_left_};
  }

  // The vectors of the current macroblock are final. `inter`: it has any.
  __device__ void hand_on(bool inter, const FoundMacroblock& own, int lane) {
    left_ = inter ? handed(own.vector[1], own.vector[3]) : kNoVectors;
    if (lane != 0) return;
    ::cuda::atomic_ref<HandedVectors, ::cuda::thread_scope_device>(vectors_[position.mb_x])
        .store(inter ? handed(own.vector[2], own.vector[3]) : kNoVectors, ::cuda::memory_order_relaxed);
  }

 private:
  // What the first lane sees of the vectors of a macroblock of the row above; others see nothing.
  __device__ HandedVectors look(int mb_x) const {
    if ((threadIdx.x & 31) != 0) return kNotHanded;
    return ::cuda::atomic_ref<HandedVectors, ::cuda::thread_scope_device>(vectors_[mb_x - mb_width_])
        .load(::cuda::memory_order_relaxed);
  }
  // Waits for those vectors; `seen` is what look() saw of them before. The warp of the row above holds an
  // earlier ticket, so it is already running.
  __device__ HandedVectors take(int mb_x, HandedVectors seen) const {
    if ((threadIdx.x & 31) == 0) {
      while (seen == kNotHanded) {
        seen = look(mb_x);
        if (seen == kNotHanded) __nanosleep(20);
      }
    }
    return __shfl_sync(kAllLanes, seen, 0);
  }

  const int mb_width_;
  HandedVectors* vectors_;
  HandedVectors left_ = 0, above_ = 0, above_right_ = 0, above_left_ = 0;
  HandedVectors ahead_ = kNotHanded;  // the next above_right_, as look() saw it while there was other work
};

// A macroblock that is offered the vector of P_Skip.
struct OfferedMacroblock {
  const MotionStep& motion;
  const ChainView& chain;
  const MacroblockPosition& position;
  std::size_t mb;  // in the picture
  const LaneIndices& lane;
  const HadamardMatrix& matrix;

  __device__ const BatchView& batch() const { return motion.step.batch; }
  __device__ int x() const { return 16 * position.mb_x; }
  __device__ int y() const { return 16 * position.mb_y; }
  __device__ std::size_t in_batch() const {
    return static_cast<std::size_t>(position.picture) * batch().macroblocks_per_picture() + mb;
  }

  __device__ int satd(core::MotionVector v) const {
    int sum = 0;
    for (int half = 0; half < 2; ++half) {
      const int sub = 8 * half + (lane.lane >> 2);
      const int column = x() + 4 * core::luma_block_x(sub);
      const int row = y() + 4 * core::luma_block_y(sub) + (lane.lane & 3);
      const std::uint32_t source = *reinterpret_cast<const std::uint32_t*>(chain.source[0].at(column, row));
      const std::uint32_t predicted = QuarterSource(chain, column, row, v).samples4(0);
      sum += satd_of_all(hadamard_differences(matrix, source, predicted));
    }
    return warp_sum(sum);
  }

  // The cost of P_Skip by rate and distortion.
  __device__ std::int64_t rd_cost(const PredictedSamples& predicted, int qp, int rd_lambda,
                                  std::uint8_t (&s_chroma)[2][8][8]) const {
    const SourceWords source = fetch_source(batch(), position, lane);
    __syncwarp();
    put_chroma(s_chroma, batch().format, lane, source.chroma);
    __syncwarp();
    const int luma =
        squared_error4(source.luma.x, predicted.luma[0]) + squared_error4(source.luma.y, predicted.luma[1]);
    const int chroma =
        squared_error4(reinterpret_cast<const std::uint32_t*>(s_chroma)[lane.lane], predicted.chroma);
    return core::skip_rd_cost(warp_sum(luma), warp_sum(chroma), rd_lambda, core::chroma_error_weight(qp));
  }

  __device__ void become_skip(std::uint32_t first_word, core::MotionVector v,
                              const PredictedSamples& predicted) const {
    const int i = lane.lane;
    auto* const record = reinterpret_cast<std::uint32_t*>(batch().macroblocks + in_batch());
    if (i == 0) {
      record[0] = (first_word & 0x00ffff00u) | static_cast<std::uint32_t>(core::MacroblockKind::p16x16);
    } else if (i == 1) {
      record[1] &= 0x00ffffffu;  // inter_transform_8x8
    } else if (i == 2) {
      record[6] = 0;  // nonzero_blocks
    } else if (i >= 4 && i < 8) {
      reinterpret_cast<std::uint32_t*>(batch().motion[in_batch()].vector)[i - 4] = word_of(v);
    } else if (i >= 8 && i < 16) {
      reinterpret_cast<std::uint32_t*>(batch().total_coeff + in_batch() * core::kTotalCoeffStride)[i - 8] = 0;
    }
    const std::size_t width = 16 * static_cast<std::size_t>(batch().mb_width);
    const std::size_t luma_bytes = width * 16 * static_cast<std::size_t>(batch().mb_height);
    std::uint8_t* const planes = batch().reconstruction + position.picture * (luma_bytes * 3 / 2);
    *reinterpret_cast<uint2*>(planes + (y() + (i >> 1)) * width + x() + 8 * (i & 1)) =
        uint2{predicted.luma[0], predicted.luma[1]};
    *reinterpret_cast<std::uint32_t*>(planes + luma_bytes + (i >> 4) * (luma_bytes / 4) +
                                      (y() / 2 + ((i >> 1) & 7)) * (width / 2) + x() / 2 + 4 * (i & 1)) =
        predicted.chroma;
  }
};

template <bool kRd>
__global__ void __launch_bounds__(32 * kWarps)
    decide_skips_kernel(const __grid_constant__ MotionStep motion, const __grid_constant__ SkipRows rows) {
  __shared__ __align__(16) std::uint8_t s_chroma[kWarps][2][8][8];
  const BatchView& batch = motion.step.batch;
  const LaneIndices lane(static_cast<int>(threadIdx.x & 31));
  const HadamardMatrix matrix(lane.lane);
  const unsigned count = static_cast<unsigned>(batch.pictures) * static_cast<unsigned>(batch.mb_height);
  for (;;) {
    unsigned ticket = 0;
    if (lane.lane == 0) ticket = atomicAdd(rows.ticket, 1u);
    ticket = __shfl_sync(kAllLanes, ticket, 0);
    if (ticket >= count) return;
    SkipRow row(batch, rows, ticket);
    const int picture = row.position.picture;
    const ChainView& chain = motion.step.chains[picture];
    const std::size_t first_of_picture = static_cast<std::size_t>(picture) * batch.macroblocks_per_picture();
    const std::size_t first_of_row = static_cast<std::size_t>(row.position.mb_y) * batch.mb_width;
    FoundMacroblocks all;
    while (row.next()) {
      const int mb_x = row.position.mb_x;
      const std::size_t mb = first_of_row + mb_x;
      if (mb_x % 32 == 0 && mb_x + lane.lane < batch.mb_width)
        all.load(batch, chain, first_of_picture, mb + lane.lane);
      FoundMacroblock found = all.at(mb_x % 32);
      if (core::will_be_intra(found.kind(), found.intra_is_likely, kRd)) {
        row.hand_on(false, found, lane.lane);
        continue;
      }
      const HandedMotion field = row.motion(found);
      const core::SkipOffer offer = core::offer_skip(row.place(), found.inter_kind<kRd>(),
                                                     found.coded_block_pattern(), found[0], field);
      const bool tried = !offer.taken && (kRd || found.coded_block_pattern() == 0);
      if (tried) {
        const OfferedMacroblock offered{motion, chain, row.position, mb, lane, matrix};
        const int header_bits = core::inter_header_bits(row.place(), found.inter_kind<kRd>(), found, field);
        const bool allowed = motion.limits(mb_x, row.position.mb_y).allow(offer.vector);
        core::MotionRecord skip;
        for (core::MotionVector& v : skip.vector) v = offer.vector;
        bool skips = false;
        PredictedSamples predicted{};
        if constexpr (kRd) {
          const int offset = batch.qp_offsets == nullptr ? 0 : batch.qp_offsets[first_of_picture + mb];
          const int qp = core::macroblock_qp(batch.params[picture].qp, offset);
          const int rd_lambda = core::scaled_lambda(core::rd_lambda(qp), core::kInterOfP.rd_lambda);
          std::int64_t& rd_cost = chain.choices[mb].rd_cost;
          std::int64_t cost = core::with_header(rd_cost, found.bits, header_bits, rd_lambda);
          __syncwarp();
          if (allowed) {
            predicted = predict_macroblock(chain, offered.x(), offered.y(), lane.lane, skip);
            const std::int64_t skip_cost =
                offered.rd_cost(predicted, qp, rd_lambda, s_chroma[threadIdx.x >> 5]);
            skips = skip_cost <= cost;
            if (skips) cost = skip_cost;
          }
          if (lane.lane == 0) rd_cost = cost;
        } else if (allowed) {
          skips = offered.satd(offer.vector) <= found.satd + motion.satd_lambda(picture) * header_bits;
          if (skips) predicted = predict_macroblock(chain, offered.x(), offered.y(), lane.lane, skip);
        }
        if (skips) {
          offered.become_skip(found.first_word, offer.vector, predicted);
          for (std::uint32_t& word : found.vector) word = word_of(offer.vector);
        }
      }
      row.hand_on(true, found, lane.lane);
    }
  }
}

}  // namespace

std::size_t skips_scratch_bytes(int pictures, int mb_width, int mb_height) {
  return sizeof(HandedVectors) * static_cast<std::size_t>(pictures) * static_cast<std::size_t>(mb_width) *
             static_cast<std::size_t>(mb_height) +
         sizeof(unsigned);
}

void launch_decide_skips(const StepView& step, Preset preset, void* scratch, cudaStream_t stream) {
  const BatchView& batch = step.batch;
  const int rows = batch.pictures * batch.mb_height;
  const std::size_t mbs = static_cast<std::size_t>(rows) * static_cast<std::size_t>(batch.mb_width);
  auto* const vectors = static_cast<HandedVectors*>(scratch);
  const SkipRows memory{vectors, reinterpret_cast<unsigned*>(vectors + mbs)};
  check_cuda(cudaMemsetAsync(vectors, kNotHandedByte, sizeof(HandedVectors) * mbs, stream),
             "clearing the vectors of rows");
  check_cuda(cudaMemsetAsync(memory.ticket, 0, sizeof(unsigned), stream), "clearing the ticket of rows");
  const bool by_rd = search_params(preset, batch.transform_8x8_mode).rd_candidates > 0;
  const auto kernel = by_rd ? decide_skips_kernel<true> : decide_skips_kernel<false>;
  // Rows wait for rows with earlier tickets only, so any number of blocks will do.
  kernel<<<static_cast<unsigned>((rows + kWarps - 1) / kWarps), 32 * kWarps, 0, stream>>>(
      motion_step(step, preset, {0, batch.pictures}), memory);
  check_launch("decide_skips_kernel");
}

}  // namespace cu264::encoder::cuda
