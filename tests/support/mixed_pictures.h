// Pictures that differ in all members of core::PictureParams, and their access units from a backend.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/picture_params.h"
#include "encoder/backend.h"
#include "support/picture.h"

namespace cu264::test {

struct MixedPicture {
  Picture picture;
  core::PictureParams params;
};

// Pictures of `streams` streams in random order. The pictures of a stream are in the order of their indices,
// which begin at any number, and drift, so that adaptive quantisation keeps some offsets and changes others.
// The QPs are 0, 51 and random ones; idr_pic_id alternates in each stream.
std::vector<MixedPicture> mixed_pictures(int pictures, int width, int height, int streams,
                                         std::uint32_t seed);

// Raises the QP of the last rows of each picture (core::PictureParams::raised_rows): of none, of all, or of a
// random number.
void raise_rows(std::vector<MixedPicture>& pictures, std::uint32_t seed);

// Encodes all pictures with one backend, and collects each as late as the backend allows.
std::vector<encoder::CodedAccessUnit> code_together(encoder::Backend& backend,
                                                    const std::vector<MixedPicture>& pictures);

// Encodes each stream with a CPU backend of its own, one picture at a time.
std::vector<encoder::CodedAccessUnit> code_alone(encoder::StreamParams params,
                                                 const std::vector<MixedPicture>& pictures);

// Says where units differ in bytes, statistics or reconstruction; empty if they do not.
std::string difference(const std::vector<encoder::CodedAccessUnit>& expected,
                       const std::vector<encoder::CodedAccessUnit>& found,
                       const std::vector<MixedPicture>& pictures);

}  // namespace cu264::test
