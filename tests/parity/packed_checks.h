// Compares what the GPU coded and packed with the bytes of the CPU's slice coders and NAL writer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/picture_params.h"
#include "core/slice_header.h"
#include "entropy/cavlc/slice_coder.h"
#include "tests/parity/coded_pictures.h"
#include "tests/parity/pack_runner.h"

namespace cu264::parity {

struct ExpectedPicture {
  std::vector<std::uint8_t> bytes;
  entropy::SliceStats stats;
  std::uint64_t zero_words = 0;  // cabac_zero_words at the end of the bytes
};

// The headers of the slices of such pictures, [picture][slice]. One picture in three has the longest header,
// which the largest pictures have: of 68 bits in I slices. `cabac`: the entropy coder, for P slices.
std::vector<core::SliceHeaderBits> slice_headers(const Shape& shape,
                                                 const std::vector<core::PictureParams>& pictures,
                                                 bool cabac = false);

// What the CPU makes of a picture whose slices have these headers, [slice].
ExpectedPicture cavlc_picture(TestPicture& picture, const core::SliceHeaderBits* headers);
ExpectedPicture cabac_picture(TestPicture& picture, const core::SliceHeaderBits* headers,
                              const core::PictureParams& params);

// Expects of each run that it has the pictures one after another. Several runs are compared because a
// difference between them would be a race.
void expect_packed(const std::vector<PackedBatch>& runs, const std::vector<ExpectedPicture>& wanted,
                   const Shape& shape, const std::string& what);

}  // namespace cu264::parity
