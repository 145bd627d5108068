#include "tests/parity/packed_checks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/bitstream/nal_unit.h"
#include "core/bits.h"
#include "core/cabac_encoder.h"
#include "core/mb_syntax.h"
#include "core/nal.h"
#include "encoder/headers.h"
#include "entropy/cabac/cabac_slice_coder.h"

namespace cu264::parity {
namespace {

void compare(const PackedBatch& run, std::size_t i, std::uint64_t offset, const ExpectedPicture& wanted,
             const std::string& where) {
  const entropy::PackedPicture& packed = run.pictures[i];
  ASSERT_EQ(packed.failure, 0u) << where;
  ASSERT_EQ(packed.offset, offset) << where;
  EXPECT_EQ(packed.header_bits, wanted.stats.header_bits) << where;
  EXPECT_EQ(packed.residual_bits, wanted.stats.residual_bits) << where;
  EXPECT_EQ(packed.intra4x4_mbs, wanted.stats.intra4x4_mbs) << where;
  EXPECT_EQ(packed.intra8x8_mbs, wanted.stats.intra8x8_mbs) << where;
  EXPECT_EQ(packed.intra16x16_mbs, wanted.stats.intra16x16_mbs) << where;
  EXPECT_EQ(packed.pcm_mbs, wanted.stats.pcm_mbs) << where;
  EXPECT_EQ(packed.inter_mbs, wanted.stats.inter_mbs) << where;
  const auto first = run.stream.begin() + static_cast<std::ptrdiff_t>(offset);
  const auto size = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(packed.size, wanted.bytes.size()));
  const auto differs = std::mismatch(first, first + size, wanted.bytes.begin());
  ASSERT_EQ(differs.first - first, size)
      << where << ": first differing byte " << differs.first - first << " of " << wanted.bytes.size()
      << ": host " << +*differs.second << ", device " << +*differs.first;
  ASSERT_EQ(packed.size, wanted.bytes.size()) << where;
}

// Returns the size of the NAL unit without its start code.
std::size_t append_slice(std::vector<std::uint8_t>& bytes, const encoder::CpuPicture& picture, int slice,
                         const std::uint8_t* rbsp, std::size_t size) {
  const std::size_t before = bytes.size(), prefix = slice == 0 ? 4 : 3;
  bitstream::append_nal(bytes, encoder::kNalRefIdc,
                        picture.inter ? bitstream::kNalSlice : bitstream::kNalSliceIdr, {rbsp, size},
                        slice == 0);
  return bytes.size() - before - prefix;
}

std::string text(const Shape& shape) {
  return std::to_string(shape.width) + "x" + std::to_string(shape.height) + ", " +
         std::to_string(shape.slices) + " slices, format " + std::to_string(static_cast<int>(shape.format));
}

}  // namespace

std::vector<core::SliceHeaderBits> slice_headers(const Shape& shape,
                                                 const std::vector<core::PictureParams>& pictures,
                                                 bool cabac) {
  const int mb_width = (shape.width + 15) / 16, mb_height = (shape.height + 15) / 16;
  core::PictureParams longest;
  longest.qp = 0, longest.idr_pic_id = 1;
  std::vector<core::SliceHeaderBits> headers;
  const auto header = [cabac](int first_mb, const core::PictureParams& picture) {
    return picture.key ? core::slice_header(first_mb, picture)
                       : core::p_slice_header(first_mb, picture, cabac);
  };
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    for (int slice = 0; slice < shape.slices; ++slice) {
      const int first_mb = core::slice_first_row(slice, shape.slices, mb_height) * mb_width;
      headers.push_back(header(first_mb, pictures[i]));
    }
    longest.key = pictures[i].key;
    if (i % 3 == 1) headers.back() = header(0x3ffff, longest);
  }
  return headers;
}

ExpectedPicture cavlc_picture(TestPicture& picture, const core::SliceHeaderBits* headers) {
  ExpectedPicture result;
  const core::CodedPictureView view = picture.coded.view();
  std::vector<std::uint8_t> rbsp(entropy::max_slice_rbsp_bytes(static_cast<int>(view.macroblock_count())) +
                                 64);
  for (int slice = 0; slice < view.slices; ++slice) {
    core::BitWriter writer(rbsp.data(), rbsp.size());
    entropy::code_slice(view, slice, headers[slice].bits, headers[slice].length, writer, result.stats);
    EXPECT_FALSE(writer.overflowed());
    append_slice(result.bytes, picture.coded, slice, rbsp.data(), writer.size());
  }
  return result;
}

ExpectedPicture cabac_picture(TestPicture& picture, const core::SliceHeaderBits* headers,
                              const core::PictureParams& params) {
  ExpectedPicture result;
  const core::CodedPictureView view = picture.coded.view();
  std::vector<std::uint8_t> rbsp(
      entropy::max_cabac_slice_rbsp_bytes(static_cast<int>(view.macroblock_count())));
  std::uint64_t nal_bytes = 0;
  for (int slice = 0; slice < view.slices; ++slice) {
    const std::size_t size = entropy::code_cabac_slice(view, slice, headers[slice], params.qp, rbsp.data(),
                                                       rbsp.size(), result.stats, params.cabac_init_idc);
    nal_bytes += append_slice(result.bytes, picture.coded, slice, rbsp.data(), size);
  }
  result.zero_words = core::cabac_zero_words(result.stats.bins, nal_bytes, view.macroblock_count());
  for (std::uint64_t i = 0; i < result.zero_words; ++i) {
    result.bytes.insert(result.bytes.end(), {0, 0, core::kEmulationPreventionByte});
  }
  return result;
}

void expect_packed(const std::vector<PackedBatch>& runs, const std::vector<ExpectedPicture>& wanted,
                   const Shape& shape, const std::string& what) {
  for (std::size_t run = 0; run < runs.size(); ++run) {
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::string where = what + ", " + text(shape) + ", run " + std::to_string(run) + ", picture " +
                                std::to_string(i) + " of " + std::to_string(wanted.size());
      ASSERT_NO_FATAL_FAILURE(compare(runs[run], i, offset, wanted[i], where));
      offset += wanted[i].bytes.size();
    }
    ASSERT_EQ(runs[run].stream.size(), offset) << what;
  }
}

}  // namespace cu264::parity
