// Contents whose macroblocks come near the limit of 3200 bits (H.264 A.3.1), for the tests of either coder.
#pragma once

#include <cstddef>
#include <functional>

#include "cu264/encoder.h"
#include "support/picture.h"

namespace cu264::test {

// Makes the settings to encode with, which are those of one coder and preset.
using ConfigOf = std::function<Config(int qp, int slices)>;

// Encodes noise whose strength grows over the picture, so that I_PCM lies beside coded macroblocks.
void expect_pcm_beside_coded_macroblocks(const ConfigOf& config_of);

// Encodes noise of such amplitudes that many macroblocks end just below the limit, and expects that none is
// above it. `change` may change a picture before it is encoded. `near`: the size that the largest macroblock
// must exceed, so that the contents come near the limit.
void expect_macroblocks_within_limit(const ConfigOf& config_of,
                                     const std::function<void(Picture&)>& change = {},
                                     std::size_t near = 2800);

}  // namespace cu264::test
