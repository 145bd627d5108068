// GVLE: Fuentes-Alventosa, Gomez-Luna, Medina-Carnicer (The Journal of Supercomputing, 2022; thesis 2.3).
//
// As published but for this: thread-inputs are aligned wherever the input begins, the output knows its end,
// and the bits that two threads share in a word of the buffer are joined by an atomic OR, since thread-inputs
// at the ends may be shorter than a word.
#include "entropy/vle/published/gvle.h"

#include "entropy/scan/published/gvle_scan.cuh"
#include "entropy/vle/published/gvle_kernel.cuh"

namespace cu264::vle {
namespace {

void run(const EncodeCall& call, int threads) {
  launch_persistent<32, scan::GvleScan>(gvle_kernel<scan::GvleScan>, "gvle", call, threads,
                                        warp_code_bytes(threads));
}

}  // namespace

const PublishedEncoder kGvle{"gvle",
                             kShortCode,
                             128,
                             1024,
                             persistent_scratch_bytes<32, scan::GvleScan>,
                             prepare_persistent<32, scan::GvleScan, kShortCode>,
                             run};

}  // namespace cu264::vle
