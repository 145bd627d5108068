// A warp measures four macroblocks at a time, with one 4x4 block in each lane: the luma of two macroblocks,
// of the other two, then the chroma of all four. Lanes count into columns of shared memory of their own, so
// that equal strengths in a warp do not collide. The last thread block of a picture to finish writes its
// measure. A picture on its own would take ten times as long as its share of a launch, because it has too few
// warps to hide the latency of the loads, of adding up the counters and of the last block's work.
#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "encoder/cuda/measure_picture.h"
#include "encoder/cuda/tuned.h"
#include "encoder/rate_control/weight_steps.h"

namespace cu264::encoder::cuda {
namespace {

constexpr int kWarps = 8, kThreads = 32 * kWarps;
constexpr int kGroup = 4;  // macroblocks that a warp takes at a time
constexpr int kBins = core::kMeasured * core::kMeasureBins;
constexpr int kCounters = kBins / 2;  // words, each of which holds two counters of 16 bits
// A column counts 32 coefficients of a kind for each group, from all warps of a block.
constexpr int kMaxGroupsPerWarp = 65535 / (32 * kWarps);

struct Sink {
  std::uint32_t* s_column;  // of this lane

  __device__ void count(core::Measured what, int strength) const {
    // What has no bin is counted in a place after all bins, which costs less than a branch.
    const int bin = core::strength_bin(strength), at = bin < 0 ? kBins : what * core::kMeasureBins + bin;
    atomicAdd(s_column + 32 * (at >> 1), 1u << (16 * (at & 1)));
  }
};

// Samples x .. x + 3 of a row, as bytes. Samples beyond the row repeat its last one.
__device__ std::uint32_t four_samples(const std::uint8_t* row, int x, int width) {
  const std::uint8_t* const at = row + x;
  if (x + 4 <= width && (reinterpret_cast<std::uintptr_t>(at) & 3) == 0) {
    return *reinterpret_cast<const std::uint32_t*>(at);
  }
  std::uint32_t samples = 0;
  for (int i = 0; i < 4; ++i) samples |= std::uint32_t{row[min(x + i, width - 1)]} << (8 * i);
  return samples;
}

// The same for one of two interleaved planes.
__device__ std::uint32_t four_of_pairs(const std::uint8_t* row, int x, int width, int which) {
  std::uint32_t samples = 0;
  for (int i = 0; i < 4; ++i) samples |= std::uint32_t{row[2 * min(x + i, width - 1) + which]} << (8 * i);
  return samples;
}

__device__ int sample_of(std::uint32_t four, int i) {
  return static_cast<int>(four >> (8 * i) & 255u);
}

__device__ void unpack(std::uint32_t four, int (&samples)[4]) {
  for (int i = 0; i < 4; ++i) samples[i] = sample_of(four, i);
}

// The picture that a thread block measures.
struct Source {
  const MeasureInput::MeasuredPicture& picture;
  int width;
  int height;
  int aq_strength;
};

// A plane of the picture.
struct Samples {
  const Source& source;
  int plane;

  __device__ std::uint32_t four(int x, int y) const {
    const core::SourcePicture& planes = source.picture.planes;
    if (plane == 0) {
      return four_samples(planes.plane[0] + min(y, source.height - 1) * planes.pitch[0], x, source.width);
    }
    const int width = (source.width + 1) / 2, row = min(y, (source.height + 1) / 2 - 1);
    if (source.picture.format == PixelFormat::i420) {
      const std::uint8_t* const first = plane == 1 ? planes.plane[1] : planes.plane[2];
      const std::ptrdiff_t pitch = plane == 1 ? planes.pitch[1] : planes.pitch[2];
      return four_samples(first + row * pitch, x, width);
    }
    if (source.picture.format != PixelFormat::nv12) return 0x80808080u;
    return four_of_pairs(planes.plane[1] + row * planes.pitch[1], x, width, plane - 1);
  }
  __device__ std::uint32_t one(int x, int y) const {
    const core::SourcePicture& planes = source.picture.planes;
    if (plane == 0) {
      return planes.plane[0][min(y, source.height - 1) * planes.pitch[0] + min(x, source.width - 1)];
    }
    return four(x, y) & 255u;
  }
};

// Sums over the lanes whose numbers differ in the bits of `lanes` only.
template <int kFrom, int kTo, class T>
__device__ T sum_over(T value) {
#pragma unroll
  for (int step = kFrom; step <= kTo; step *= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}

template <int kTo>
__device__ core::LineCosts sum_of_lanes(core::LineCosts costs) {
  return {sum_over<1, kTo>(costs.dc), sum_over<1, kTo>(costs.vertical), sum_over<1, kTo>(costs.horizontal)};
}

// A lane's block: its rows, and the samples above and to the left of the macroblock in its columns and rows.
struct LaneBlock {
  std::uint32_t row[4];
  std::uint32_t above = 0;
  std::uint32_t left = 0;

  __device__ LaneBlock(const Samples& samples, int x, int y, int line_x, int line_y) {
#pragma unroll
    for (int i = 0; i < 4; ++i) row[i] = samples.four(x, y + i);
    if (line_y >= 0) above = samples.four(x, line_y);
    if (line_x >= 0) {
#pragma unroll
      for (int i = 0; i < 4; ++i) left |= samples.one(line_x, y + i) << (8 * i);
    }
  }
  __device__ void unpack_to(int (&x)[16]) const {
#pragma unroll
    for (int i = 0; i < 16; ++i) x[i] = sample_of(row[i / 4], i % 4);
  }
};

struct LaneSums {
  unsigned long long activity = 0;
  unsigned long long weights = 0;
  std::uint32_t measured = 0;
};

// The scale of the macroblock's strengths; 0, which no strength survives, outside the picture.
__device__ int scale_of_macroblock(const Source& source, const LaneBlock& block, bool active, bool first,
                                   LaneSums& sums) {
  std::uint32_t sum = 0, squares = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sum = __dp4a(block.row[i], 0x01010101u, sum);
    squares = __dp4a(block.row[i], block.row[i], squares);
  }
  MacroblockSums own;
  own.sum = static_cast<int>(sum_over<1, 8>(sum)), own.squares = static_cast<int>(sum_over<1, 8>(squares));
  const int weight = weight_above_flat(own);
  if (active && first) sums.weights += static_cast<unsigned long long>(weight);
  sums.measured += active && first;
  return active ? core::strength_scale(weight_steps(weight, source.aq_strength)) : 0;
}

// The luma of a macroblock, with the block in raster order that the lane's number modulo 16 gives. Returns
// the macroblock's scale.
__device__ int measure_luma(const Source& source, int mb_x, int mb_y, bool active, int lane, const Sink& sink,
                            LaneSums& sums) {
  const int column = lane & 3, line = lane >> 2 & 3;
  const int left_x = 16 * mb_x, top_y = 16 * mb_y;
  const LaneBlock block({source, 0}, left_x + 4 * column, top_y + 4 * line, left_x - 1, top_y - 1);
  const int scale = scale_of_macroblock(source, block, active, (lane & 15) == 0, sums);

  int x[16], above[4], left[4];
  block.unpack_to(x);
  core::forward_transform4x4(x);

  // Intra_16x16: only its cost counts.
  unpack(block.above, above);
  unpack(block.left, left);
  const int dc = core::intra16x16_dc(mb_x > 0, sum_over<4, 8>(core::sum_of(left)), mb_y > 0,
                                     sum_over<1, 2>(core::sum_of(above)), 8);
  const core::LineCoefficients lines = core::line_coefficients(above, left);
  const core::LineCosts costs = sum_of_lanes<8>(core::line_costs(x, lines, dc));
  const core::LineMode mode = core::best_line(costs, mb_y > 0, mb_x > 0);

  // Intra_4x4: the lines are those of the blocks beside it.
  std::uint32_t right = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) right |= (block.row[i] >> 24) << (8 * i);
  const std::uint32_t other_above = __shfl_up_sync(kAllLanes, block.row[3], 4);
  const std::uint32_t other_left = __shfl_up_sync(kAllLanes, right, 1);
  unpack(line > 0 ? other_above : block.above, above);
  unpack(column > 0 ? other_left : block.left, left);
  const int cost = core::predict_luma_block(x, above, left, top_y + line > 0, left_x + column > 0);
  const int saved = core::cost_of(costs, mode) - sum_over<1, 8>(cost);
  if ((lane & 15) == 0) sink.count(core::kSplits, core::split_strength(saved, scale));
  if (active) sums.activity += static_cast<unsigned long long>(cost);
  core::count_luma_block(x, scale, sink);
  return scale;
}

// The chroma of a macroblock. A lane's number modulo 8 is plane, row and column of its block.
__device__ void measure_chroma(const Source& source, int mb_x, int mb_y, int scale, int lane,
                               const Sink& sink) {
  const int column = lane & 1, line = lane >> 1 & 1, plane = 1 + (lane >> 2 & 1);
  const LaneBlock block({source, plane}, 8 * mb_x + 4 * column, 8 * mb_y + 4 * line, 8 * mb_x - 1,
                        8 * mb_y - 1);
  int x[16], above[4], left[4];
  block.unpack_to(x);
  unpack(block.above, above);
  unpack(block.left, left);
  core::forward_transform4x4(x);
  const int dc =
      core::intra_chroma_dc(column, line, mb_x > 0, core::sum_of(left), mb_y > 0, core::sum_of(above), 8);
  const core::LineCoefficients lines = core::line_coefficients(above, left);
  const core::LineMode mode =
      core::best_line(sum_of_lanes<4>(core::line_costs(x, lines, dc)), mb_y > 0, mb_x > 0);
  core::subtract_line(x, lines, dc, mode);
  core::count_chroma_ac(x, scale, sink);

  int level = x[0];
#pragma unroll
  for (int step = 1; step <= 2; step *= 2) {
    const int other = __shfl_xor_sync(kAllLanes, level, step);
    level = lane & step ? other - level : other + level;
  }
  int strength = core::strength_of(level, 0, scale, core::kChromaDcExtraShift);
  sink.count(core::kChromaLevels, strength);
  strength = max(strength, __shfl_xor_sync(kAllLanes, strength, 1));
  strength = max(strength, __shfl_xor_sync(kAllLanes, strength, 2));
  if ((lane & 3) == 0) sink.count(core::kChromaBlocks, strength);
}

// Adds the thread block's counters to those of the picture.
__device__ void add_counters(const std::uint32_t (&s_counters)[kCounters + 1][32], MeasureSums* d_sums) {
  for (int word = static_cast<int>(threadIdx.x); word < kCounters; word += kThreads) {
    std::uint32_t even = 0, odd = 0;
    for (int i = 0; i < 32; ++i) {
      const std::uint32_t both = s_counters[word][(i + word) & 31];
      even += both & 0xffffu, odd += both >> 16;
    }
    if (even != 0) atomicAdd(&d_sums->histogram[2 * word], even);
    if (odd != 0) atomicAdd(&d_sums->histogram[2 * word + 1], odd);
  }
}

// Moves the picture's sums to the result.
__device__ void write_result(MeasureSums* d_sums, int macroblocks, int aq_strength,
                             core::PictureMeasure* result) {
  std::uint32_t* const bins = &result->histogram[0][0];
  for (int bin = static_cast<int>(threadIdx.x); bin < kBins; bin += kThreads) {
    bins[bin] = atomicExch(&d_sums->histogram[bin], 0u);
  }
  if (threadIdx.x != 0) return;
  result->macroblocks = static_cast<std::uint32_t>(macroblocks);
  result->aq_strength = aq_strength;
  result->measured = atomicExch(&d_sums->measured, 0u);
  result->activity = atomicExch(&d_sums->activity, 0ull);
  result->weights = static_cast<std::int64_t>(atomicExch(&d_sums->weights, 0ull));
  atomicExch(&d_sums->finished_blocks, 0u);
}

// Where a warp's group of lanes has its macroblock. Lanes without one work at the picture's end, and count
// nothing.
struct LaneMacroblock {
  int mb_x, mb_y;
  bool active;

  __device__ LaneMacroblock(const core::MeasuredPlaces& places, int at, int mb_width, int mb_height)
      : mb_y(min(at / places.per_row, mb_height - 1)) {
    const int column = core::column_of_place(places, at % places.per_row, mb_y);
    active = at < places.per_row * mb_height && column < mb_width;
    mb_x = min(column, mb_width - 1);
  }
};

__global__ void __launch_bounds__(kThreads)
    measure_pictures(const __grid_constant__ MeasureInput input, const core::MeasuredPlaces places,
                     int mb_width, int mb_height, MeasureSums* d_all_sums, core::PictureMeasure* results) {
  __shared__ std::uint32_t s_counters[kCounters + 1][32];  // the last is never read
  __shared__ bool s_last;
  const Source source = {input.picture[blockIdx.y], input.width, input.height, input.aq_strength};
  if (source.picture.planes.plane[0] == nullptr) return;
  MeasureSums* const d_sums = d_all_sums + blockIdx.y;
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
  for (int i = static_cast<int>(threadIdx.x); i < kCounters * 32; i += kThreads)
    s_counters[i / 32][i % 32] = 0;
  __syncthreads();

  const Sink sink{&s_counters[0][lane]};
  LaneSums sums;
  const int groups = (places.per_row * mb_height + kGroup - 1) / kGroup;
  for (int group = static_cast<int>(blockIdx.x) * kWarps + warp; group < groups;
       group += static_cast<int>(gridDim.x) * kWarps) {
    int scales[2];
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const LaneMacroblock place(places, kGroup * group + 2 * pair + lane / 16, mb_width, mb_height);
      scales[pair] = measure_luma(source, place.mb_x, place.mb_y, place.active, lane, sink, sums);
    }
    const int own = lane / 8;
    const LaneMacroblock place(places, kGroup * group + own, mb_width, mb_height);
    const int first = __shfl_sync(kAllLanes, scales[0], 16 * (own & 1));
    const int second = __shfl_sync(kAllLanes, scales[1], 16 * (own & 1));
    measure_chroma(source, place.mb_x, place.mb_y, own < 2 ? first : second, lane, sink);
  }

  const unsigned long long activity = warp_sum(std::uint64_t{sums.activity});
  const unsigned long long weights = warp_sum(std::uint64_t{sums.weights});
  const unsigned measured = warp_sum(sums.measured);
  if (lane == 0 && measured != 0) {
    atomicAdd(&d_sums->activity, activity);
    atomicAdd(&d_sums->weights, weights);
    atomicAdd(&d_sums->measured, measured);
  }
  __syncthreads();
  add_counters(s_counters, d_sums);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) s_last = atomicAdd(&d_sums->finished_blocks, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!s_last) return;
  __threadfence();
  write_result(d_sums, mb_width * mb_height, input.aq_strength, results + blockIdx.y);
}

}  // namespace

void launch_measure(const MeasureInput& input, MeasureSums* d_sums, core::PictureMeasure* results,
                    cudaStream_t stream) {
  const int mb_width = (input.width + 15) / 16, mb_height = (input.height + 15) / 16;
  const auto places = core::measured_places(mb_width, mb_height);
  const int groups = (places.per_row * mb_height + kGroup - 1) / kGroup,
            most = (groups + kWarps - 1) / kWarps;
  const int least = (groups + kWarps * kMaxGroupsPerWarp - 1) / (kWarps * kMaxGroupsPerWarp);
  const int wanted = (tuned::kMeasureBlocks + input.pictures - 1) / input.pictures;
  const int blocks = most < wanted ? most : least > wanted ? least : wanted;
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(input.pictures));
  measure_pictures<<<grid, kThreads, 0, stream>>>(input, places, mb_width, mb_height, d_sums, results);
  check_launch("measure_pictures");
}

}  // namespace cu264::encoder::cuda
