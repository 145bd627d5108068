// The cases of the parity test of core/: one struct for each family of functions, from plain numbers to plain
// numbers, so that the results of host and device can be compared word by word.
#pragma once

#include <cstdint>

#include "core/bits.h"
#include "core/block.h"
#include "core/cavlc_block.h"
#include "core/cost.h"
#include "core/deblock.h"
#include "core/hd.h"
#include "core/intra_pred.h"
#include "core/mb_syntax.h"
#include "core/nal.h"
#include "core/quant.h"
#include "core/rdoq.h"
#include "core/transform.h"

namespace cu264::parity {

template <int kCount>
struct Words {
  std::int32_t word[kCount] = {};
};

// Bits as words: first their number, then the bits themselves.
template <int kBytes>
struct BitString {
  std::uint8_t bytes[kBytes] = {};
};

template <int kBytes>
CU264_HD_MEMBER void to_words(const core::BitWriter& bits, std::uint64_t length,
                              const BitString<kBytes>& string, std::int32_t* out) {
  out[0] = static_cast<std::int32_t>(length);
  out[1] = bits.overflowed() ? 1 : 0;
  for (int i = 0; i < kBytes; ++i) out[2 + i / 4] |= string.bytes[i] << (8 * (i % 4));
}

// Maps levels (16), max_num_coeff and nC to the bits of the block and to the length that decisions use.
struct CavlcBlock {
  static constexpr const char* kName = "cavlc_block";
  static constexpr int kBytes = 128;
  using Input = Words<18>;
  using Output = Words<3 + kBytes / 4>;
  static CU264_HD_MEMBER void run(const Input& in, Output& out) {
    std::int16_t levels[16];
    for (int k = 0; k < 16; ++k) levels[k] = static_cast<std::int16_t>(in.word[k]);
    const int max_num_coeff = in.word[16], nC = in.word[17];
    BitString<kBytes> string;
    core::BitWriter writer(string.bytes, kBytes);
    core::put_block(writer, levels, core::cavlc_symbols(levels, max_num_coeff), max_num_coeff, nC);
    const std::uint64_t length = writer.bit_position();
    writer.align_with_zeros();
    out.word[2 + kBytes / 4] = core::cavlc_block_bits(levels, max_num_coeff, nC);
    to_words(writer, length, string, out.word);
  }
};

// The records of a macroblock, of its left neighbour and of the macroblock above.
struct MacroblockHeader {
  static constexpr const char* kName = "macroblock_header";
  static constexpr int kBytes = 16;
  static constexpr int kRecord = 21;     // kind, 16x16 mode, chroma mode, pattern, delta, 16 modes
  using Input = Words<3 * kRecord + 2>;  // the records, then whether left and above are available
  using Output = Words<3 + kBytes / 4>;
  static CU264_HD_MEMBER core::MacroblockRecord unpack(const std::int32_t* word) {
    core::MacroblockRecord mb;
    mb.kind = static_cast<core::MacroblockKind>(word[0]);
    mb.intra16x16_pred_mode = static_cast<std::uint8_t>(word[1]);
    mb.intra_chroma_pred_mode = static_cast<std::uint8_t>(word[2]);
    mb.coded_block_pattern = static_cast<std::uint8_t>(word[3]);
    mb.mb_qp_delta = static_cast<std::int8_t>(word[4]);
    for (int i = 0; i < 16; ++i) mb.intra4x4_pred_mode[i] = static_cast<std::uint8_t>(word[5 + i]);
    return mb;
  }
  static CU264_HD_MEMBER void run(const Input& in, Output& out) {
    const core::MacroblockRecord mb = unpack(in.word), left = unpack(in.word + kRecord),
                                 above = unpack(in.word + 2 * kRecord);
    BitString<kBytes> string;
    core::BitWriter writer(string.bytes, kBytes);
    core::put_macroblock_header(writer, mb, in.word[3 * kRecord] != 0 ? &left : nullptr,
                                in.word[3 * kRecord + 1] != 0 ? &above : nullptr);
    const std::uint64_t length = writer.bit_position();
    writer.align_with_zeros();
    to_words(writer, length, string, out.word);
    out.word[2 + kBytes / 4] = core::mb_type_and_pattern_bits(mb);
  }
};

// A residual (16) and a QP, through transform, quantiser and back, for the block and for DC levels.
struct TransformQuantise {
  static constexpr const char* kName = "transform_quantise";
  using Input = Words<17>;
  using Output = Words<70>;
  static CU264_HD_MEMBER void run(const Input& in, Output& out) {
    const int qp = in.word[16];
    const core::Quantiser q = core::make_quantiser(qp);
    int x[16], satd[16], dc[16], chroma_dc[4];
    for (int i = 0; i < 16; ++i) x[i] = satd[i] = dc[i] = in.word[i];
    for (int i = 0; i < 4; ++i) chroma_dc[i] = in.word[i];
    out.word[64] = core::satd4x4(satd);
    core::forward_transform4x4(x);
    for (int i = 0; i < 16; ++i) {
      const int c = core::position_class(i), magnitude = core::absolute(x[i]);
      const int level = core::quantise_with_dead_zone(magnitude * q.multiplier[c], q.shift, q.rounding,
                                                      core::first_level_at(core::kDeadZoneLuma, i, q.shift));
      out.word[i] = x[i] < 0 ? -level : level;
      x[i] = out.word[i] * q.dequant[c];
    }
    core::inverse_transform4x4(x);
    core::hadamard4x4(dc);
    core::hadamard2x2(chroma_dc);
    for (int i = 0; i < 16; ++i) {
      out.word[16 + i] = x[i];
      out.word[32 + i] = dc[i];
      out.word[48 + i] = core::dequantise_luma_dc(dc[i] >> 2, q);
    }
    for (int i = 0; i < 4; ++i) out.word[66 + i] = core::dequantise_chroma_dc(chroma_dc[i], q);
    out.word[65] = core::satd_lambda(qp) * 256 + core::chroma_qp(qp);
  }
};

// scaled (16), signs, category, QP, nC
struct Rdoq {
  static constexpr const char* kName = "rdoq_block";
  using Input = Words<20>;
  using Output = Words<16>;
  static CU264_HD_MEMBER void run(const Input& in, Output& out) {
    std::int16_t levels[16] = {};
    core::rdoq_block(core::CavlcRate{}, in.word, static_cast<std::uint32_t>(in.word[16]),
                     static_cast<core::BlockCategory>(in.word[17]), core::make_quantiser(in.word[18]).shift,
                     in.word[19], levels);
    for (int i = 0; i < 16; ++i) out.word[i] = levels[i];
  }
};

// Maps the neighbouring samples (16) and the availability of left, above and corner to all nine predictions,
// as far as the mode is available.
struct Intra4x4 {
  static constexpr const char* kName = "intra4x4";
  using Input = Words<19>;
  using Output = Words<9 * 16>;
  static CU264_HD_MEMBER void run(const Input& in, Output& out) {
    std::uint8_t line[core::kIntra4x4LineLength + 1], values[core::kIntra4x4Values];
    for (int i = 0; i < 16; ++i) line[i] = static_cast<std::uint8_t>(in.word[i]);
    core::Intra4x4Neighbours available;
    available.left = in.word[16] != 0, available.above = in.word[17] != 0,
    available.corner = in.word[18] != 0;
    core::intra4x4_values(line, available, 8, values);
    for (int mode = 0; mode < 9; ++mode) {
      if (!core::intra4x4_mode_available(mode, available)) continue;
      for (int i = 0; i < 16; ++i) {
        out.word[16 * mode + i] = values[core::intra4x4_source(mode, i & 3, i >> 2)];
      }
    }
  }
};

// Maps 17 samples above and 17 to the left, the corner first, to the DC and plane predictions of luma and
// chroma.
struct IntraPlane {
  static constexpr const char* kName = "intra_dc_and_plane";
  using Input = Words<34>;
  using Output = Words<16 + 16 + 256 + 64>;
  static CU264_HD_MEMBER void run(const Input& in, Output& out) {
    std::uint8_t above[17], left[17];
    int sum_above = 0, sum_left = 0;
    for (int i = 0; i < 17; ++i) {
      above[i] = static_cast<std::uint8_t>(in.word[i]);
      left[i] = i == 0 ? above[0] : static_cast<std::uint8_t>(in.word[17 + i]);
      if (i > 0) sum_above += above[i], sum_left += left[i];
    }
    for (int i = 0; i < 16; ++i) {
      const bool has_left = (i & 1) != 0, has_above = (i & 2) != 0;
      out.word[i] = core::intra16x16_dc(has_left, sum_left, has_above, sum_above, 8);
      out.word[16 + i] =
          core::intra_chroma_dc((i >> 2) & 1, i >> 3, has_left, sum_left >> 2, has_above, sum_above >> 2, 8);
    }
    const core::PlanePrediction luma = core::intra16x16_plane(above + 1, left + 1),
                                chroma = core::intra_chroma_plane(above + 1, left + 1);
    for (int i = 0; i < 256; ++i) out.word[32 + i] = core::plane_sample(luma, i & 15, i >> 4, 7, 8);
    for (int i = 0; i < 64; ++i) out.word[288 + i] = core::plane_sample(chroma, i & 7, i >> 3, 3, 8);
  }
};

// Eight samples across an edge, the two QPs and bS, through both filters, for luma and chroma.
struct Deblock {
  static constexpr const char* kName = "deblock";
  using Input = Words<11>;
  using Output = Words<16>;
  static CU264_HD_MEMBER void store(const core::EdgeLine& s, std::int32_t* out) {
    const int samples[8] = {s.p3, s.p2, s.p1, s.p0, s.q0, s.q1, s.q2, s.q3};
    for (int i = 0; i < 8; ++i) out[i] = samples[i];
  }
  static CU264_HD_MEMBER void run(const Input& in, Output& out) {
    const std::int32_t* const w = in.word;
    const core::EdgeLine line = {w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]};
    const int bS = w[10];
    const core::EdgeThresholds t = core::deblock_thresholds(w[8], w[9], 0, 0, bS);
    store(bS < 4 ? core::deblock_normal(line, t, false) : core::deblock_strong(line, t, false), out.word);
    store(bS < 4 ? core::deblock_normal(line, t, true) : core::deblock_strong(line, t, true), out.word + 8);
  }
};

// The number of zeros so far and a byte, for emulation prevention.
struct NalEscape {
  static constexpr const char* kName = "emulation_prevention";
  using Input = Words<2>;
  using Output = Words<2>;
  static CU264_HD_MEMBER void run(const Input& in, Output& out) {
    const auto byte = static_cast<std::uint8_t>(in.word[1]);
    out.word[0] = core::needs_emulation_prevention(in.word[0], byte) ? 1 : 0;
    out.word[1] = core::zeros_after(in.word[0], byte);
  }
};

}  // namespace cu264::parity
