#include "encoder/rate_control/bits_model.h"

#include <algorithm>
#include <array>

#include "core/bit_ops.h"
#include "core/quant.h"
#include "encoder/rate_control/fixed_log.h"
#include "encoder/rate_control/model_table.h"

namespace cu264::encoder {
namespace {

using core::kMeasureBins, core::kMeasureBinsPerOctave;

constexpr int kOctave = 6 * kQpOne;
constexpr int kPoints = static_cast<int>(SizeCurve().size());
constexpr int kPointDistance = 3 * kQpOne;
// Macroblocks in which Intra_4x4 saves this much more are counted twice, because they have more modes to
// choose from.
constexpr int kSplitsFurther = 9 * kQpOne;

// Where the bins of an octave begin, as QP * 256: 6 * log2(1 + b / 4).
constexpr int kBinStart[kMeasureBinsPerOctave + 1] = {0, 494, 899, 1240, kOctave};
// The first bin begins at this distance below QP 0: 6 * log2(kStrengthOfQp0) - 6 * kMeasureFirstOctave.
constexpr int kQpOfFirstBin = -3888;

// The number of entries of a histogram that survive each bin's first QP.
struct Survivors {
  std::array<std::int64_t, kMeasureBins + 1> from{};

  explicit Survivors(const std::uint32_t (&histogram)[kMeasureBins]) {
    for (int bin = kMeasureBins - 1; bin >= 0; --bin) from[bin] = from[bin + 1] + histogram[bin];
  }

  // At QP * 256, which may be outside 0 .. 51: those of the bins around it, interpolated.
  std::int64_t at(int qp_q8) const {
    const int distance = std::max(qp_q8 - kQpOfFirstBin, 0);
    const int octave = distance / kOctave, rest = distance % kOctave;
    int part = 0;
    while (rest >= kBinStart[part + 1]) ++part;
    const int bin = kMeasureBinsPerOctave * octave + part;
    if (bin >= kMeasureBins) return 0;
    const int width = kBinStart[part + 1] - kBinStart[part], into = rest - kBinStart[part];
    return (from[bin] * (width - into) + from[bin + 1] * into) / width;
  }

  // The sum of the logarithms (base 2, rounded down) of the levels.
  std::int64_t doublings_at(int qp_q8) const {
    std::int64_t sum = 0;
    for (int above = qp_q8 + kOctave; above < kQpOfFirstBin + kOctave * kMeasureBins / kMeasureBinsPerOctave;
         above += kOctave) {
      sum += at(above);
    }
    return sum;
  }
};

int chroma_qp_q8(int qp_q8) {
  const int qp = std::clamp(qp_q8 / kQpOne, 0, 50), into = std::clamp(qp_q8, 0, kMaxQpQ8) - qp * kQpOne;
  return core::chroma_qp(qp) * (kQpOne - into) + core::chroma_qp(qp + 1) * into;
}

// The coefficients at a QP, interpolated between those of the table.
BitWeights weights_at(int qp_q8, Preset preset) {
  const BitWeights* const table = bit_weights(preset);
  const int from = kWeightQps[0] * kQpOne, distance = (kWeightQps[1] - kWeightQps[0]) * kQpOne;
  const int place = std::clamp(qp_q8 - from, 0, (kWeightRows - 1) * distance);
  const int row = std::min(place / distance, kWeightRows - 2), into = place - row * distance;
  BitWeights weights;
  for (int i = 0; i < kBitWeights; ++i) {
    weights.of[i] = static_cast<int>((static_cast<std::int64_t>(table[row].of[i]) * (distance - into) +
                                      static_cast<std::int64_t>(table[row + 1].of[i]) * into) /
                                     distance);
  }
  return weights;
}

// Where a QP lies between two sizes of a curve.
struct CurvePosition {
  std::size_t point;
  int into;  // of kPointDistance

  explicit CurvePosition(int qp_q8) {
    const int place = std::clamp(qp_q8, 0, kMaxQpQ8);
    point = static_cast<std::size_t>(std::min(place / kPointDistance, kPoints - 2));
    into = place - static_cast<int>(point) * kPointDistance;
  }
  // Interpolates two sizes so that log2 of the size is linear.
  std::int64_t between(std::int64_t first_log, std::int64_t last_log) const {
    return exp2_q16(
        static_cast<int>((first_log * (kPointDistance - into) + last_log * into) / kPointDistance));
  }
};

}  // namespace

SizeCurve size_curve(const core::PictureMeasure& measure, Preset preset) {
  const auto& histogram = measure.histogram;
  const Survivors luma(histogram[core::kLumaLevels]), two_groups(histogram[core::kLumaTwoGroups]);
  const Survivors all_groups(histogram[core::kLumaAllGroups]), splits(histogram[core::kSplits]);
  const Survivors chroma(histogram[core::kChromaLevels]), chroma_blocks(histogram[core::kChromaBlocks]);
  const std::int64_t measured = std::max<std::int64_t>(measure.measured, 1);
  const int mean_weight = static_cast<int>(measure.weights / measured) * measure.aq_strength / kQpOne;
  SizeCurve curve{};
  for (int point = kPoints - 1; point >= 0; --point) {
    const int qp_q8 = point * kPointDistance;
    const int luma_qp = qp_q8 - mean_weight, chroma_qp = chroma_qp_q8(qp_q8) - mean_weight;
    const std::int64_t counts[kBitWeights] = {static_cast<std::int64_t>(measure.measured),
                                              two_groups.at(luma_qp),
                                              all_groups.at(luma_qp),
                                              luma.at(luma_qp),
                                              luma.doublings_at(luma_qp),
                                              splits.at(luma_qp),
                                              splits.at(luma_qp + kSplitsFurther),
                                              chroma_blocks.at(chroma_qp),
                                              chroma.at(chroma_qp),
                                              chroma.doublings_at(chroma_qp)};
    const BitWeights weights = weights_at(qp_q8, preset);
    std::int64_t sum = 0;
    for (int i = 0; i < kBitWeights; ++i) sum += weights.of[i] * counts[i];
    const std::int64_t bits = (sum / kWeightOne) * measure.macroblocks / measured;
    // At least a bit for a macroblock, and at most what I_PCM takes.
    const std::int64_t least = std::max<std::int64_t>(measure.macroblocks, 1), most = least * 3200;
    curve[point] = std::max(std::clamp(bits, least, most), point + 1 < kPoints ? curve[point + 1] : 0);
  }
  return curve;
}

LogCurve logs_of(const SizeCurve& curve) {
  LogCurve logs;
  std::transform(curve.begin(), curve.end(), logs.logs.begin(), log2_q16);
  return logs;
}

std::int64_t bits_at(const LogCurve& curve, int qp_q8) {
  const CurvePosition place(qp_q8);
  return place.between(curve.logs[place.point], curve.logs[place.point + 1]);
}

int crf_qp_q8(const core::PictureMeasure& measure, int crf_q8, bool cabac) {
  // The scale of x264 from its second picture on, fitted by sizes (bench/results/rate-model.md): its
  // quantiser grows with the complexity of a picture, and its adaptive quantisation raises the mean with the
  // variance. All are multiplied by 256.
  constexpr int kOfCrf = 238, kOfActivity = 340, kOfWeight = 348, kOffset = -3628;
  const std::int64_t measured = std::max<std::int64_t>(measure.measured, 1);
  const int activity =
      log2_q16(static_cast<std::int64_t>(measure.activity) / measured + 1) / (kLogOne / kQpOne);
  const int weight = static_cast<int>(measure.weights / measured);
  // x264 has CABAC, which saves more the fewer levels there are.
  constexpr int kOfCavlc = 23, kFirstForCavlc = 18 * kQpOne;
  const int of_cavlc = cabac ? 0 : kOfCavlc * std::max(crf_q8 - kFirstForCavlc, 0);
  const int qp =
      (kOfCrf * crf_q8 + kOfActivity * activity + kOfWeight * weight + of_cavlc) / kQpOne + kOffset;
  return std::clamp(qp, 0, kMaxQpQ8);
}

}  // namespace cu264::encoder
