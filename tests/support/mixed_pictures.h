// Pictures that differ in all that core::PictureParams holds, and what a backend makes of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/picture_params.h"
#include "encoder/stages.h"
#include "support/picture.h"

namespace cu264::test {

struct MixedPicture {
  Picture picture;
  core::PictureParams params;
};

// Pictures of `streams` streams in random order, each stream's in the order of their index, which begins
// anywhere. A stream's pictures drift, so that adaptive quantisation keeps some offsets and gives up others.
// The QPs are 0, 51 and others at random; idr_pic_id alternates in each stream.
std::vector<MixedPicture> mixed_pictures(int pictures, int width, int height, int streams,
                                         std::uint32_t seed);

// All of them through one backend of as many streams, each collected as late as the backend allows.
std::vector<encoder::CodedAccessUnit> code_together(encoder::Backend& backend,
                                                    const std::vector<MixedPicture>& pictures);

// Each stream through a CPU backend of its own, one picture at a time.
std::vector<encoder::CodedAccessUnit> code_alone(encoder::StageParams params,
                                                 const std::vector<MixedPicture>& pictures);

// Where units differ in bytes, statistics or reconstruction; empty if nowhere.
std::string difference(const std::vector<encoder::CodedAccessUnit>& expected,
                       const std::vector<encoder::CodedAccessUnit>& found,
                       const std::vector<MixedPicture>& pictures);

}  // namespace cu264::test
