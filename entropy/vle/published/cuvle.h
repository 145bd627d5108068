// CUVLE (Fuentes-Alventosa et al. 2014): persistent blocks, adjacent synchronisation, direct atomic OR.
#pragma once

#include <span>

#include "entropy/vle/published/published_encoder.h"

namespace cu264::vle {

extern const PublishedEncoder kCuvle;  // NET = 16, the paper's choice
// NET (words of input a thread takes) 1, 2, 4, 8 and 16.
std::span<const PublishedEncoder> cuvle_variants();

}  // namespace cu264::vle
