#include "encoder/cpu/picture_in_flight.h"

#include <algorithm>
#include <utility>

#include "common/bitstream/nal_unit.h"
#include "core/bits.h"
#include "core/cabac_encoder.h"
#include "core/nal.h"
#include "core/slice_header.h"
#include "encoder/headers.h"
#include "encoder/output_picture.h"
#include "entropy/cabac/cabac_slice_coder.h"

namespace cu264::encoder {
namespace {

// A CABAC picture with too many bins for its bytes ends with cabac_zero_words (H.264 7.4.2.10). These belong
// to its last NAL unit. `bytes` counts the NAL units without their start codes.
void append_zero_words(std::uint64_t bins, std::size_t bytes, int macroblocks,
                       std::vector<std::uint8_t>& nal_units) {
  const std::uint64_t words = core::cabac_zero_words(bins, bytes, static_cast<std::uint64_t>(macroblocks));
  for (std::uint64_t i = 0; i < words; ++i)
    nal_units.insert(nal_units.end(), {0, 0, core::kEmulationPreventionByte});
}

// Joins the slices in order and adds up their statistics. `scratch` grows to the largest picture and keeps
// its memory.
CodedAccessUnit pack(const std::vector<SliceWork>& slices, std::vector<std::uint8_t>& scratch,
                     const core::PictureParams& picture, int macroblocks, const StreamParams& params) {
  CodedAccessUnit unit;
  unit.stats.qp = picture.qp;
  const int nal_unit_type = picture.key ? bitstream::kNalSliceIdr : bitstream::kNalSlice;
  scratch.clear();
  std::uint64_t bins = 0;
  std::size_t nal_bytes = 0;
  for (const SliceWork& slice : slices) {
    // The first slice may begin the access unit, which needs the long start code (H.264 B.1.2).
    const bool long_start_code = &slice == slices.data();
    const std::size_t before = scratch.size();
    bitstream::append_nal(scratch, kNalRefIdc, nal_unit_type, {slice.payload.get(), slice.size},
                          long_start_code);
    nal_bytes += scratch.size() - before - (long_start_code ? 4 : 3);
    bins += slice.stats.bins;
    unit.stats.intra4x4_mbs += slice.stats.intra4x4_mbs;
    unit.stats.intra8x8_mbs += slice.stats.intra8x8_mbs;
    unit.stats.intra16x16_mbs += slice.stats.intra16x16_mbs;
    unit.stats.pcm_mbs += slice.stats.pcm_mbs;
    unit.stats.inter_mbs += slice.stats.inter_mbs;
    unit.stats.header_bits += slice.stats.header_bits;
    unit.stats.residual_bits += slice.stats.residual_bits;
  }
  append_zero_words(bins, nal_bytes, macroblocks, scratch);
  unit.front = params.pacing.headroom;
  unit.slices = params.packet_memory->take(
      unit.front + std::max(scratch.size(), params.pacing.packet_capacity) + kRoomForMessages);
  std::vector<std::uint8_t>& bytes = unit.slices.vector();
  bytes.resize(unit.front);
  bytes.insert(bytes.end(), scratch.begin(), scratch.end());
  return unit;
}

}  // namespace

void PictureInFlight::resize(const StreamParams& stream) {
  picture.resize(stream.format.mb_width, stream.format.mb_height, stream.format.slices);
  picture.transform_8x8_mode = stream.format.transform_8x8_mode;
  picture.cabac = stream.format.cabac;
  picture.scaling_lists = stream.format.scaling_lists;
  slices.resize(static_cast<std::size_t>(stream.format.slices));
  for (int s = 0; s < stream.format.slices; ++s) {
    const int rows = core::slice_first_row(s + 1, stream.format.slices, stream.format.mb_height) -
                     core::slice_first_row(s, stream.format.slices, stream.format.mb_height);
    SliceWork& slice = slices[static_cast<std::size_t>(s)];
    const int macroblocks = rows * stream.format.mb_width;
    slice.capacity = stream.format.cabac ? entropy::max_cabac_slice_rbsp_bytes(macroblocks)
                                         : entropy::max_slice_rbsp_bytes(macroblocks);
    slice.payload.reset(new std::uint8_t[slice.capacity]);
  }
  if (stream.format.inter) picture.motion.resize(picture.macroblocks.size());
}

void code_slice(PictureInFlight& work, int index, const StreamParams& params) {
  SliceWork& slice = work.slices[static_cast<std::size_t>(index)];
  try {
    if (params.protection.cipher) {
      const auto number = static_cast<std::uint32_t>(work.params.index);
      params.protection.cipher->encrypt_slice(work.picture.view(), index, number);
    }
    const int first_row = core::slice_first_row(index, params.format.slices, params.format.mb_height);
    const int first_mb = first_row * params.format.mb_width;
    const core::SliceHeaderBits header =
        work.params.key ? core::slice_header(first_mb, work.params)
                        : core::p_slice_header(first_mb, work.params, params.format.cabac);
    slice.stats = {};
    if (params.format.cabac) {
      slice.size =
          entropy::code_cabac_slice(work.picture.view(), index, header, work.params.qp, slice.payload.get(),
                                    slice.capacity, slice.stats, work.params.cabac_init_idc);
      return;
    }
    core::BitWriter writer(slice.payload.get(), slice.capacity);
    entropy::code_slice(work.picture.view(), index, header.bits, header.length, writer, slice.stats);
    if (writer.overflowed())
      throw Error(ErrorCode::encode_failure, "a slice exceeds the largest size that a slice can have");
    slice.size = writer.size();
  } catch (...) {
    slice.error = std::current_exception();
  }
}

void finish_picture(PictureInFlight& work, const StreamParams& params) {
  try {
    work.unit = {};
    for (SliceWork& slice : work.slices) {
      if (slice.error) std::rethrow_exception(std::exchange(slice.error, nullptr));
    }
    work.unit = pack(work.slices, work.nal_units, work.params,
                     params.format.mb_width * params.format.mb_height, params);
    work.unit.stats.mean_qp = mean_qp(work.params, params.format.mb_height);
    work.unit.edges = std::move(work.edges);
    if (params.outputs.reconstruction) {
      // Pictures that others refer to are filtered already.
      work.unit.reconstruction = params.format.inter
                                     ? output_samples(work.picture, params)
                                     : output_picture(work.picture, work.params.deblock, params);
    }
  } catch (...) {
    work.unit = {};
    work.unit.error = std::current_exception();
  }
  work.unit.picture = work.params;
}

}  // namespace cu264::encoder
