// PAVLE (Balevic 2009): shared-memory atomics, a scan of the blocks' lengths, a compaction pass.
#pragma once

#include <span>

#include "entropy/vle/published/published_encoder.h"

namespace cu264::vle {

extern const PublishedEncoder kPavle;  // DPT 4, table and codewords cached: the paper's best
// DPT (words of input a thread takes) 1, 2, 4 and 8; the code table in global or shared memory; codewords
// looked up twice or kept.
std::span<const PublishedEncoder> pavle_variants();

}  // namespace cu264::vle
